"""Bursts of requests to a process that looks for them when they have been sent."""

from typing import Any

from ....host.am2.endpoint import Am2Endpoint
from ....host.port.node import Node
from ..common.programs import REQUESTS, programs, stamp, ticks_between

__all__ = ["measure_bursts"]

PAUSE = 200
"""Cycles between two looks of the receiver at whether a burst has been sent."""


async def measure_bursts(lab: Any, words: int, size: int) -> dict[str, Any]:
    """Bursts of ``size`` + 1 requests of ``words`` arguments from process 0 to process 1, for a
    round of the queue and more: ``ticks`` of each call, ``begin`` and ``last`` (a list, in ticks):
    when the first call began, and when each of the last ``size`` ended.

    Were the receiver to spin meanwhile, it would read each packet between its claim and its
    filling. That it knows when a burst has been sent is no part of what is measured."""
    arguments, burst = tuple(range(1, words + 1)), size + 1
    bursts = -(-lab.description.am2.queue_packets // burst) + 2
    sent = answered = 0

    async def requester(node: Node) -> list[Any]:
        nonlocal sent, answered
        side = Am2Endpoint(node, REQUESTS)
        await side.open()
        found = []
        for number in range(1, bursts + 1):
            for _ in range(burst):
                begin = stamp(node)
                await side.request(1, *arguments)
                found.append((begin, stamp(node)))
            sent = number * burst
            await side.wait(lambda wanted=sent: side.replied >= wanted)
            answered = sent
        await side.close()
        return found

    async def replier(node: Node) -> None:
        side = Am2Endpoint(node, REQUESTS)
        await side.open()
        for number in range(1, bursts + 1):
            while sent < number * burst:
                await node.port.delay(PAUSE)
                await node.port.flush()
            while answered < number * burst:  # replies may leave in a later poll
                await side.poll()
        await side.close()

    run = await lab.run(programs(lab, {0: requester, 1: replier}), trace=True)
    stamps = run.results[0]
    return {"begin": stamps[0][0][0], "ticks": [ticks_between(*pair) for pair in stamps],
            "last": [begin[0] for begin, _ in stamps[-size:]] + [stamps[-1][1][0]],
            "marks": run.marks, "events": run.events}
