"""Buffer management: latency if every send and every receive has its own buffer on its own pages.
The difference to the plain ping-pong is the cost of translation. Also the cost of registration."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from ....host.port.node import Node
from ....host.via.attributes import MemAttributes
from ....host.via.session import Session
from ....layouts.description import Description
from ....layouts.trace import TICKS, Block, Kind
from ...results.document import cycles, number
from ...results.tables import amount, micro, table
from ..common.bulk_report import size_text
from ..common.headline import Headline, Series
from ..common.latencies import Latencies, ordered
from ..common.programs import programs, stamp, ticks_between
from ..common.transfers import sizes
from .pingpong import Plan, measure_plan

__all__ = ["draw", "evaluate", "headline", "measure", "parameters", "series", "tables"]

SAME, FRESH = "same buffer", "fresh buffers"
REPORT = Latencies("Buffers: latency with fresh pages for every send and receive", "n", sizes=True,
            base=SAME)
draw = REPORT.draw


def parameters(description: Description) -> dict[str, Any]:
    """4 B to 32 KB; registered regions of 1 to 16 pages."""
    found = sizes(min(32 << 10, description.memory.bytes // 64))
    return {"sizes": sorted({*found[::2], found[-1]}), "pages": [1, 2, 4, 8, 16]}


async def measure(lab: Any, layer: str, parameters: Mapping[str, Any], tell: Any) -> dict[str, Any]:
    """One run for each size with the same buffers and one with fresh ones; one run for
    registrations."""
    found: dict[str, Any] = {SAME: {}, FRESH: {}}
    chosen = parameters["sizes"]
    for index, size in enumerate(chosen):
        tell(f"{size} bytes", index, len(chosen) + 1)
        found[SAME][size] = await measure_plan(lab, Plan(size))
        found[FRESH][size] = await measure_plan(lab, Plan(size, fresh=True))
    tell("registering", len(chosen), len(chosen) + 1)
    return {"runs": found, "registering": await measure_registering(lab, parameters["pages"])}


async def measure_registering(lab: Any, pages: list[int]) -> dict[int, dict[str, int]]:
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

    run = await lab.run(programs(lab.description.fabric.nodes, {0: program}))
    return {count: {"register": ticks_between(*times[:2]), "deregister": ticks_between(*times[1:])}
            for count, times in zip(pages, run.results[0], strict=True)}


def evaluate(raw: Mapping[str, Any], description: Description, parameters: Mapping[str, Any]
             ) -> dict[str, Any]:
    """Latencies, the difference of fresh buffers, and the table walks in the trace."""
    outcome = REPORT.evaluate(raw["runs"], description)
    outcome["results"]["registering"] = {
        str(count): {call: cycles(ticks) for call, ticks in one.items()}
        for count, one in raw["registering"].items()}

    outcome["results"]["walks"] = {variant: {str(size): _walks(run) for size, run in by_x.items()}
                                   for variant, by_x in raw["runs"].items()}
    return outcome


def _walks(run: Mapping[str, Any]) -> dict[str, Any]:
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
    return {"a_message": number(Fraction(len(times), 2 * len(run["trips"]))),
            "cycles": number(Fraction(sum(times), len(times))) if times else None}


def tables(document: Mapping[str, Any]) -> list[Any]:
    """Latencies; walks; registrations."""
    results, clock = document["results"], document["clock_mhz"]
    walks = results["walks"]
    rows = [(size_text(int(size)), *(amount(walks[variant][size]["a_message"])
                                     for variant in (SAME, FRESH)),
             amount(walks[FRESH][size]["cycles"])) for size in ordered(walks[FRESH])]
    calls = [(pages, *(text for call in ("register", "deregister") for text in (
        amount(results["registering"][pages][call]),
        micro(results["registering"][pages][call], clock))))
        for pages in ordered(results["registering"])]
    return [*REPORT.tables(document),
            table("Table walks a message", ["n", SAME, FRESH, "cycles a walk"], rows),
            table("Registering memory (cycles)",
                  ["pages", "VipRegisterMem", "µs", "VipDeregisterMem", "µs"], calls)]


def headline(document: Mapping[str, Any]) -> list[Headline]:
    """Latencies, the difference, walks, and registering a page."""
    results = document["results"]
    first = ordered(results["walks"][FRESH])[0]
    return [*REPORT.headline(document),
            Headline(f"walks a message, {size_text(int(first))}",
                     results["walks"][FRESH][first]["a_message"], "walks"),
            Headline("VipRegisterMem, 1 page", results["registering"]["1"]["register"])
            if "1" in results["registering"] else Headline("VipRegisterMem, 1 page", None)]


def series(document: Mapping[str, Any]) -> Series:
    """Difference of fresh buffers to the same one, over size."""
    extra = document["results"]["extra"][FRESH]
    return Series("n", "fresh buffers less the same one (cycles)",
                  [(int(size), extra[size]) for size in ordered(extra)], sizes=True)
