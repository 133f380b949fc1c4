"""Jobs about where the NIC is attached: what a message costs the CPU, and what the bus sees."""

from statistics import median
from typing import Any

from nicbed.layouts.trace import TICKS, Activity, Block, Kind
from nicbed.testbench.lab import Lab

from tests.programs.target_jobs import exchange


def _spans(marks: list[Any], activity: int) -> list[float]:
    """Cycles from BEGIN to END of each message's activity."""
    begun = {}
    spans = []
    for mark in marks:
        if mark.activity != activity:
            continue
        if mark.kind == Kind.BEGIN:
            begun[mark.node, mark.number] = mark.ticks
        else:
            spans.append((mark.ticks - begun.pop((mark.node, mark.number))) / TICKS)
    return spans


async def messages(lab: Lab, requests: int = 40, words: int = 2, step: int = 150,
                   **settings: Any) -> dict[str, Any]:
    """An exchange: packets and ownership transactions by node, o_s of requests, round trips."""
    run = await lab.run([exchange(requests, words, step)] * 2, settings=settings, trace=True)
    sent = _spans(run.marks, Activity.REQUEST_SEND)

    def count(block: Block, kind: Kind) -> list[int]:
        return [sum((event.block, event.kind, event.node) == (block, kind, node)
                    for event in run.events) for node in range(2)]

    return {
        "cycles": run.cycles,
        "packets": count(Block.SEND_LINK, Kind.END),
        "refused": count(Block.SEND_DMA, Kind.DROP),
        "taken": count(Block.WATCH, Kind.BEGIN),
        "lines": [len({event.arg for event in run.events
                       if (event.block, event.node) == (Block.WATCH, node)}) for node in range(2)],
        "o_s": median(sent), "least": min(sent), "count": len(sent),
    }
