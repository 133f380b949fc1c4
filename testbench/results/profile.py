"""A profile of NIC processors: functions, then the lines with the highest cost."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .tables import amount, checks, console, table

__all__ = ["show"]

FUNCTIONS, LINES = 16, 16


def show(document: Mapping[str, Any]) -> None:
    """Print the tables."""
    out = console()
    results = document["results"]
    for number, node in enumerate(results["nodes"]):
        total = node["cycles"]
        if not total:
            continue
        rows = [(name, amount(cycles, 1), _share(cycles, total))
                for name, cycles in node["functions"][:FUNCTIONS]]
        rest = total - sum(cycles for _, cycles in node["functions"][:FUNCTIONS])
        if rest > 0.05:
            rows.append(("others", amount(rest, 1), _share(rest, total)))
        rows.append(("all, awake", amount(total, 1), ""))
        out.print(table(f"Node {number}, {node['core']} running {node['firmware']}: cycles a round "
                        f"trip of {results['size']} bytes", ["function", "cycles", "%"], rows))
    first = next((node for node in results["nodes"] if node["cycles"]), None)
    for line in checks(document["checks"]):
        out.print(line)
    if first is None:
        out.print("the NIC processors were not awake")
        return
    out.print(table("Lines that cost most, node 0", ["line", "in", "cycles", "source"],
                    [(f"{Path(file).name}:{line}", function, amount(cycles, 1),
                      _source(file, line)) for file, line, function, cycles
                     in first["lines"][:LINES]], left=2))
    out.print(f"half a round trip: {amount(results['half'], 1)} cycles, of which the two NIC "
              f"processors were awake for {amount(_mean_half(results), 1)} in all")


def _mean_half(results: Mapping[str, Any]) -> float:
    return sum(node["cycles"] for node in results["nodes"]) / 2


def _share(cycles: float, total: float) -> str:
    return f"{100 * cycles / total:.1f}"


def _source(file: str, line: str) -> str:
    """The text of a line of a firmware that comes with nicbed."""
    path = Path(__file__).resolve().parent.parent.parent / file
    if not line or not path.is_file():
        return ""
    text = path.read_text(encoding="utf-8").splitlines()
    return text[int(line) - 1].strip()[:60] if int(line) <= len(text) else ""
