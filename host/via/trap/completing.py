"""Kernel-trap design point: completes descriptors, breaks VIs, and ends connections."""

from ....layouts.via import (
    CONTROL_BYTES,
    CQ_ENTRY,
    BreakCode,
    Event,
    PacketKind,
    RemoteOperation,
    Status,
    ViState,
)
from ...kernel.timers import FAR
from ..handles import Cq, Posted
from .ends import GOOD, CqState, End, Message
from .memory import Descriptor, Refused
from .packets import Packets
from .trap_context import TrapContext

__all__ = ["Completing"]

STATUS_AT = 20
"""Offsets of ImmediateData, Length and Status in a descriptor."""


class Completing:
    """Writes statuses and completion queue entries, ends connections, and records events for the
    consumer.

    Attributes
    ----------
    happened
        Events not yet reported: (event, number).
    """

    def __init__(self, context: TrapContext, packets: Packets) -> None:
        self.happened: list[tuple[Event, int]] = []
        self._port = context.port
        self._prices = context.prices
        self._space = context.space
        self._packets = packets

    def events(self) -> list[tuple[Event, int]]:
        """Take the recorded events."""
        found, self.happened = self.happened, []
        return found

    async def complete(self, end: End, receive: bool, posted: Posted, *, length: int = 0,
                       status: Status = GOOD, operation: RemoteOperation,
                       immediate: int | None = None) -> None:
        """Complete a descriptor: its status, its queue's entry, and an event if requested."""
        self._port.spend(self._prices.complete)
        word = Status.DONE | status | operation << 16
        if immediate is not None:
            word |= Status.IMMEDIATE
        broken = None
        try:
            at, room = self._space.piece(posted.va, posted.handle, end.tag)
            if room < CONTROL_BYTES:
                raise Refused
            await self._port.touch(at + STATUS_AT, 12, store=True)
            data = length.to_bytes(4, "little") + int(word).to_bytes(4, "little")
            if immediate is not None:
                data = immediate.to_bytes(4, "little") + data
            self._space.memory.write(at + CONTROL_BYTES - len(data), data)
        except Refused:
            broken = Event.COMP_PROT
        await self._completed(end, receive, broken)

    async def sent(self, end: End, message: Message, status: Status = GOOD) -> None:
        """Complete a descriptor of the send queue, all of whose packets have been made or never
        will be."""
        descriptor = message.descriptor
        await self.complete(end, False, message.posted, status=status,
                            length=0 if status else descriptor.length,
                            operation=descriptor.sent_as)

    async def received(self, end: End, operation: RemoteOperation, *, length: int = 0,
                       status: Status = GOOD, immediate: int | None = None) -> None:
        """Complete the current receive descriptor."""
        posted, end.taken, end.walk, end.kind = end.taken, None, None, None
        assert posted is not None
        await self.complete(end, True, posted, length=length, status=status, operation=operation,
                            immediate=immediate)

    async def lose(self, end: End, receive: bool, event: Event) -> None:
        """A descriptor cannot be read or taken: count it as completed, and break the VI."""
        await self._completed(end, receive, event)

    async def _completed(self, end: End, receive: bool, broken: Event | None) -> None:
        queue = end.receive if receive else end.send
        queue.completed += 1
        if broken is not None:
            end.vi.lost = True
        cq = (end.vi.receive if receive else end.vi.send).cq
        if cq is not None and cq.private is not None:
            broken = await self._append(cq, end, receive) or broken
        if queue.armed:
            queue.armed = False
            self.happened.append((Event.RECEIVE_DONE if receive else Event.SEND_DONE,
                                  end.vi.number))
        if broken is not None:
            await self.break_(end, broken)

    async def _append(self, cq: Cq, end: End, receive: bool) -> Event | None:
        """Append an entry to ``cq``; return the error that breaks the VI if that is impossible."""
        state: CqState = cq.private
        ring = state.ring
        self._port.spend(self._prices.entry)
        if state.tail - ring.told >= ring.size:
            return Event.VI_OVERRUN
        index = state.tail % ring.size
        region = ring.region
        try:
            at, _ = self._space.piece(region.va + 8 * index, region.handle, region.ptag.number)
        except Refused:
            return Event.COMP_PROT
        entry = CQ_ENTRY.pack(phase=1 - (state.tail // ring.size & 1), receive=receive,
                              vi=end.vi.number)
        await self._port.touch(at, 8, store=True)
        self._space.memory.write(at, entry.to_bytes(8, "little"))
        state.tail += 1
        if state.armed:
            state.armed = False
            self.happened.append((Event.CQ_READY, cq.number))
        return None

    async def break_(self, end: End, event: Event, tell: bool = True) -> None:
        """Break a VI that is idle or connected. The error is reported once, and a connection ends.
        ``tell`` the peer, if it is reliable."""
        if end.state in (ViState.IDLE, ViState.CONNECTED):
            self.happened.append((event, end.vi.number))
        if end.state is ViState.CONNECTED:
            await self.end_connection(end, tell)

    async def end_connection(self, end: End, tell: bool) -> None:
        """End a connection, if there is one, and complete the messages under way, then all posted
        descriptors, as flushed. ``tell`` the peer, if it is reliable."""
        connected, end.state = end.state is ViState.CONNECTED, ViState.ERROR
        if connected:
            if end.taken is not None:
                await self.received(end, RemoteOperation.RECEIVE, status=Status.FLUSHED)
            await self._abort(end, tell)
        await self.flush(end, False)
        await self.flush(end, True)

    async def _abort(self, end: End, tell: bool) -> None:
        """Complete the messages under way as flushed, and inform the peer of a reliable
        connection."""
        begun = [*end.unfinished, *([end.message] if end.message else [])]
        reading, sequence = end.reading, end.sequence
        for packet in end.slots:
            self._packets.drop(packet)
        end.slots.clear()
        end.unfinished.clear()
        end.message = end.reading = end.job = None
        end.deadline = FAR
        if reading is not None:
            begun.insert(0, reading)
        for message in begun:
            await self.sent(end, message, message.error or Status.FLUSHED)
        if tell and end.reliable:
            await self._packets.tell(end, PacketKind.BREAK, sequence, BreakCode.LOST)

    async def fetch(self, end: End, posted: Posted) -> Descriptor | None:
        """Copy the descriptor in; None if it cannot be read."""
        try:
            return await self._space.descriptor(posted.va, posted.handle, end.tag)
        except Refused:
            return None

    async def flush(self, end: End, receive: bool) -> None:
        """Complete all waiting descriptors of a queue as flushed, oldest first."""
        waiting = (end.receive if receive else end.send).waiting
        while waiting:
            posted = waiting.popleft()
            descriptor = await self.fetch(end, posted)
            if descriptor is None:
                await self.lose(end, receive, Event.POST_DESC)
            else:
                await self.complete(
                    end, receive, posted, status=Status.FLUSHED,
                    operation=RemoteOperation.RECEIVE if receive else descriptor.sent_as)
