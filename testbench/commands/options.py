"""The options of commands as objects, which the command line makes and the commands take."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ...layouts.description import Description
    from ..testbed.bed import Testbed

__all__ = ["RunOptions", "SearchOptions", "SweepOptions"]


@dataclass(frozen=True)
class RunOptions:
    """The options that all commands share that measure on a description. A command has some of
    them; the others have their defaults.

    Attributes
    ----------
    nic
        The description: a file, or the name of one; None for the default one, or for that of a
        study's file.
    overrides
        Knobs as texts, ``"link.latency=12"``.
    nodes, sim, limit, port, fresh
        As of :class:`nicbed.Testbed`.
    layer
        The communication layer; None for that of what is measured.
    wave, timeline
        Files to record a waveform and a time line into.
    workers, dask
        How many points are measured at the same time, or the address of the cluster that measures
        them.
    out
        Folder for result files and plots.
    """

    nic: str | None = None
    overrides: Sequence[str] = ()
    nodes: int | None = None
    layer: str | None = None
    sim: str = "verilator"
    limit: int | None = None
    port: str | None = None
    fresh: bool = False
    wave: Path | None = None
    timeline: Path | None = None
    workers: int = 2
    dask: str | None = None
    out: Path = Path("results")

    def bed(self) -> "Testbed":
        """A testbed of the description, which tells the terminal of its work.

        Raises
        ------
        UserError
            A name, a knob or a value is wrong.
        """
        from ..descriptions import load
        from ..testbed.bed import Testbed
        from ..testbed.options import Options
        from .output import Terminal

        return Testbed(self.nic or load.DEFAULT, nodes=self.nodes, sim=self.sim, limit=self.limit,
                       options=Options(self.overrides, self.port, fresh=self.fresh,
                                       listener=Terminal()))

    def description(self) -> "Description":
        """The description, with its knobs changed.

        Raises
        ------
        UserError
            A name, a knob or a value is wrong.
        """
        from ..descriptions import load

        return load.load(self.nic or load.DEFAULT, self.overrides, self.nodes)

    def start(self) -> dict[str, Any]:
        """The fields of a :class:`~..sweeps.start.Start`."""
        return {"nic": self.nic, "overrides": tuple(self.overrides), "nodes": self.nodes,
                "layer": self.layer, "sim": self.sim, "limit": self.limit}


@dataclass(frozen=True)
class SweepOptions:
    """The points and the columns of a sweep; those of :func:`~..sweeps.plan.planned` as texts.

    Attributes
    ----------
    vary
        Values by knob, each ``"KNOB=VALUES"``.
    benches
        Benchmarks and programs, separated by commas.
    method, points, seed, constraints
        How points are chosen; None for what the study's file says, or the default.
    metrics
        Columns, each ``"[NAME=]BENCH:FIGURE"``.
    front
        Two metrics whose Pareto front is drawn, too.
    """

    vary: Sequence[str] = ()
    benches: str | None = None
    method: str | None = None
    points: int | None = None
    seed: int | None = None
    constraints: Sequence[str] = ()
    metrics: Sequence[str] = ()
    front: tuple[str, str] | None = None


@dataclass(frozen=True)
class SearchOptions:
    """The points and the goals of a search; those of :func:`~..optimise.search.searched` as texts.

    Attributes
    ----------
    vary
        Values by knob, each ``"KNOB=VALUES"``.
    minimise, maximise
        Goals, each ``"[NAME=]BENCH:FIGURE"``.
    constraints
        Conditions on knobs and figures.
    trials, seed
        None for what the search's file says, or the default.
    """

    vary: Sequence[str] = ()
    minimise: Sequence[str] = ()
    maximise: Sequence[str] = ()
    constraints: Sequence[str] = ()
    trials: int | None = None
    seed: int | None = None
