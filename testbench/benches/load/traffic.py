"""Traffic under load: which node sends how many messages to which, on any layer."""

from collections.abc import Mapping
from typing import Any

from ....host.endpoint import Endpoint, Exchange, Flow
from ....host.port.node import Node
from ....host.port.sent_again import Cause
from ..common.programs import Stamp, on, programs, stamp

__all__ = ["Meeting", "Times", "measure_traffic", "sent_again", "take_part"]

PAUSE = 500
"""Cycles between two looks of a node that waits for the others to begin, or to end."""


class Meeting:
    """A place where nodes wait for one another: they look every PAUSE cycles. It is no part of what
    is measured, so it sends nothing."""

    def __init__(self, nodes: int) -> None:
        self._nodes = nodes
        self._there = 0

    async def wait(self, side: Endpoint) -> None:
        self._there += 1
        while self._there < self._nodes:
            await side.idle(PAUSE)


class Times:
    """``sent`` and ``arrived``: when ``side`` began to send each message of a flow, and when its
    program had it."""

    def __init__(self, side: Endpoint) -> None:
        node, exchange = side.node, side.exchange
        me = side.number
        self.sent: dict[Flow, list[Stamp]] = {
            (me, peer, stream): [] for peer in exchange.to(me)
            for stream in range(exchange.streams)}
        self.arrived: dict[Flow, list[Stamp]] = {
            (peer, me, stream): [] for peer in exchange.of(me)
            for stream in range(exchange.streams)}

        def on_send(peer: int, stream: int) -> None:
            self.sent[me, peer, stream].append(stamp(node))

        def on_message(source: int, stream: int) -> None:
            self.arrived[source, me, stream].append(stamp(node))

        side.on_send, side.on_message = on_send, on_message


async def take_part(side: Endpoint, begin: Meeting, end: Meeting) -> Stamp:
    """Do all that ``side`` has to do of its exchange; return when it began to send."""
    exchange, node = side.exchange, side.node
    await side.open()
    await begin.wait(side)
    began = stamp(node)
    for _ in range(exchange.count):
        for peer in exchange.to(side.number):
            for stream in range(exchange.streams):
                await side.send(peer, stream)
    await side.finish()
    await end.wait(side)
    await side.close()
    return began


def sent_again(run: Any) -> dict[str, int]:
    """``again``: packets sent again in a run; ``returned``: for want of room."""
    returned = sum(count for who, count in run.again.items() if who.cause == Cause.RETURNED)
    return {"again": run.again.total() - returned, "returned": returned}


async def measure_traffic(lab: Any, layer: str, plan: Exchange, *, trace: bool = False,
                          settings: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Run ``plan`` from reset. Times are ticks; ``begin``: when a node began to send, ``sent`` and
    ``arrived`` by flow, ``again``: packets sent again, ``returned``: for want of room."""
    nodes, make = plan.nodes, on(layer, plan)
    begin, end = Meeting(len(nodes)), Meeting(len(nodes))

    async def program(node: Node) -> Any:
        side = make(node)
        times = Times(side)
        return await take_part(side, begin, end), times.sent, times.arrived

    run = await lab.run(programs(lab, dict.fromkeys(nodes, program)),
                        trace=trace, settings=settings)

    def ticks(which: int) -> dict[Flow, list[int]]:
        return {flow: [one[0] for one in times] for node in nodes
                for flow, times in run.results[node][which].items()}

    return {"begin": {node: run.results[node][0][0] for node in nodes},
            "sent": ticks(1), "arrived": ticks(2), **sent_again(run),
            **({"marks": run.marks, "events": run.events} if trace else {})}
