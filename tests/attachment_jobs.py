"""Jobs about where the NIC is attached: what a message costs the CPU, and what the bus sees."""

from statistics import median
from typing import Any

from nicbed.layouts.trace import TICKS, Activity, Block, Kind
from nicbed.testbench.lab import Lab
from target_jobs import exchange

SENT = (Activity.REQUEST_SEND, Activity.REPLY_SEND)


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
    taken = [event for event in run.events if event.block == Block.WATCH]
    sent = _spans(run.marks, Activity.REQUEST_SEND)
    return {
        "cycles": run.cycles,
        "packets": [counters["packets_sent"] for counters in run.counters],
        "refused": [counters["send_refused"] for counters in run.counters],
        "taken": [sum(event.node == node for event in taken) for node in range(2)],
        "lines": [len({event.arg for event in taken if event.node == node}) for node in range(2)],
        "o_s": median(sent), "least": min(sent), "count": len(sent),
    }
