"""Traffic under load: which node sends how many messages to which, on any layer."""

import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from ....host.port.node import Node
from ....host.port.sent_again import Cause
from ..common.programs import Stamp, programs, stamp

__all__ = ["Flow", "Meeting", "Part", "Plan", "Spin", "Talker", "measure_traffic", "sent_again",
           "take_part", "talker_on"]

PAUSE = 500
"""Cycles between two looks of a node that waits for the others to begin, or to end."""
_TALKERS = {"am": (".messages", "AmTalker"), "fm": (".messages", "FmTalker"),
            "gm": (".gm", "GmTalker"), "via": (".via", "ViaTalker")}

Spin = Callable[[Callable[[], Any] | None], Any]
"""``await spin(condition)`` looks until the condition is true; without one, once."""

Flow = tuple[int, int, int]
"""From node, to node, number of the VI between them (0 with other layers)."""


@dataclass(frozen=True)
class Plan:
    """``count`` messages of ``size`` bytes from each node of ``ways`` to each of its peers; with
    VIA over each of ``vis`` VIs to that peer. With GM a receiver's buffers are shared out as if at
    least ``crowd`` sent to it, so that runs with fewer cost a message as many credits. ``open``:
    most stores of Active Messages that a node has begun and that are not over; 0: any number."""

    size: int
    count: int
    ways: Mapping[int, Sequence[int]]
    vis: int = 1
    crowd: int = 1
    open: int = 0

    @property
    def nodes(self) -> list[int]:
        """Tells who takes part."""
        return sorted({*self.ways, *(peer for peers in self.ways.values() for peer in peers)})

    def to(self, node: int) -> Sequence[int]:
        """Whom ``node`` sends to, in order."""
        return self.ways.get(node, ())

    def of(self, node: int) -> list[int]:
        """Tells who sends to ``node``."""
        return [one for one in self.nodes if node in self.to(one)]

    def expected(self, node: int) -> int:
        """Messages that come to ``node``."""
        return len(self.of(node)) * self.count * self.vis


class Part(Protocol):
    """A CPU's part in the traffic."""

    async def open(self) -> None:
        """The first call: up to where messages may come."""

    async def send(self, peer: int) -> None:
        """One message on each flow to ``peer``; waits where the layer does."""

    async def look(self) -> None:
        """Take what is there, without waiting."""

    def over(self) -> bool:
        """Tells whether all that is to come has come, and all that was sent is over, as far as
        calls have seen it."""
        ...

    async def finish(self) -> None:
        """Until it is over."""

    async def idle(self, cycles: int) -> None:
        """Compute for ``cycles``, and do what the layer wants done meanwhile."""

    async def leave(self, spin: Spin) -> None:
        """The first step of :meth:`close` where the CPU has others to serve, by ``spin``."""

    async def close(self, spin: Spin | None = None) -> None:
        """The last call."""


class Talker(Part, Protocol):
    """A node that takes part over one layer. ``sent`` and ``arrived``: when each message of a flow
    was begun to be sent, and when the program had it."""

    sent: dict[Flow, list[Stamp]]
    arrived: dict[Flow, list[Stamp]]

    def __init__(self, node: Node, plan: Plan) -> None: ...


class Meeting:
    """A place where nodes wait for one another: they look every PAUSE cycles. It is no part of what
    is measured, so it sends nothing."""

    def __init__(self, nodes: int) -> None:
        self._nodes = nodes
        self._there = 0

    async def wait(self, part: Part) -> None:
        self._there += 1
        while self._there < self._nodes:
            await part.idle(PAUSE)


def talker_on(layer: str, node: Node, plan: Plan) -> Talker:
    """A talker of ``layer``."""
    module, name = _TALKERS[layer]
    return getattr(importlib.import_module(module, __package__), name)(node, plan)


async def take_part(part: Part, node: Node, plan: Plan, begin: Meeting, end: Meeting) -> Stamp:
    """All that ``node`` has to do of ``plan``. When it began to send."""
    await part.open()
    await begin.wait(part)
    began = stamp(node)
    for _ in range(plan.count):
        for peer in plan.to(node.home):
            await part.send(peer)
    await part.finish()
    await end.wait(part)
    await part.close()
    return began


def sent_again(run: Any) -> dict[str, int]:
    """``again``: packets sent again in a run; ``returned``: for want of room."""
    returned = sum(count for who, count in run.again.items() if who.cause == Cause.RETURNED)
    return {"again": run.again.total() - returned, "returned": returned}


async def measure_traffic(lab: Any, layer: str, plan: Plan, *, trace: bool = False,
                          settings: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Run ``plan`` from reset. Times are ticks; ``begin``: when a node began to send, ``sent`` and
    ``arrived`` by flow, ``again``: packets sent again, ``returned``: for want of room."""
    nodes = plan.nodes
    begin, end = Meeting(len(nodes)), Meeting(len(nodes))

    async def program(node: Node) -> Any:
        talker = talker_on(layer, node, plan)
        return await take_part(talker, node, plan, begin, end), talker.sent, talker.arrived

    run = await lab.run(programs(lab.description.fabric.nodes, dict.fromkeys(nodes, program)),
                        trace=trace, settings=settings)

    def ticks(which: int) -> dict[Flow, list[int]]:
        return {flow: [one[0] for one in times] for node in nodes
                for flow, times in run.results[node][which].items()}

    return {"begin": {node: run.results[node][0][0] for node in nodes},
            "sent": ticks(1), "arrived": ticks(2), **sent_again(run),
            **({"marks": run.marks, "events": run.events} if trace else {})}
