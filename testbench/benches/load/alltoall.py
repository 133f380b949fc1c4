"""Every node sends to every other, on any layer: each node's goodput, compared with that between
two nodes."""

from collections.abc import Mapping
from typing import Any

from ....host.endpoint import Exchange
from ....layouts.description import Description
from ...estimate.compare import check
from ...results.document import number
from ...results.tables import table
from ...run.sent_again import loses
from ..common.bulk_report import size_text
from ..common.headline import Headline, Series
from ..common.streams import starving
from .cells import (
    COLUMNS,
    by_number,
    cell,
    count_of,
    draw_goodput,
    levels,
    row,
    sizes_of,
    together,
)
from .traffic import measure_traffic

__all__ = ["draw", "evaluate", "headline", "measure", "parameters", "series", "tables"]

BUDGET = 192 << 10


def parameters(description: Description) -> dict[str, Any]:
    """2 to N nodes; 192 KB from each, so that windows fill."""
    return {"nodes": levels(description.fabric.nodes)[1:], "sizes": sizes_of(description),
            "bytes": BUDGET}


async def measure(lab: Any, layer: str, parameters: Mapping[str, Any], tell: Any) -> dict[str, Any]:
    """A run a size and number of nodes. Each node begins with the one behind it, so that at no time
    all send to one."""
    runs: dict[tuple[int, int], Any] = {}
    steps = [(size, nodes) for size in parameters["sizes"] for nodes in parameters["nodes"]]
    for index, (size, nodes) in enumerate(steps):
        tell(f"{nodes} nodes, {size} bytes", index, len(steps))
        count = -(-count_of(size, parameters["bytes"]) // (nodes - 1))
        runs[size, nodes] = await measure_traffic(lab, layer, Exchange(size, max(4, count), {
            node: [(node + step) % nodes for step in range(1, nodes)] for node in range(nodes)}))
    return {"runs": runs}


def evaluate(raw: Mapping[str, Any], description: Description, parameters: Mapping[str, Any]
             ) -> dict[str, Any]:
    """Figures of each run; what a node gets, over what it gets between two."""
    results: dict[str, Any] = {}
    checks: list[dict[str, Any]] = []
    alone: dict[int, float] = {}
    for (size, nodes), run in raw["runs"].items():
        shared = together(run)
        found = cell(run, size, shared)
        flows = together(run, None)
        found |= {"flow_least": number(flows.least), "flow_jain": number(flows.jain)}
        found["node"] = found["goodput"] / nodes
        ratio = found["node"] / alone.setdefault(size, found["node"])
        found["ratio"] = number(ratio)
        if not loses(description):
            name = f"{nodes} nodes, {size} bytes"
            checks.append(starving(shared, f"{name}: of the senders"))
            checks.append(check(f"{name}: a node gets what it gets between two", ratio >= 0.9,
                                f"{ratio:.3f} of that"))
        results.setdefault(str(size), {})[str(nodes)] = found
    return {"results": {"alltoall": results}, "truth": {}, "points": {}, "checks": checks}


def tables(document: Mapping[str, Any]) -> list[Any]:
    """One row a size and number of nodes."""
    rows = [(size_text(int(size)), nodes, *row(found), f"{found['node']:.4f}",
             f"{found['ratio']:.3f}", f"{found['flow_least']:.3f}")
            for size, by_nodes in by_number(document["results"]["alltoall"])
            for nodes, found in by_number(by_nodes)]
    return [table("All to all (bytes a cycle of all; shares of senders)",
                  ["n", "nodes", *COLUMNS, "a node", "of two", "flow"], rows)]


def draw(document: Mapping[str, Any], figure: Any) -> None:
    """Goodput of a node over the number of nodes."""
    axes = draw_goodput(figure, document["results"]["alltoall"], "node", document["clock_mhz"])
    axes.set_xlabel("nodes")
    axes.set_ylabel("goodput of a node, each way (MB/s)")
    axes.set_title(f"All to all, {document['layer']}")


def headline(document: Mapping[str, Any]) -> list[Headline]:
    """Goodput of a node, and Jain's index, with the most nodes."""
    found = []
    for size, by_nodes in by_number(document["results"]["alltoall"]):
        nodes, last = by_number(by_nodes)[-1]
        name = f"{nodes} nodes, {size_text(int(size))}"
        found += [Headline(f"a node's goodput, {name}", last["node"], "bytes/cycle"),
                  Headline(f"Jain's index, {name}", last["jain"], "")]
    return found


def series(document: Mapping[str, Any]) -> Series:
    """Goodput of a node with the longest messages over nodes."""
    _, by_nodes = by_number(document["results"]["alltoall"])[-1]
    return Series("nodes", "goodput of a node (bytes/cycle)",
                  [(int(nodes), found["node"]) for nodes, found in by_number(by_nodes)])
