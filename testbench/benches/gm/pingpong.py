"""Ping-pongs on GM's own calls. A :class:`Plan` has what its latency benchmarks vary."""

from dataclasses import dataclass
from typing import Any

from ....host.gm import GM_EVENT, GM_STATUS, Gm, Port
from ....host.kernel.process import Process
from ....host.port.node import Node
from ..common.programs import programs, stamp, ticks_between

__all__ = ["Plan", "measure_plan"]

PORT, LOW = 2, 0
TRIPS, WARM = 4, 2


@dataclass(frozen=True)
class Plan:
    """A ping-pong of ``size`` bytes: ``count`` timed round trips behind ``warm`` ones. All receive
    buffers are provided before the first trip, so a round trip is two sends and two receives.

    Attributes
    ----------
    fresh
        Every send and every receive has a buffer of its own, on pages of its own.
    block
        Receives sleep until the interrupt, and do not spin before.
    """

    size: int
    count: int = TRIPS
    warm: int = WARM
    fresh: bool = False
    block: bool = False

    @property
    def trips(self) -> int:
        return self.warm + self.count


class _Side:
    """One side of a ping-pong."""

    def __init__(self, node: Node, plan: Plan) -> None:
        self.node, self.plan = node, plan
        self._gm = Gm(Process(node, 1))
        self._class = self._gm.gm_min_size_for_length(plan.size)
        self._sources: list[int] = []
        self._port: Any = None

    async def open(self) -> None:
        """Open the port, and provide all buffers."""
        plan = self.plan
        status, self._port = await self._gm.gm_open(0, PORT, "pingpong")
        _sound("gm_open", status)
        for _ in range(plan.trips if plan.fresh else 1):
            self._sources.append(await self._memory())
        buffer = 0
        for _ in range(plan.trips):
            if not buffer or plan.fresh:
                buffer = await self._memory()
            _sound("gm_provide_receive_buffer", await self._gm.gm_provide_receive_buffer(
                self._port, buffer, self._class, LOW))

    async def _memory(self) -> int:
        address = await self._gm.gm_dma_malloc(self._port, self.plan.size)
        assert address is not None, "the node's memory is full"
        return address

    async def send(self, trip: int) -> None:
        peer = 1 - self.node.number
        _sound("gm_send_with_callback", await self._gm.gm_send_with_callback(
            self._port, self._sources[trip % len(self._sources)], self._class, self.plan.size,
            LOW, peer, PORT, _sent))

    async def receive(self) -> None:
        """Take the next message; ends of sends come between."""
        gm = self._gm
        take = gm.gm_blocking_receive_no_spin if self.plan.block else gm.gm_blocking_receive
        while (event := await take(self._port)).type is not GM_EVENT.GM_RECV_EVENT:
            await gm.gm_unknown(self._port, event)

    async def close(self) -> None:
        """Wait until all sends are acknowledged."""
        while len(self._port.free_sends) < self._port.send_tokens:
            await self._gm.gm_unknown(self._port,
                                      await self._gm.gm_blocking_receive(self._port))


async def measure_plan(lab: Any, plan: Plan) -> dict[str, Any]:
    """The ping-pong between nodes 0 and 1."""
    async def client(node: Node) -> Any:
        side, times = _Side(node, plan), []
        await side.open()
        for trip in range(plan.trips):
            start = stamp(node)
            await side.send(trip)
            await side.receive()
            times.append((start, stamp(node)))
        await side.close()
        return times[plan.warm:]

    async def server(node: Node) -> None:
        side = _Side(node, plan)
        await side.open()
        for trip in range(plan.trips):
            await side.receive()
            await side.send(trip)
        await side.close()

    run = await lab.run(programs(lab, {0: client, 1: server}))
    return {"trips": [ticks_between(*pair) for pair in run.results[0]]}


def _sent(port: Port, context: Any, status: GM_STATUS) -> None:
    _sound("a send", status)


def _sound(call: str, status: GM_STATUS) -> None:
    assert status is GM_STATUS.GM_SUCCESS, f"{call}: {status.name}"
