"""Placing and routing a netlist on a board's device, and its bitstream; kept in the cache."""

import json
import os
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from ...simulators import cache
from .device import over
from .netlist import TOP, Netlist
from .routing import BEGINS, ENDS, Routing
from .tools import Mark, Progress, run, tool_version

__all__ = ["DoesNotFit", "Placement", "place"]

_MARKS: tuple[Mark, ...] = (
    ("Running Static placer", 0.03, "placing"),
    ("Running simulated annealing placer", 0.13, "placing: refinement"),
    ("Routing globals", BEGINS, "routing"),
    ("Critical path report", ENDS, "timing"),
)


class DoesNotFit(Exception):
    """The device is too small. ``over``: used and available cells by nextpnr's name of their
    kind."""

    def __init__(self, over: dict[str, tuple[int, int]]) -> None:
        super().__init__(", ".join(over))
        self.over = over


@dataclass(frozen=True)
class Placement:
    """A netlist on a device: the bitstream, and nextpnr's report on its timing."""

    place: Path
    report: dict[str, Any]

    @property
    def bitstream(self) -> Path:
        """The file to program a board with."""
        return self.place / f"{TOP}.bit"


def place(made: Netlist, *, constraints: str, device: Sequence[str], clock_mhz: Fraction,
          seed: int = 1, progress: Progress = lambda *_: None,
          alive: Callable[[], None] = lambda: None) -> Placement:
    """Place and route ``made`` on a device, whether or not it meets its clock.

    Parameters
    ----------
    constraints
        The pins, as LPF.
    device
        nextpnr's options for it.
    seed
        Seed of the placer; another seed gives another clock.
    alive
        Called twice a second; an exception that it raises ends nextpnr.

    Raises
    ------
    DoesNotFit
        The device is too small.
    DoesNotRoute
        nextpnr's router does not end.
    ToolError
        nextpnr refuses the netlist for another reason.
    """
    # Of nextpnr's placers, the one with by far the shortest wires (docs/how-to/board.md).
    options = [*device, "--placer", "static", "--json", made.json.name, "--lpf", f"{TOP}.lpf",
               "--freq", f"{float(clock_mhz):g}", "--seed", str(seed), "--timing-allow-fail"]

    def build(work: Path) -> None:
        _link(made.json, work / made.json.name)
        (work / f"{TOP}.lpf").write_text(constraints)
        progress("placing", 0, 1000)
        # This placer is busy for long if the netlist does not fit, so packing runs alone first.
        packed = run("nextpnr", [*options, "--pack-only", "--log", "pack.log", "-q"], work,
                     log="pack.log", marks=(), progress=progress, alive=alive)
        lacking = over(packed)
        if lacking:
            raise DoesNotFit(dict(lacking))
        run("nextpnr", [*options, "--textcfg", f"{TOP}.config", "--report", "report.json",
                        "--log", "nextpnr.log", "-q"], work, log="nextpnr.log", marks=_MARKS,
            progress=progress, read=Routing(progress).read, alive=alive)
        progress("bitstream", 980, 1000)
        run("ecppack", ["--compress", "--input", f"{TOP}.config", "--bit", f"{TOP}.bit"], work,
            log="ecppack.log")
        for name in (made.json.name, f"{TOP}.config"):
            (work / name).unlink()

    found = cache.entry("bitstream", [str(made.place.name), constraints, *options,
                                      tool_version("nextpnr")], build)
    return Placement(found, json.loads((found / "report.json").read_bytes()))


def _link(source: Path, target: Path) -> None:
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)
