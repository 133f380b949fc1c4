"""o_r if arrivals interrupt: a counting loop on the receiver, alone and while messages arrive."""

from typing import Any

from ....host.port.node import Node
from ....host.via.session import Session
from ....layouts.trace import Activity, Kind
from ..common.programs import programs, stamp, ticks_between

__all__ = ["EACH", "measure_counting"]

EACH = 20
"""Cycles of a count."""
SETTLE = 2
"""Settling time before the loop begins, in distances of the messages."""


class Counter(Session):
    """Counts; a notify takes each message and requests the next."""

    def __init__(self, node: Node) -> None:
        super().__init__(node)
        self.messages = 0

    async def _notified(self, context: Any, nic: Any, vi: Any, descriptor: int) -> None:
        self.messages += 1
        await self.vipl.VipRecvNotify(vi, None, self._notified)

    async def run(self, size: int, count: int, time: int, settle: int) -> dict[str, Any]:
        """Count for ``time`` cycles, with room for ``count`` messages. ``settle`` cycles pass
        first, in which the set-up of the connection ends."""
        await self.open()
        vi = await self.endpoint()
        arena = await self.arena(count + 1)
        data = await self.memory(size)
        for _ in range(count):
            await self.post_receive(vi, await self.descriptor(arena, [data.segment(size)]), arena)
        await self.connect(vi)
        port, kernel, counted = self.port, self.vipl.kernel, 0
        await self.vipl.VipRecvNotify(vi, None, self._notified)
        await port.delay(settle)
        await kernel.attend()
        start = stamp(self.node)
        end = await port.flush() + time
        while port.cycle < end:
            port.mark(Activity.COMPUTE, Kind.BEGIN, 0)
            await port.delay(EACH)
            await port.flush()
            port.mark(Activity.COMPUTE, Kind.END, 0)
            counted += 1
            await kernel.attend()
        return {"start": start, "stop": stamp(self.node), "count": counted,
                "messages": self.messages}


class Sender(Session):
    """Sends a message every ``apart`` cycles."""

    async def run(self, size: int, count: int, apart: int) -> None:
        await self.open()
        vi = await self.endpoint()
        arena = await self.arena(1)
        data = await self.memory(size)
        send = await self.descriptor(arena, [data.segment(size)])
        await self.connect(vi)
        await self.port.delay(SETTLE * apart)
        for _ in range(count):
            await self.port.delay(apart)
            await self.post_send(vi, send, arena)
            await self.complete_send(vi)


async def measure_counting(lab: Any, size: int, count: int, apart: int) -> dict[str, Any]:
    """The loop alone, and while ``count`` messages of ``size`` bytes arrive, ``apart`` cycles from
    one another. The loop takes as long as all of them and three more."""
    found: dict[str, Any] = {}
    for name, messages in (("alone", 0), ("disturbed", count)):
        async def counter(node: Node) -> dict[str, Any]:
            return await Counter(node).run(size, count, (count + 3) * apart, SETTLE * apart)

        async def sender(node: Node, messages: int = messages) -> None:
            await Sender(node).run(size, messages, apart)

        run = await lab.run(programs(lab, {0: sender, 1: counter}),
                            trace=True)
        one = run.results[1]
        found[name] = {"count": one["count"], "messages": one["messages"],
                       "ticks": ticks_between(one["start"], one["stop"]),
                       "begin": one["start"][0], "end": one["stop"][0], "marks": run.marks}
    return found
