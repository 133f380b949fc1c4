"""A testbed whose figures a test compares with those that were accepted."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..errors import UserError, nearest
from ..testbed.bed import Testbed
from ..testbed.options import Options
from .checking import Row, compare, why
from .file import Entry, Gate, read
from .measuring import figures_of, kept_of
from .record import recall
from .report import summary, text

__all__ = ["GatedTestbed"]


class GatedTestbed(Testbed):
    """The testbed of a gate file's entry, as the fixture ``nicbed_testbed`` of pytest gives it;
    without a gate file that of the default NIC.

    Parameters
    ----------
    path
        The gate file.
    name
        The entry (default: the first one).
    options
        As for :class:`nicbed.Testbed`; knobs as texts are the entry's.

    Raises
    ------
    UserError
        The gate file or its description is wrong, or it has no such entry.
    """

    __test__ = False

    def __init__(self, path: Path, name: str | None = None, **options: Any) -> None:
        self.path = path
        self.gate: Gate | None = read(path) if path.exists() or name is not None else None
        if self.gate is None:
            super().__init__(**options)
            return
        self.entry: Entry = self.gate.entry(name)
        chosen = replace(options.pop("options", Options()), overrides=self.entry.overrides)
        super().__init__(self.entry.place(path), nodes=self.entry.nodes, options=chosen, **options)

    def check(self, metrics: Iterable[str] | None = None) -> None:
        """Measure ``metrics``, such as ``["logp:o_s"]``, and compare them with their accepted
        values; without ``metrics`` all of the entry, and a round trip in parts.

        Raises
        ------
        AssertionError
            A value is another one; the message says by how much, and which parts moved.
        UserError
            There is no gate file, it has no such figure, or a run failed.
        """
        __tracebackhide__ = True
        if self.gate is None:
            raise UserError(f"{self.path}: no such file: `nicbed gate init` writes one")
        rows: list[Row] = []
        for bench, names in self._wanted(metrics).items():
            rows += compare(bench, self.entry.accepted.get(bench, {}),
                            figures_of(self, self.entry, bench, names))
        if metrics is not None and all(row.holds for row in rows):
            return
        found = why(self.entry.name, rows, recall(self.path).get(self.entry.name),
                    kept_of(self, self.entry))
        if not found.holds:
            raise AssertionError(f"{self.path}: {summary([found])}\n{text(found)}")

    def _wanted(self, metrics: Iterable[str] | None) -> dict[str, list[str]]:
        """Figures by benchmark."""
        known = [f"{bench}:{name}" for bench, found in self.entry.accepted.items()
                 for name in found]
        if metrics is None:
            return {bench: list(self.entry.accepted.get(bench, ())) for bench in self.entry.benches}
        wanted: dict[str, list[str]] = {}
        for metric in [metrics] if isinstance(metrics, str) else metrics:
            if metric not in known:
                raise UserError(f"{self.path}: gate {self.entry.name} accepts no {metric}"
                                f"{nearest(metric, known)}")
            bench, _, name = metric.partition(":")
            wanted.setdefault(bench, []).append(name)
        return wanted
