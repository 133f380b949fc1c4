"""Bulk transfers: stores, and the data of gets, from the user's buffer into the user's buffer.

A packet goes to the NIC as a descriptor that points into the source, so nothing is copied on the
sending side, and sending again reads the source again: it is the layer's until the last packet is
acknowledged. The receiver copies each packet from its slot to its place.
"""

from ...layouts.operations import BLOCK
from . import wire
from .sending import Sending
from .state import BEGIN, BULK_SEND, END, IN_REPLY, IN_REQUEST, PROGRAM, SMALL_BYTES
from .window import AmError, Peer, Sender, Transfer

__all__ = ["Bulk"]


class Bulk(Sending):
    """Sending, with bulk transfers."""

    def _begin_transfer(self, peer: Peer, transfer: Transfer) -> None:
        peer.transfers.append(transfer)
        self._queue(peer.bulk)

    def _pack(self, sender: Sender) -> None:
        """Make the next packet of the peer's first transfer."""
        peer = sender.peer
        transfer = peer.transfers[0]
        done = transfer.packed
        length = min(self._mtu, transfer.length - done)
        transfer.packed = packed = done + length
        last = packed == transfer.length
        sequence = sender.next
        word = (transfer.kind | transfer.handler << wire.HANDLER
                | (sequence & 255) << wire.SEQUENCE)
        number = transfer.number if done == 0 else self.node.trace_number()
        if done == 0:
            word |= wire.FIRST
        if last:
            word |= wire.LAST
            peer.transfers.popleft()
        sender.packets[sequence & 255] = (word, transfer.remote + done | transfer.argument << 32,
                                          transfer.local + done, length, number,
                                          transfer if last else None)
        sender.next = sequence + 1
        if sequence == sender.base:
            cycle = self.port.cycle
            sender.progress = cycle
            if sender.timed == sequence:
                sender.timed_at = cycle
            if self._deadline > cycle + peer.patience:
                self._deadline = cycle + peer.patience

    def _bulk_due(self, sender: Sender) -> bool:
        """Whether the peer has a bulk packet to send, and its window lets it go."""
        if sender.sent == sender.next:
            if not sender.peer.transfers or sender.next - sender.base >= sender.limit:
                return False
            self._pack(sender)
        return True

    async def _pump_bulk(self, sender: Sender) -> bool:
        """Send the peer's next bulk packet, which is due; False if it has no room."""
        port, peer, way = self.port, sender.peer, self._way
        if way.shared:
            if self._space < SMALL_BYTES and not await self._find_room():
                return False
        elif not await way.bulk_room():
            return False
        if port.count > BLOCK - 2:
            await port.executed
        word, low, payload, length, number, _ = sender.packets[sender.sent & 255]
        port.mark(BULK_SEND, BEGIN, number)
        acks = peer.expected
        self._space -= way.bulk(
            peer.bulk_wire + (length << 16),
            word | acks[0] << 32 | acks[1] << 40 | acks[2] << 48, low, payload, length, number)
        sender.mark = way.posted
        if self._stores:
            await self._commit()
        port.mark(BULK_SEND, END, number)
        sender.sent += 1
        peer.owed = 0
        if sender.sent > sender.high:
            sender.high = sender.sent
        else:
            self.counters["resent"] += 1
            self.again.note(peer.number, sender.cause)
        return True

    async def _handle_bulk(self, peer: Peer, kind: int, flags: int, handler: int, target: int,
                           argument: int, length: int) -> None:
        """Copy a bulk packet to its place; run the handler after the last."""
        port = self.port
        port.spend(self._c_bulk_handle)
        if flags & wire.FIRST:
            peer.base = target
            peer.received = 0
        if length:
            if target + length > self.memory.size:
                raise AmError(f"node {peer.number} stores {length} bytes at {target:#x} of node "
                              f"{self.node.number}, which has {self.memory.size} (memory.bytes)")
            source = self._slot + wire.BULK_DATA
            if port.count > BLOCK - 2:
                await port.executed
            port.put_touch(source, length)
            port.work("copy_word", -(-length // 8))
            port.put_touch(target, length, store=True)
            await port.executed
            self.memory.write(target, self.memory.read(source, length))
            peer.received += length
        if not flags & wire.LAST:
            if peer.owed >= self._chunk:
                self._due.append(peer)
            return
        port.spend(self._c_bulk_last)
        store = kind == wire.K_STORE
        if store:
            if self._space < SMALL_BYTES and not self._held:
                await self._refresh()
            if port.count > self._full:
                await port.executed
            self._context, self._source, self._replied = IN_REQUEST, peer, False
        else:
            peer.credits += 1
            self._context = IN_REPLY
        if handler != wire.NO_HANDLER:
            result = self._handlers[handler](self, peer.number, peer.base, peer.received, argument)
            if result is not None:
                await result
        if store and not self._replied:
            if port.count > self._full:
                await port.executed
            self._null_reply(peer)
            if self._stores:
                await self._commit()
        self._context = PROGRAM
        if peer.owed:
            self._due.append(peer)

    async def _handle_get(self, peer: Peer, handler: int, remote: int, local: int, length: int,
                          argument: int, number: int) -> None:
        """A peer asks for data: send it, in place of a reply."""
        port = self.port
        if port.count == BLOCK:
            await port.executed
        port.put_touch(self._slot + 32, 8)
        port.spend(self._c_request_handle[4])
        port.spend(self._c_transfer)
        self._begin_transfer(peer, Transfer(wire.K_DATA, remote, local, length, handler, argument,
                                            self.node.trace_number()))

    async def _run_ends(self) -> None:
        """Run the end functions of stores whose source is the user's again."""
        while self._ended:
            transfer = self._ended.pop(0)
            transfer.finished = True
            if transfer.end is None:
                continue
            self.port.spend(self._c_end)
            before, self._context = self._context, IN_REPLY
            result = transfer.end(self, transfer.earg)
            if result is not None:
                await result
            self._context = before
