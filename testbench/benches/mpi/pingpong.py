"""Ping-pongs over MPI, and the same over the layer that carries it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ....host.mpi import ANY_SOURCE, ANY_TAG, BYTE, Comm, Mpi
from ....host.port.node import Node
from ..common.programs import Stamp, programs, stamp, ticks_between
from ..one_way.exchange import measure_trips as one_way_trips
from ..via.pingpong import Plan as ViaPlan
from ..via.pingpong import measure_plan as via_plan
from .names import varies

__all__ = ["Plan", "measure_below", "measure_plan", "measure_ways"]

TAG = 7


@dataclass(frozen=True)
class Plan:
    """A ping-pong of ``size`` bytes: ``count`` timed round trips behind ``warm`` ones.

    Attributes
    ----------
    fresh
        Every message has a buffer of its own at both ends, on pages of its own.
    blocks
        Blocks of the messages' type, of equal length, apart from one another.
    wildcard
        Receives are from any rank, with any tag.
    delay
        Cycles of computation between rank 0's send and its receive.
    partners
        Ranks with which rank 0 has exchanged a message before.
    ranks
        Ranks of the job.
    settings
        Knobs of the run.
    """

    size: int
    count: int = 4
    warm: int = 2
    fresh: bool = False
    blocks: int = 1
    wildcard: bool = False
    delay: int = 0
    partners: int = 0
    ranks: int = 2
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def trips(self) -> int:
        return self.warm + self.count


class _Side:
    """One of the two ranks."""

    def __init__(self, mpi: Mpi, plan: Plan) -> None:
        self.mpi = mpi
        self.comm: Comm = mpi.COMM_WORLD
        self.peer = 1 - self.comm.rank
        self.plan = plan
        part = plan.size // plan.blocks
        step = part if plan.blocks == 1 else -(-part // 64) * 64 + 64
        self._type = BYTE.Create_vector(plan.blocks, part, step) if part else BYTE
        self._length = max(step * plan.blocks, 1)
        count = plan.trips if plan.fresh else 1
        page = mpi.process.page_bytes
        self._pairs = [[self._buffer(page) for _ in range(2)] for _ in range(count)]

    def _buffer(self, page: int) -> Any:
        length = -(-self._length // page) * page if self.plan.fresh else self._length
        return self.mpi.empty(length, np.uint8)

    def _spec(self, array: Any) -> list[Any]:
        return [array, 1 if self.plan.size else 0, self._type]

    async def send(self, trip: int) -> None:
        await self.comm.Send(self._spec(self._pairs[trip % len(self._pairs)][0]), self.peer, TAG)

    async def receive(self, trip: int) -> None:
        source, tag = (ANY_SOURCE, ANY_TAG) if self.plan.wildcard else (self.peer, TAG)
        await self.comm.Recv(self._spec(self._pairs[trip % len(self._pairs)][1]), source, tag)

    async def contact(self) -> None:
        """Rank 0 exchanges a message with each of its partners."""
        mine = range(1, self.plan.partners + 1) if self.mpi.rank == 0 else [0]
        if self.mpi.rank <= self.plan.partners:
            for rank in mine:
                await self.comm.Sendrecv(self._spec(self._pairs[0][0]), rank, TAG,
                                         self._spec(self._pairs[0][1]), rank, TAG)

    async def client(self) -> tuple[list[tuple[Stamp, Stamp]], dict[str, int]]:
        """The timed trips, and how often each path was charged in them."""
        node, plan = self.mpi.node, self.plan
        times, before = [], node.port.paths()
        for trip in range(plan.trips):
            if trip == plan.warm:
                before = node.port.paths()
            start = stamp(node)
            await self.send(trip)
            if plan.delay:
                await node.port.delay(plan.delay)
            await self.receive(trip)
            times.append((start, stamp(node)))
        return times[plan.warm:], dict(node.port.paths() - before)

    async def server(self) -> None:
        for trip in range(self.plan.trips):
            await self.receive(trip)
            await self.send(trip)


async def measure_plan(lab: Any, plan: Plan) -> dict[str, Any]:
    """The ping-pong between nodes 0 and 1: the timed trips, and how often rank 0 charged each path
    in them."""
    async def program(node: Node) -> Any:
        async with Mpi(node) as mpi:
            side = _Side(mpi, plan)
            if plan.partners:
                await side.contact()
            await mpi.COMM_WORLD.Barrier()
            if mpi.rank == 0:
                return await side.client()
            if mpi.rank == 1:
                await side.server()
            return None

    run = await lab.run(programs(lab, dict.fromkeys(range(plan.ranks), program)),
                        settings=plan.settings)
    times, charged = run.results[0]
    return {"trips": [ticks_between(*pair) for pair in times], "begin": times[0][0][0],
            "end": times[-1][1][0], "charged": charged, "spans": run.marks}


async def measure_ways(lab: Any, sizes: Sequence[int], ways: Mapping[str, Mapping[str, Any]],
                       tell: Any) -> dict[str, Any]:
    """A ping-pong of each size in each of the ``ways``: what its plan has besides the size."""
    found: dict[str, Any] = {name: {} for name in ways}
    steps = [(size, name) for size in sizes for name in ways]
    for index, (size, name) in enumerate(steps):
        tell(f"{size} bytes, {name}", index, len(steps))
        found[name][size] = await measure_plan(lab, Plan(size, **ways[name]))
    return found


async def measure_below(lab: Any, size: int, count: int = Plan.count, warm: int = Plan.warm,
                        **how: Any) -> dict[str, Any]:
    """The ping-pong of the layer that carries the messages (``mpi.channel``). Over VIA it is a plan
    with ``how``; the other layers have the plain one alone."""
    channel = lab.description.mpi.channel
    if not varies(channel):
        return await one_way_trips(lab, size, count, warm, layer=channel)
    found = await via_plan(lab, ViaPlan(size, count, warm, **how))
    return {"trips": found["trips"], "stops": found["stops"], "spans": found["marks"]}
