"""Every node sends to every other, on any layer: each node's goodput, compared with that between
two nodes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ....host.endpoint import Exchange
from ....layouts.description import Description
from ...estimate.compare import check
from ...results.document import number
from ...results.tables import table
from ...run.sent_again import loses
from ..benchmark import Benchmark, Tell
from ..common.bulk_report import size_text
from ..common.headline import Headline, Series
from ..common.processes import Processes, alike
from ..common.streams import starving
from ..fields import Outcome, figure, setting
from ..latency import carried
from .cells import (
    COLUMNS,
    LoadCell,
    cell,
    count_of,
    draw_goodput,
    levels,
    of_longest,
    row,
    sizes_of,
    together,
    with_most,
)
from .traffic import measure_traffic

__all__ = ["Alltoall", "AlltoallCell", "AlltoallParameters", "AlltoallResults"]

BUDGET = 192 << 10


@dataclass(frozen=True)
class AlltoallParameters:
    """2 to N nodes; 192 KB from each, so that windows fill."""

    nodes: Sequence[int] = setting([2], "nodes that send at once")
    sizes: Sequence[int] = setting([16], "bytes of a message", unit="bytes")
    bytes: int = setting(BUDGET, "bytes of each node, about", unit="bytes")


@dataclass(frozen=True, kw_only=True)
class AlltoallCell(LoadCell):
    """Figures of a run; shares are of senders."""

    flow_least: float = figure("", "the least share of a flow")
    flow_jain: float = figure("", "Jain's index of the flows")
    node: float = figure("bytes/cycle", "a node's goodput, each way")
    ratio: float = figure("", "that, over a node's between two")


@dataclass(frozen=True)
class AlltoallResults:
    """Figures of each run."""

    alltoall: Mapping[str, Mapping[str, AlltoallCell]] = figure(
        "", "by bytes of a message and number of nodes")


class Alltoall(Benchmark):
    """Every node sends to every other."""

    Parameters = AlltoallParameters
    Results = AlltoallResults

    def parameters(self, description: Description) -> AlltoallParameters:
        """Those of as many parties as there are nodes."""
        return self.usual(description, description.fabric.nodes)

    def usual(self, description: Description, parties: int) -> AlltoallParameters:
        """2 to N nodes; 192 KB from each, so that windows fill."""
        return AlltoallParameters(levels(parties)[1:], sizes_of(description), BUDGET)

    async def measure(self, lab: Any, layer: str, parameters: AlltoallParameters, tell: Tell
                      ) -> dict[str, Any]:
        """A run a size and number of nodes. Each node begins with the one behind it, so that at no
        time all send to one."""
        runs: dict[tuple[int, int], Any] = {}
        sizes = carried(parameters.sizes, layer, lab.description)
        steps = [(size, nodes) for size in sizes for nodes in parameters.nodes]
        for index, (size, nodes) in enumerate(steps):
            tell(f"{nodes} nodes, {size} bytes", index, len(steps))
            count = -(-count_of(size, parameters.bytes) // (nodes - 1))
            ways = {node: [(node + step) % nodes for step in range(1, nodes)]
                    for node in range(nodes)}
            runs[size, nodes] = await measure_traffic(lab, layer,
                                                      Exchange(size, max(4, count), ways))
        return {"runs": runs, **({"places": lab.places} if isinstance(lab, Processes) else {})}

    def evaluate(self, raw: Any, description: Description, parameters: AlltoallParameters
                 ) -> Outcome:
        """Figures of each run; what a node gets, over what it gets between two."""
        results: dict[str, dict[str, AlltoallCell]] = {}
        checks: list[dict[str, Any]] = []
        alone: dict[int, float] = {}
        for (size, nodes), run in raw["runs"].items():
            shared = together(run)
            found = cell(run, size, shared)
            flows = together(run, None)
            node = found.goodput / nodes
            ratio = node / alone.setdefault(size, node)
            if not loses(description):
                name = f"{nodes} nodes, {size} bytes"
                checks.append(starving(shared, f"{name}: of the senders"))
                if alike(raw.get("places", ()), nodes):
                    checks.append(check(f"{name}: a node gets what it gets between two",
                                        ratio >= 0.9, f"{ratio:.3f} of that"))
            results.setdefault(str(size), {})[str(nodes)] = AlltoallCell(
                **vars(found), flow_least=number(flows.least), flow_jain=number(flows.jain),
                node=node, ratio=number(ratio))
        return Outcome(results=AlltoallResults(results), checks=checks)

    def tables(self, document: Mapping[str, Any]) -> list[Any]:
        """One row a size and number of nodes."""
        rows = [(size_text(int(size)), nodes, *row(found), f"{found.node:.4f}",
                 f"{found.ratio:.3f}", f"{found.flow_least:.3f}")
                for size, by_nodes in self.results(document).alltoall.items()
                for nodes, found in by_nodes.items()]
        return [table("All to all (bytes a cycle of all; shares of senders)",
                      ["n", "nodes", *COLUMNS, "a node", "of two", "flow"], rows)]

    def draw(self, document: Mapping[str, Any], figure: Any) -> None:
        """Goodput of a node over the number of nodes."""
        axes = draw_goodput(figure, self.results(document).alltoall, "node", document["clock_mhz"])
        axes.set_xlabel("nodes")
        axes.set_ylabel("goodput of a node, each way (MB/s)")
        axes.set_title(f"All to all, {document['layer']}")

    def headline(self, document: Mapping[str, Any]) -> list[Headline]:
        """Goodput of a node, and Jain's index, with the most nodes."""
        return [one for size, nodes, last in with_most(self.results(document).alltoall)
                for name in [f"{nodes} nodes, {size}"]
                for one in (Headline(f"a node's goodput, {name}", last.node, "bytes/cycle"),
                            Headline(f"Jain's index, {name}", last.jain, ""))]

    def series(self, document: Mapping[str, Any]) -> Series:
        """Goodput of a node with the longest messages over nodes."""
        return Series("nodes", "goodput of a node (bytes/cycle)",
                      of_longest(self.results(document).alltoall, "node"))
