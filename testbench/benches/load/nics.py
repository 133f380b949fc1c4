"""Bandwidth by number of NICs: node 0 sends to node 1 over 1 to all NICs at once, on any layer.
Each NIC has a layer of its own on the CPU that it interrupts, and a CPU with several sends over
them in turn."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ....layouts.description import Description
from ....layouts.trace import Block
from ...estimate.compare import check
from ...estimate.fairness import Fairness
from ...results.document import number
from ...results.tables import amount, table
from ...truth.busy import services, union
from ...wording import counted
from ..benchmark import Benchmark, Tell
from ..common.bulk_report import size_text
from ..common.headline import Headline, Series
from ..common.streams import starving
from ..fields import Outcome, figure, setting
from .cells import LoadCell, cell, count_of, draw_goodput, of_longest, together, with_most
from .every_nic import SINK, SOURCE, measure_nics

__all__ = ["Nics", "NicsCell", "NicsParameters", "NicsResults"]

SIZES = (16, 1024, 8192)
BUDGET = 192 << 10


@dataclass(frozen=True)
class NicsParameters:
    """192 KB over each NIC."""

    nics: Sequence[int] = setting([1], "NICs that send at once")
    sizes: Sequence[int] = setting([16], "bytes of a message", unit="bytes")
    bytes: int = setting(BUDGET, "bytes over each NIC, about", unit="bytes")


@dataclass(frozen=True, kw_only=True)
class NicsCell(LoadCell):
    """Figures of a run; shares are of NICs."""

    ratio: float = figure("", "goodput over that of the fewest NICs")


@dataclass(frozen=True)
class NicsResults:
    """Figures of each run."""

    nics: Mapping[str, Mapping[str, NicsCell]] = figure(
        "", "by bytes of a message and number of NICs")


class Nics(Benchmark):
    """Several NICs of a node at once. Its programs choose their NICs themselves."""

    every_nic = True
    Parameters = NicsParameters
    Results = NicsResults

    def parameters(self, description: Description) -> NicsParameters:
        """1 NIC to all of a node's; messages of 16 B, 1 KB and 8 KB, 192 KB of them over each
        NIC."""
        return NicsParameters(list(range(1, description.node.nics + 1)), [
            size for size in SIZES if size <= description.memory.bytes // 64])

    async def measure(self, lab: Any, layer: str, parameters: NicsParameters, tell: Tell
                      ) -> dict[str, Any]:
        """A run a size and number of NICs."""
        steps = [(size, nics) for size in parameters.sizes for nics in parameters.nics]
        runs: dict[tuple[int, int], Any] = {}
        for index, (size, nics) in enumerate(steps):
            tell(f"{counted(nics, 'NIC')}, {size} bytes", index, len(steps))
            count = count_of(size, parameters.bytes)
            runs[size, nics] = await measure_nics(lab, layer, size, count, nics)
        return {"runs": runs}

    def evaluate(self, raw: Any, description: Description, parameters: NicsParameters) -> Outcome:
        """Bandwidth of all NICs, over that of the fewest; shares of the NICs; how busy their
        buses, and the memory that these share, were meanwhile."""
        results: dict[str, dict[str, NicsCell]] = {}
        truth: dict[str, Any] = {}
        checks: list[dict[str, Any]] = []
        link, cpus = description.link.bytes_per_cycle, description.node.cpus
        for (size, nics), run in raw["runs"].items():
            shared = together(run)
            found = cell(run, size, shared)
            by_nics = results.setdefault(str(size), {})
            first = by_nics[min(by_nics, key=int)].goodput if by_nics else found.goodput
            by_nics[str(nics)] = NicsCell(**vars(found), ratio=number(
                Fraction(str(found.goodput)) / Fraction(str(first))))
            truth.setdefault(str(size), {})[str(nics)] = _busy(run, shared, nics, description)
            name = f"{counted(nics, 'NIC')}, {size} bytes"
            most = nics * link
            checks.append(check(f"{name}: no more than the links carry", found.goodput <= most,
                                f"{found.goodput} of {number(most)} bytes a cycle"))
            if nics <= cpus or nics % cpus == 0:  # else NICs that share a CPU get less
                checks.append(starving(shared, f"{name}: of the NICs"))
        return Outcome(results=NicsResults(results), truth={"busy": truth}, checks=checks)

    def tables(self, document: Mapping[str, Any]) -> list[Any]:
        """One row a size and number of NICs."""
        clock, node = document["clock_mhz"], document["config"]["node"]
        busy = document["truth"]["busy"]
        rows = []
        for size, by_nics in self.results(document).nics.items():
            for nics, found in by_nics.items():
                told = busy[size][nics]
                rows.append((size_text(int(size)), nics, amount(found.goodput, 3),
                             amount(found.goodput * clock, 1), f"{found.ratio:.2f}",
                             f"{found.least:.3f}", str(found.again),
                             *("-" if share is None else f"{100 * share:.0f} %"
                               for share in (told["bus"], told["memory"]))))
        cpus = min(node["cpus"], node["nics"])
        return [table("Bandwidth by number of NICs, node 0 to node 1",
                      ["n", "NICs", "bytes/cycle", "MB/s", "of one", "least share", "again", "bus",
                       "memory"], rows),
                f"NICs 0 to {node['nics'] - 1} of each node, NIC k on CPU k modulo {node['cpus']}"
                if cpus > 1 else f"{node['nics']} NICs of each node, on one CPU, in turn"
                if node["nics"] > 1 else "nodes with one NIC (node.nics = 1)"]

    def draw(self, document: Mapping[str, Any], figure: Any) -> None:
        """Bandwidth over the number of NICs."""
        axes = draw_goodput(figure, self.results(document).nics, "goodput", document["clock_mhz"])
        axes.set_xlabel("NICs")
        axes.set_ylabel("goodput of all NICs (MB/s)")
        axes.set_title(f"Bandwidth by number of NICs, {document['layer']}")

    def headline(self, document: Mapping[str, Any]) -> list[Headline]:
        """Bandwidth of all NICs, and over that of one."""
        return [one for size, nics, last in with_most(self.results(document).nics)
                for name in [f"NICs: {nics}, {size}"]
                for one in (Headline(f"goodput, {name}", last.goodput, "bytes/cycle"),
                            Headline(f"of one, {name}", last.ratio, ""))]

    def series(self, document: Mapping[str, Any]) -> Series:
        """Bandwidth of the longest messages over the number of NICs."""
        return Series("NICs", "goodput of all NICs (bytes/cycle)",
                      of_longest(self.results(document).nics, "goodput"))


def _busy(run: Mapping[str, Any], shared: Fairness, nics: int, description: Description
          ) -> dict[str, float | None]:
    """The busy share of the busiest bus of a NIC, and of the busier memory, while all NICs had
    messages; None: the trace has nothing of it."""
    stop = min(times[-1] for times in run["arrived"].values())
    start = stop - int(shared.length)
    blocks = services(run["events"], start, stop, description.design).blocks
    buses = [node * description.node.nics + nic for node in (SOURCE, SINK) for nic in range(nics)]

    def most(block: Block, places: list[int]) -> float | None:
        there = [blocks[block, place] for place in places if (block, place) in blocks]
        return max((number(Fraction(union(one, start, stop), stop - start)) for one in there),
                   default=None)

    return {"bus": most(Block.BUS, buses), "memory": most(Block.MEMORY, [SOURCE, SINK])}
