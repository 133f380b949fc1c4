"""Small packets and control packets out: sequence numbers, and room on the way to the NIC."""

from collections.abc import Awaitable

from ...layouts.operations import BLOCK
from ..port.node import Node
from ..port.sent_again import SentAgain
from ..port.suspension import NOTHING
from ..port.work import Charge
from . import wire
from .costs import Prices
from .deadline import Deadline
from .marks import BEGIN, CONTROL, END, REPLY_SEND
from .ways import Way
from .window import Peer, Sender, Small

__all__ = ["CHECK", "Sending"]

SMALL_BYTES = wire.SMALL_BYTES
CHECK = 1
"""Operations of a check for messages."""


class Sending:
    """Sends packets by ``way``, the path to the NIC.

    Attributes
    ----------
    space
        Room for small packets, in bytes, when it was last read.
    backlog
        Senders with packets to send: they lacked room, or must be sent again.
    held
        Number of these that send small packets.
    again
        Packets sent again, by peer and cause.
    """

    __slots__ = ("node", "port", "memory", "way", "space", "backlog", "held", "counters", "again",
                 "_entries", "_most", "_stores", "_takes", "_deadline", "_put_small",
                 "_c_null_reply", "_c_again", "_c_control_send")

    def __init__(self, node: Node, way: Way, deadline: Deadline,
                 counters: dict[str, int]) -> None:
        self.node, self.port, self.memory = node, node.port, node.memory
        self.way = way
        self.space = 0
        self.backlog: list[Sender] = []
        self.held = 0
        self.counters = counters
        self.again = SentAgain(node.port, "Active Messages", node.number)
        self._entries = way.entries
        self._most = BLOCK - way.entries
        """Most operations in the port's block behind which a packet has room."""
        self._stores = way.stores
        self._takes = way.takes
        self._deadline = deadline
        self._put_small = way.put
        prices = node.service(Prices)
        self._c_null_reply = prices.null_reply
        self._c_again = prices.again
        self._c_control_send = prices.control_send

    # New packets

    def send(self, sender: Sender, packet: Small, activity: int, behind: int = 0
             ) -> Awaitable[None]:
        """Give ``packet`` the next sequence number of ``sender`` and keep it; send it, unless it
        has no room or others wait for room; then mark the end of ``activity``. It must be awaited
        at once.

        ``behind`` is CHECK for a packet of a call of the program, which reads the room again if
        there was none, and checks for messages behind the packet. The check and the packet go to
        the target in one block, so that there is one wait for both; a packet with nothing behind it
        needs room for itself alone. A handler's packet never waits for the NIC.
        """
        if behind and self.space < SMALL_BYTES and not self.held:
            return self._send_later(self.refresh(), sender, packet, activity, behind)
        port = self.port
        # Others ask the port for room. Here, and nowhere else, it is looked at: to ask takes Python
        # 1 % of all that a message takes.
        if port._block.count > self._most - behind:
            return self._send_later(port.room(self._entries + behind), sender, packet, activity, 0)
        sequence = sender.next
        sender.packets.append(packet)
        sender.next = sequence + 1
        peer = sender.peer
        if sequence == sender.base:
            if not peer.watched:
                self._deadline.watch(peer)
            sender.progress = cycle = port.cycle
            if sender.timed == sequence:
                sender.timed_at = cycle
            cycle += peer.patience
            if self._deadline.at > cycle:
                self._deadline.at = cycle
        word, low, high, beats, number = packet
        if sender.sent == sequence and self.space >= SMALL_BYTES and not self.held:
            sender.sent = sender.high = sequence + 1
            expected = peer.expected
            self.space -= self._takes[beats]
            self._put_small(
                beats, peer.wire[beats],
                word | (sequence & 255) << 24 | expected[0] << 32 | expected[1] << 40
                | expected[2] << 48, low, high, number)
            peer.owed = 0
        else:
            self.queue(sender)
        if self._stores:
            return self._stored(activity, number)
        port.mark(activity, END, number)
        return NOTHING

    async def _send_later(self, room: Awaitable[None], sender: Sender, packet: Small, activity: int,
                          behind: int) -> None:
        """The same when there is room."""
        await room
        if behind:
            await self.port.room(self._entries + behind)
        await self.send(sender, packet, activity)

    async def _stored(self, activity: int, number: int) -> None:
        await self.commit()
        self.port.mark(activity, END, number)

    def null_reply(self, peer: Peer) -> Awaitable[None]:
        """Reply in place of a handler that did not reply."""
        number = self.node.trace_number()
        self.port.begin(REPLY_SEND, number, self._c_null_reply)
        return self.send(peer.reply, (wire.K_NULL, 0, 0, 3, number), REPLY_SEND)

    async def commit(self) -> None:
        """Have what was put executed, and write the words that its last store has."""
        await self.port.executed
        for address, data in self._stores:
            self.memory.write(address, data)
        self._stores.clear()

    # Room

    def ready(self) -> Awaitable[None]:
        """Make room for a packet in the port's block; read how much the NIC has, if it had none."""
        if self.space < SMALL_BYTES and not self.held:
            return self._refreshed()
        return self.port.room(self._entries)

    async def _refreshed(self) -> None:
        await self.refresh()
        await self.port.room(self._entries)

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

    # The backlog

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

    async def pump(self, sender: Sender) -> bool:
        """Send the next small packet of ``sender``, which is due; return False if the NIC has no
        room."""
        if self.space < SMALL_BYTES and not await self.find_room():
            return False
        await self.port.room(self._entries)
        word, *rest = sender.packets[sender.sent - sender.base]
        await self._put(sender.peer, (word | (sender.sent & 255) << 24, *rest), self._c_again)
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
        if self.space < SMALL_BYTES and not await self.find_room():
            return False
        await self.port.room(self._entries)
        await self._put(peer, (word, low, 0, 3, self.node.trace_number()), self._c_control_send)
        peer.owed = 0
        return True

    async def _put(self, peer: Peer, packet: Small, charge: Charge) -> None:
        """Put a packet that has room, as it is but for the acknowledgements; it takes
        ``charge``."""
        word, low, high, beats, number = packet
        acks = peer.expected
        self.port.begin(CONTROL, number, charge)
        self.space -= self._takes[beats]
        self._put_small(beats, peer.wire[beats],
                        word | acks[0] << 32 | acks[1] << 40 | acks[2] << 48, low, high, number)
        if self._stores:
            await self.commit()
        self.port.mark(CONTROL, END, number)

    async def probe(self, peer: Peer) -> None:
        """Ask the peer what has arrived of all packets sent. Without room the question waits until
        the next time-out."""
        self.counters["probes"] += 1
        await self.control(peer, wire.K_PROBE, peer.ask(self.port.cycle))
        self._deadline.at = min(self._deadline.at, self.port.cycle + peer.patience)
