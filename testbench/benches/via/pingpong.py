"""Ping-pongs on VIPL. A :class:`Plan` has everything that the latency benchmarks vary."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ....host.port.node import Node
from ....host.via.descriptors import Segment
from ....host.via.session import CQ, POLL, Memory, Session
from ..common.programs import Stamp, programs, stamp, ticks_between

__all__ = ["Plan", "Side", "measure_plan", "measure_trips"]

TRIPS, WARM = 4, 2


@dataclass(frozen=True)
class Plan:
    """A ping-pong of ``size`` bytes: ``count`` timed round trips behind ``warm`` ones.

    All receives are posted, and all descriptors built, before the first trip, so a round trip is
    two sends and two receives and nothing else; finished sends are reaped between trips.

    Attributes
    ----------
    how
        The way to receive, on both sides.
    fresh
        Every send and every receive has a buffer of its own, on pages of its own.
    segments
        Data segments of a message, of equal length, apart from one another.
    connections
        VIs connected; the messages take the last one, or (``turn``) each in turn.
    queues
        Receive queues on the completion queue (``how`` = "cq").
    delay
        Cycles between the client's send and its first check for the echo.
    settings
        Knobs of the run.
    """

    size: int
    count: int = TRIPS
    warm: int = WARM
    how: str = POLL
    fresh: bool = False
    segments: int = 1
    connections: int = 1
    turn: bool = False
    queues: int = 1
    delay: int = 0
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def trips(self) -> int:
        return self.warm + self.count


class Side(Session):
    """One side of a ping-pong: VIs, buffers, descriptors, with the same layout on both nodes."""

    def __init__(self, node: Node, plan: Plan) -> None:
        super().__init__(node)
        self.plan = plan
        self.vis: list[Any] = []
        self.cq: Any = None
        self.sends: list[int] = []
        self.receives: list[int] = []
        self.send_arena: Any = None
        self.receive_arena: Any = None

    async def set_up(self) -> None:
        """Everything before the first trip. The receives are posted before the VIs are connected,
        so no message can arrive too early."""
        plan = self.plan
        await self.open()
        if plan.how == CQ:
            entries = max(plan.queues, plan.trips)
            self.cq = self.sound("VipCreateCQ", await self.vipl.VipCreateCQ(self.nic, entries))
        # The queue in use is the last one that was made.
        count = max(plan.connections, plan.queues if plan.how == CQ else 1)
        for _ in range(count):
            self.vis.append(await self.endpoint(self.cq))
        self.send_arena = await self.arena(plan.trips, plan.segments)
        self.receive_arena = await self.arena(plan.trips, plan.segments)
        self.sends = await self._descriptors(self.send_arena)
        self.receives = await self._descriptors(self.receive_arena)
        for index, descriptor in enumerate(self.receives):
            await self.post_receive(self.vi(index), descriptor, self.receive_arena)
        connected = self.vis if plan.connections > 1 else self.vis[-1:]
        for number, vi in enumerate(connected):
            await self.connect(vi, number)
        # Bring the descriptors into the CPU's cache, from which set-up may have removed them.
        for arena in (self.send_arena, self.receive_arena):
            await self.process.touch(arena.va, arena.length)

    def vi(self, trip: int) -> Any:
        """The VI of a trip."""
        return self.vis[trip % len(self.vis) if self.plan.turn else -1]

    async def _descriptors(self, arena: Memory) -> list[int]:
        plan = self.plan
        part = plan.size // plan.segments
        stride = -(-part // 64) * 64 + (64 if plan.segments > 1 else 0)
        length = max(1, stride * plan.segments)
        made, buffer = [], None
        for _ in range(plan.trips):
            if buffer is None or plan.fresh:
                buffer = await self.memory(length)
            segments: list[Segment] = [buffer.segment(part, stride * index)
                                       for index in range(plan.segments)]
            made.append(await self.descriptor(arena, segments))
        return made

    async def send(self, trip: int) -> None:
        await self.post_send(self.vi(trip), self.sends[trip], self.send_arena)

    async def receive(self, trip: int) -> None:
        await self.received(self.vi(trip), self.plan.how, self.cq)

    async def client(self) -> list[tuple[Stamp, Stamp]]:
        """The timed trips."""
        await self.set_up()
        plan, node, times = self.plan, self.node, []
        for trip in range(plan.trips):
            start = stamp(node)
            await self.send(trip)
            if plan.delay:
                await self.port.delay(plan.delay)
            await self.receive(trip)
            times.append((start, stamp(node)))
            await self.complete_send(self.vi(trip))
        return times[plan.warm:]

    async def server(self) -> None:
        await self.set_up()
        for trip in range(self.plan.trips):
            await self.receive(trip)
            await self.send(trip)
            await self.complete_send(self.vi(trip))


async def measure_plan(lab: Any, plan: Plan) -> dict[str, Any]:
    """The ping-pong between nodes 0 and 1, traced."""
    run = await lab.run(programs(lab, {
        0: lambda node: Side(node, plan).client(), 1: lambda node: Side(node, plan).server()}),
        settings=plan.settings, trace=True)
    times = run.results[0]
    return {"trips": [ticks_between(*pair) for pair in times], "begin": times[0][0][0],
            "end": times[-1][1][0], "stops": [stop[0] for _, stop in times],
            "delay": plan.delay, "marks": run.marks, "events": run.events}


async def measure_trips(lab: Any, size: int, count: int = TRIPS, warm: int = WARM
                        ) -> dict[str, Any]:
    """The plain ping-pong: one VI, polling, the same buffers throughout."""
    return await measure_plan(lab, Plan(size, count, warm))
