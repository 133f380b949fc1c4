"""The table of ``nicbed speed``."""

from collections.abc import Mapping
from typing import Any

from .tables import amount, checks, console, table

__all__ = ["rows_of", "show"]

COLUMNS = ["workload", "nodes", "cycles/s", "limit", "ratio", "Python µs/message",
           "wakes/message", "MB"]
KILOBYTE = "Python µs/KB"
"""The column behind that of a message, where a workload has messages of several sizes."""


def rows_of(results: Mapping[str, Any]) -> list[dict[str, Any]]:
    """One row for each workload and node count."""
    found: list[dict[str, Any]] = []
    for workload, by_nodes in results.items():
        if not isinstance(by_nodes, Mapping):
            continue
        for nodes, one in by_nodes.items():
            if isinstance(one, Mapping) and "cycles_per_cpu_second" in one:
                found.append({"workload": workload, "nodes": nodes, **one})
    return found


def show(document: Mapping[str, Any]) -> None:
    """Print the table."""
    rows = []
    found = rows_of(document["results"])
    by_size = any(one.get("python_us_per_kb") is not None for one in found)
    behind = COLUMNS.index("Python µs/message") + 1
    for one in found:
        rows.append([one["workload"], str(one["nodes"]),
                     amount(one["cycles_per_cpu_second"], 0),
                     amount(one.get("limit_cycles_per_cpu_second"), 0),
                     amount(one.get("ratio"), 3), amount(one.get("python_us_per_message"), 1),
                     amount(one.get("wakeups_per_message"), 2),
                     amount(one.get("peak_memory_mb"), 0)])
        if by_size:
            rows[-1].insert(behind, amount(one.get("python_us_per_kb"), 2))
    columns = [*COLUMNS[:behind], KILOBYTE, *COLUMNS[behind:]] if by_size else COLUMNS
    out = console()
    out.print(table("Simulated cycles a CPU second, and the bare loop over the same netlist",
                    columns, rows))
    for line in checks(document["checks"]):
        out.print(line)
