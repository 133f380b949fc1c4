"""Packets in: the receive ring, dispatch to handlers."""

from ...layouts.operations import BLOCK
from . import wire
from .settling import Settling
from .state import (
    BULK_HANDLE,
    CONTROL,
    END,
    IN_REPLY,
    IN_REQUEST,
    PROGRAM,
    REPLY_HANDLE,
    REQUEST_HANDLE,
    SMALL_BYTES,
)

__all__ = ["Receiving"]


class Receiving(Settling):
    """All of the above, with the receive ring."""

    async def _handle(self, begin: list[int]) -> None:
        """Handle the message whose slot's completion word a poll has just found. ``begin`` is the
        mark at which that began, to be named here."""
        port = self.port
        slot = self._slot
        (completion, _, length, source, _, _, _, flags, handler, sequence, acks,
         a0, a1, a2, a3) = wire.SLOT.unpack(self.memory.read(slot, wire.SLOT_BYTES))
        number = completion >> wire.TRACE_SHIFT & wire.TRACE_MASK
        begin[3] = number
        self._idle = 0
        peer = self.peers[source]
        cycle = port.cycle
        peer.heard = cycle
        if acks != peer.acked:
            self._acknowledge(peer, acks)
        kind = flags & 15
        count = flags >> 4 & 7
        if kind == wire.K_REQUEST:
            begin[1] = activity = REQUEST_HANDLE
            expected = peer.expected
            if sequence != expected[0]:
                begin[1] = activity = CONTROL
                await self._misplaced(peer, 0, sequence)
            else:
                expected[0] = sequence + 1 & 255
                if peer.gapped:
                    peer.gaps[0] = 0
                if count > 2:
                    if port.count == BLOCK:
                        await port.executed
                    port.put_touch(slot + 32, 8)
                port.spend(self._c_request_handle[count])
                if self._space < SMALL_BYTES and not self._held:
                    await self._refresh()
                if port.count > self._full:
                    await port.executed
                self._context = IN_REQUEST
                self._source = peer
                self._replied = False
                function = self._handlers[handler]
                result = (function(self, source, a0) if count == 1
                          else function(self, source, *(a0, a1, a2, a3)[:count]))
                if result is not None:
                    await result
                if not self._replied:
                    if port.count > self._full:
                        await port.executed
                    self._null_reply(peer)
                    if self._stores:
                        await self._commit()
                self._context = PROGRAM
        elif kind == wire.K_REPLY or kind == wire.K_NULL:
            begin[1] = activity = REPLY_HANDLE
            expected = peer.expected
            if sequence != expected[1]:
                begin[1] = activity = CONTROL
                await self._misplaced(peer, 1, sequence)
            else:
                expected[1] = sequence + 1 & 255
                if peer.gapped:
                    peer.gaps[1] = 0
                peer.credits += 1
                self._owe(peer, cycle)
                if peer.owed >= self._quarter:
                    self._due.append(peer)
                if kind == wire.K_NULL:
                    port.spend(self._c_null_handle)
                else:
                    if count > 2:
                        if port.count == BLOCK:
                            await port.executed
                        port.put_touch(slot + 32, 8)
                    port.spend(self._c_reply_handle[count])
                    self._context = IN_REPLY
                    function = self._handlers[handler]
                    result = (function(self, source, a0) if count == 1
                              else function(self, source, *(a0, a1, a2, a3)[:count]))
                    if result is not None:
                        await result
                    self._context = PROGRAM
        elif kind == wire.K_STORE or kind == wire.K_DATA:
            begin[1] = activity = BULK_HANDLE
            if sequence != peer.expected[2]:
                begin[1] = activity = CONTROL
                await self._misplaced(peer, 2, sequence)
            else:
                peer.expected[2] = sequence + 1 & 255
                peer.gaps[2] = 0
                self._owe(peer, cycle)
                await self._handle_bulk(peer, kind, flags, handler, a0, a1,
                                        length - wire.BULK_HEADER_BYTES)
        else:
            begin[1] = activity = CONTROL
            if kind == wire.K_GET or kind == wire.K_BYE:
                if sequence != peer.expected[0]:
                    await self._misplaced(peer, 0, sequence)
                else:
                    peer.expected[0] = sequence + 1 & 255
                    peer.gaps[0] = 0
                    self._owe(peer, cycle)
                    if kind == wire.K_GET:
                        begin[1] = activity = BULK_HANDLE
                        await self._handle_get(peer, handler, a0, a1, a2, a3, number)
                    else:
                        port.spend(self._c_control_handle)
                        peer.bye = True
                        self._owe_soon(peer)
            else:
                port.spend(self._c_control_handle)
                await self._handle_control(peer, kind, flags, a0 | a1 << 32)
        # The slot is free again.
        self._taken = taken = self._taken + 1
        slot += self._slot_bytes
        if taken % self._ring == 0:
            slot = self._slots
            self._phase ^= 1
        self._slot = slot
        if taken - self._told >= self._ring_quarter:
            if port.count == BLOCK:
                await port.executed
            port.spend(self._c_taken)
            port.put_write(self._way.taken, 1, taken & self._way.taken_mask)
            self._told = taken
        if self._ended:
            await self._run_ends()
        if self._due:
            await self._pay(self._due)
        if self._backlog and not self._blocked:
            await self._pump()
        port.mark(activity, END, number)
