"""Buffer management: latency if every send and every receive has its own buffer on its own pages.
The difference to the plain ping-pong is the cost of translation. Also the cost of registration."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ....host.port.node import Node
from ....host.via.attributes import MemAttributes
from ....host.via.session import Session
from ....layouts.description import Description
from ....layouts.trace import TICKS, Block, Kind
from ...results.document import cycles, number
from ...results.tables import amount, micro, table
from ..benchmark import Tell
from ..common.bulk_report import size_text
from ..common.headline import Headline, Series
from ..common.latencies import HalfTrips, Latencies
from ..common.programs import programs, stamp, ticks_between
from ..common.transfers import sizes
from ..common.varied_latency import VariedLatency
from ..fields import Outcome, figure, setting
from .pingpong import Plan, measure_plan

__all__ = ["Registering", "ViaBuffers", "ViaBuffersParameters", "ViaBuffersResults", "Walks"]

SAME, FRESH = "same buffer", "fresh buffers"


@dataclass(frozen=True)
class ViaBuffersParameters:
    """4 B to 32 KB; registered regions of 1 to 16 pages."""

    sizes: Sequence[int] = setting([4], "bytes of a message", unit="bytes")
    pages: Sequence[int] = setting([1, 2, 4, 8, 16], "pages that are registered", unit="pages")


@dataclass(frozen=True)
class Registering:
    """Registering memory, and undoing it."""

    register: float = figure("cycles", "VipRegisterMem")
    deregister: float = figure("cycles", "VipDeregisterMem")


@dataclass(frozen=True)
class Walks:
    """Table walks while messages of one size are timed."""

    a_message: float = figure("walks", "a message")
    cycles: float | None = figure("cycles", "a walk; None: there was none")


@dataclass(frozen=True, kw_only=True)
class ViaBuffersResults(HalfTrips):
    """Half round trips with the same buffers and with fresh ones."""

    registering: Mapping[str, Registering] = figure("cycles", "registering memory, by pages")
    walks: Mapping[str, Mapping[str, Walks]] = figure("", "table walks, by buffers and size")


class ViaBuffers(VariedLatency):
    """Fresh buffers."""

    Parameters = ViaBuffersParameters
    Results = ViaBuffersResults
    report = Latencies("Buffers: latency with fresh pages for every send and receive", "n",
                       sizes=True, base=SAME)

    def parameters(self, description: Description) -> ViaBuffersParameters:
        """As far as memory goes."""
        found = sizes(min(32 << 10, description.memory.bytes // 64))
        return ViaBuffersParameters(sorted({*found[::2], found[-1]}))

    async def measure(self, lab: Any, layer: str, parameters: ViaBuffersParameters, tell: Tell
                      ) -> dict[str, Any]:
        """One run for each size with the same buffers and one with fresh ones; one run for
        registrations."""
        found: dict[str, Any] = {SAME: {}, FRESH: {}}
        chosen = parameters.sizes
        for index, size in enumerate(chosen):
            tell(f"{size} bytes", index, len(chosen) + 1)
            found[SAME][size] = await measure_plan(lab, Plan(size))
            found[FRESH][size] = await measure_plan(lab, Plan(size, fresh=True))
        tell("registering", len(chosen), len(chosen) + 1)
        return {"runs": found, "registering": await _measure_registering(lab, parameters.pages)}

    def evaluate(self, raw: Any, description: Description, parameters: ViaBuffersParameters
                 ) -> Outcome:
        """Latencies, the difference of fresh buffers, and the table walks in the trace."""
        return self.outcome(
            self.report.evaluate(raw["runs"], description),
            registering={str(count): Registering(cycles(one["register"]),
                                                 cycles(one["deregister"]))
                         for count, one in raw["registering"].items()},
            walks={variant: {str(size): _walks(run) for size, run in by_x.items()}
                   for variant, by_x in raw["runs"].items()})

    def tables(self, document: Mapping[str, Any]) -> list[Any]:
        """Latencies; walks; registrations."""
        results, clock = self.results(document), document["clock_mhz"]
        walks, registering = results.walks, results.registering
        rows = [(size_text(int(size)), *(amount(walks[variant][size].a_message)
                                         for variant in (SAME, FRESH)),
                 amount(walks[FRESH][size].cycles)) for size in walks[FRESH]]
        calls = [(pages, *(text for value in (one.register, one.deregister)
                           for text in (amount(value), micro(value, clock))))
                 for pages, one in registering.items()]
        return [*self.report.tables(document),
                table("Table walks a message", ["n", SAME, FRESH, "cycles a walk"], rows),
                table("Registering memory (cycles)",
                      ["pages", "VipRegisterMem", "µs", "VipDeregisterMem", "µs"], calls)]

    def headline(self, document: Mapping[str, Any]) -> list[Headline]:
        """Latencies, the difference, walks, and registering a page."""
        results = self.results(document)
        fresh, page = results.walks[FRESH], results.registering.get("1")
        first = next(iter(fresh))
        return [*self.report.headline(document),
                Headline(f"walks a message, {size_text(int(first))}", fresh[first].a_message,
                         "walks"),
                Headline("VipRegisterMem, 1 page", None if page is None else page.register)]

    def series(self, document: Mapping[str, Any]) -> Series:
        """Difference of fresh buffers to the same one, over size."""
        return self.difference(document, FRESH, "fresh buffers less the same one")


async def _measure_registering(lab: Any, pages: Sequence[int]) -> dict[int, dict[str, int]]:
    """Ticks of VipRegisterMem and VipDeregisterMem for each number of pages."""
    async def program(node: Node) -> Any:
        party = Session(node)
        await party.open()
        attributes, times = MemAttributes(party.tag), []
        for count in pages:
            length = count * node.description.via.page_bytes
            va = party.process.allocate(length, fresh=True)
            readings = [stamp(node)]
            handle = party.sound("VipRegisterMem", await party.vipl.VipRegisterMem(
                party.nic, va, length, attributes))
            readings.append(stamp(node))
            party.sound("VipDeregisterMem", await party.vipl.VipDeregisterMem(
                party.nic, va, handle))
            times.append([*readings, stamp(node)])
        return times

    run = await lab.run(programs(lab, {0: program}))
    return {count: {"register": ticks_between(*times[:2]), "deregister": ticks_between(*times[1:])}
            for count, times in zip(pages, run.results[0], strict=True)}


def _walks(run: Mapping[str, Any]) -> Walks:
    """Table walks for each message in the timed part, and the length of a walk."""
    begun: dict[tuple[int, int], int] = {}
    times = []
    for event in run["events"]:
        if event.block != Block.TRANSLATION:
            continue
        key = (event.node, event.number)
        if event.kind == Kind.BEGIN:
            begun[key] = event.cycle
        elif key in begun:
            begin = begun.pop(key)
            if run["begin"] <= begin * TICKS < run["end"]:
                times.append(event.cycle - begin)
    return Walks(number(Fraction(len(times), 2 * len(run["trips"]))),
                 number(Fraction(sum(times), len(times))) if times else None)
