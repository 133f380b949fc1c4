"""Bulk transfers out: stores, and the data of gets, from the user's buffer.

A packet goes to the NIC as a descriptor that points into the source, so the sending side copies
nothing. A packet that is sent again is read from the source again, so the source belongs to the
layer until the last packet is acknowledged. :mod:`.bulk_receiving` copies each packet from its slot
to its destination.
"""

from . import wire
from .costs import Prices
from .deadline import Deadline
from .handlers import IN_REPLY, Handlers
from .marks import BEGIN, BULK_SEND, END
from .sending import Sending
from .window import Peer, Sender, Transfer

__all__ = ["BulkSending"]


class BulkSending:
    """Sends transfers through ``sending``.

    Attributes
    ----------
    ended
        Transfers whose last packet has been acknowledged: see :meth:`run_ends`.
    """

    __slots__ = ("ended", "_sending", "_handlers", "_deadline", "_mtu", "_c_end")

    def __init__(self, sending: Sending, handlers: Handlers, deadline: Deadline) -> None:
        self.ended: list[Transfer] = []
        self._sending = sending
        self._handlers = handlers
        self._deadline = deadline
        self._mtu = sending.way.bulk_bytes
        self._c_end = sending.node.service(Prices).end

    def begin(self, peer: Peer, transfer: Transfer) -> None:
        """Send ``transfer`` to ``peer``, after the transfers that began before it."""
        peer.transfers.append(transfer)
        if not peer.watched:
            self._deadline.watch(peer)
        self._sending.queue(peer.bulk)

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
        number = transfer.number if done == 0 else self._sending.node.trace_number()
        if done == 0:
            word |= wire.FIRST
        if last:
            word |= wire.LAST
            peer.transfers.popleft()
        sender.packets.append((word, transfer.remote + done | transfer.argument << 32,
                               transfer.local + done, length, number,
                               transfer if last else None))
        sender.next = sequence + 1
        if sequence == sender.base:
            cycle = self._sending.port.cycle
            sender.progress = cycle
            if sender.timed == sequence:
                sender.timed_at = cycle
            if self._deadline.at > cycle + peer.patience:
                self._deadline.at = cycle + peer.patience

    def due(self, sender: Sender) -> bool:
        """Tells whether the peer has a bulk packet to send and its window is open."""
        if sender.sent == sender.next:
            if not sender.peer.transfers or sender.next - sender.base >= sender.limit:
                return False
            self._pack(sender)
        return True

    async def pump(self, sender: Sender) -> bool:
        """Send the peer's next bulk packet, which is due; return False if it has no room."""
        sending, peer = self._sending, sender.peer
        port, way = sending.port, sending.way
        if not await way.bulk_room(sending):
            return False
        await port.room(way.bulk_entries)
        word, low, payload, length, number, _ = sender.packets[sender.sent - sender.base]
        port.mark(BULK_SEND, BEGIN, number)
        acks = peer.expected
        sending.space -= way.bulk_takes
        way.put_bulk(peer.bulk_wire + (length << 16),
                     word | acks[0] << 32 | acks[1] << 40 | acks[2] << 48, low, payload, length,
                     number)
        sender.mark = way.posted
        if way.stores:
            await sending.commit()
        port.mark(BULK_SEND, END, number)
        sending.sent(sender)
        return True

    async def run_ends(self) -> None:
        """Run the end functions of stores whose source may be reused."""
        handlers = self._handlers
        while self.ended:
            transfer = self.ended.pop(0)
            transfer.finished = True
            if transfer.end is None:
                continue
            self._sending.port.spend(self._c_end)
            before, handlers.context = handlers.context, IN_REPLY
            result = transfer.end()
            if result is not None:
                await result
            handlers.context = before
