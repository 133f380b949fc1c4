"""Small packets and control packets out: sequence numbers, and room on the way to the NIC."""

from ...layouts.operations import BLOCK
from ..port.node import Node
from ..port.sent_again import SentAgain
from . import costs, wire
from .deadline import Deadline
from .injection import Injection
from .marks import BEGIN, CONTROL, END, REPLY_SEND
from .window import Peer, Sender

__all__ = ["Sending"]

SMALL_BYTES = wire.SMALL_BYTES


class Sending:
    """Sends packets by ``way``, the path to the NIC.

    Attributes
    ----------
    full
        Number of entries in a block from which on a packet has no room.
    stores
        Words that the block's last entry must write to memory: see :meth:`commit`.
    space
        Room for small packets, in bytes, when it was last read.
    backlog
        Senders with packets to send: they lacked room, or must be sent again.
    held
        Number of these that send small packets.
    again
        Packets sent again, by peer and cause.
    """

    __slots__ = ("node", "port", "memory", "way", "full", "stores", "space", "backlog", "held",
                 "counters", "again", "_deadline", "_inject", "_c_null_reply", "_c_again",
                 "_c_control_send")

    def __init__(self, node: Node, way: Injection, deadline: Deadline,
                 counters: dict[str, int]) -> None:
        self.node, self.port, self.memory = node, node.port, node.memory
        self.way = way
        self.full = BLOCK - way.entries
        self.stores = way.stores
        self.space = 0
        self.backlog: list[Sender] = []
        self.held = 0
        self.counters = counters
        self.again = SentAgain(node.port, "Active Messages", node.number)
        self._deadline = deadline
        self._inject = way.small
        path = node.port.path
        self._c_null_reply = path(costs.NULL_REPLY)
        self._c_again = path(costs.AGAIN)
        self._c_control_send = path(costs.CONTROL_SEND)

    def queue(self, sender: Sender) -> None:
        """Put ``sender`` into the backlog."""
        if not sender.queued:
            sender.queued = True
            self.backlog.append(sender)
            if not sender.bulk:
                self.held += 1

    def forget(self, peer: Peer) -> None:
        """Remove the senders of ``peer``, which is gone, from the backlog."""
        self.backlog = [sender for sender in self.backlog if sender.peer is not peer]
        self.held = sum(not sender.bulk for sender in self.backlog)

    def launch(self, peer: Peer, sender: Sender, word: int, low: int, high: int, beats: int,
               number: int) -> None:
        """Give a small packet its sequence number, keep it, and send it if it need not wait. The
        block must have room; :meth:`commit` follows if there are ``stores``."""
        sequence = sender.next
        word |= (sequence & 255) << 24
        sender.packets.append((word, low, high, beats, number))
        sender.next = sequence + 1
        if sequence == sender.base:
            if not peer.watched:
                self._deadline.watch(peer)
            sender.progress = cycle = self.port.cycle
            if sender.timed == sequence:
                sender.timed_at = cycle
            if self._deadline.at > cycle + peer.patience:
                self._deadline.at = cycle + peer.patience
        if sender.sent == sequence and self.space >= SMALL_BYTES and not self.held:
            sender.sent = sender.high = sequence + 1
            expected = peer.expected
            self.space -= self._inject(
                peer.wire[beats], word | expected[0] << 32 | expected[1] << 40 | expected[2] << 48,
                low, high, beats, number)
            peer.owed = 0
        else:
            self.queue(sender)

    def null_reply(self, peer: Peer) -> None:
        """Reply in place of a handler that did not reply. The block must have room."""
        port = self.port
        number = self.node.trace_number()
        port.mark(REPLY_SEND, BEGIN, number)
        port.spend(self._c_null_reply)
        self.launch(peer, peer.reply, wire.K_NULL, 0, 0, 3, number)
        port.mark(REPLY_SEND, END, number)

    async def commit(self) -> None:
        """Write the words that the block's last entry must store."""
        await self.port.executed
        for address, data in self.stores:
            self.memory.write(address, data)
        self.stores.clear()

    async def refresh(self) -> None:
        """Read from the NIC how much room small packets have."""
        self.space = await self.way.room()

    async def find_room(self) -> bool:
        """Find room for a small packet outside of the program's calls; return whether there is
        room."""
        self.port.mark(CONTROL, BEGIN, 0)
        await self.refresh()
        self.port.mark(CONTROL, END, 0)
        return self.space >= SMALL_BYTES

    async def pump(self, sender: Sender) -> bool:
        """Send the next small packet of ``sender``, which is due; return False if the NIC has no
        room."""
        port, peer = self.port, sender.peer
        if self.space < SMALL_BYTES and not await self.find_room():
            return False
        if port.count > self.full:
            await port.executed
        word, low, high, beats, number = sender.packets[sender.sent - sender.base]
        port.mark(CONTROL, BEGIN, number)
        port.spend(self._c_again)
        acks = peer.expected
        self.space -= self._inject(
            peer.wire[beats], word | acks[0] << 32 | acks[1] << 40 | acks[2] << 48, low, high,
            beats, number)
        if self.stores:
            await self.commit()
        port.mark(CONTROL, END, number)
        self.sent(sender)
        return True

    def sent(self, sender: Sender) -> None:
        """Note that the due packet of ``sender`` has left."""
        peer = sender.peer
        sender.sent += 1
        peer.owed = 0
        if sender.sent > sender.high:
            sender.high = sender.sent
        else:
            self.counters["resent"] += 1
            self.again.note(peer.number, sender.cause)

    async def control(self, peer: Peer, word: int, low: int = 0) -> bool:
        """Send a packet without sequence number; return False if it has no room."""
        port = self.port
        if self.space < SMALL_BYTES and not await self.find_room():
            return False
        if port.count > self.full:
            await port.executed
        number = self.node.trace_number()
        port.mark(CONTROL, BEGIN, number)
        port.spend(self._c_control_send)
        acks = peer.expected
        self.space -= self._inject(
            peer.wire[3], word | acks[0] << 32 | acks[1] << 40 | acks[2] << 48, low, 0, 3, number)
        if self.stores:
            await self.commit()
        port.mark(CONTROL, END, number)
        peer.owed = 0
        return True

    async def probe(self, peer: Peer) -> None:
        """Ask the peer what has arrived of all packets sent. Without room the question waits until
        the next time-out."""
        self.counters["probes"] += 1
        await self.control(peer, wire.K_PROBE, peer.ask(self.port.cycle))
        self._deadline.at = min(self._deadline.at, self.port.cycle + peer.patience)
