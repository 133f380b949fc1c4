"""The critical paths of each clock, from nextpnr's report."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from .area import unnumbered

__all__ = ["Path", "clock_paths", "fmax"]


@dataclass(frozen=True)
class Path:
    """A path from register to register: its delay, and the blocks on it, in order."""

    ns: float
    logic_ns: float
    source: str
    sink: str
    blocks: tuple[str, ...]


def fmax(report: Mapping[str, Any]) -> float:
    """Highest frequency of the slowest clock, in MHz."""
    return min(clock["achieved"] for clock in report["fmax"].values())


def clock_paths(report: Mapping[str, Any], blocks: Iterable[str]) -> list[Path]:
    """The critical path of each clock, the slowest first."""
    known = set(blocks) | {""}
    found = []
    for path in report["critical_paths"]:
        if path["from"] != path["to"] or path["from"].startswith("<"):
            continue
        steps = path["path"]
        names = [_block(step["to"]["cell"], known) for step in steps]
        through = tuple(name for index, name in enumerate(names)
                        if name and (index == 0 or name != names[index - 1]))
        found.append(Path(
            ns=sum(step["delay"] for step in steps),
            logic_ns=sum(step["delay"] for step in steps if step["type"] != "routing"),
            source=steps[0]["from"]["cell"], sink=steps[-1]["to"]["cell"],
            blocks=tuple(dict.fromkeys(through))))
    return sorted(found, key=lambda path: -path.ns)


def _block(cell: str, known: set[str]) -> str:
    inside = unnumbered(cell).rpartition(".")[0]
    while inside not in known:
        inside = inside.rpartition(".")[0]
    return inside
