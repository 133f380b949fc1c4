"""Small packets and control packets out: sequence numbers, room on the way to the NIC."""

from . import wire
from .state import BEGIN, CONTROL, END, REPLY_SEND, SMALL_BYTES, State
from .window import Peer, Sender

__all__ = ["Sending"]


class Sending(State):
    """The state, with injection of small packets."""

    def _launch(self, peer: Peer, sender: Sender, word: int, low: int, high: int, beats: int,
                number: int) -> None:
        """Give a small packet its sequence number, keep it, and send it if nothing is in its way.
        The block must have room; :meth:`_commit` follows if there are ``_stores``."""
        sequence = sender.next
        word |= (sequence & 255) << 24
        sender.packets[sequence & 255] = (word, low, high, beats, number)
        sender.next = sequence + 1
        if sequence == sender.base:
            sender.progress = cycle = self.port.cycle
            if sender.timed == sequence:
                sender.timed_at = cycle
            if self._deadline > cycle + peer.patience:
                self._deadline = cycle + peer.patience
        if sender.sent == sequence and self._space >= SMALL_BYTES and not self._held:
            sender.sent = sender.high = sequence + 1
            expected = peer.expected
            self._space -= self._inject(
                peer.wire[beats], word | expected[0] << 32 | expected[1] << 40 | expected[2] << 48,
                low, high, beats, number)
            peer.owed = 0
        else:
            self._queue(sender)

    def _null_reply(self, peer: Peer) -> None:
        port = self.port
        number = self.node.trace_number()
        port.mark(REPLY_SEND, BEGIN, number)
        port.spend(self._c_null_reply)
        self._launch(peer, peer.reply, wire.K_NULL, 0, 0, 3, number)
        port.mark(REPLY_SEND, END, number)
        self._replied = True

    async def _commit(self) -> None:
        """Write what was to be stored by the block's last entry."""
        await self.port.executed
        for address, data in self._stores:
            self.memory.write(address, data)
        self._stores.clear()

    async def _refresh(self) -> None:
        """Ask how much room small packets have."""
        self._space = await self._way.room()

    async def _find_room(self) -> bool:
        """The same for what goes out in no call of the program's; whether a small packet has
        room."""
        self.port.mark(CONTROL, BEGIN, 0)
        await self._refresh()
        self.port.mark(CONTROL, END, 0)
        return self._space >= SMALL_BYTES

    async def _pump_small(self, sender: Sender) -> bool:
        """Send the next small packet of ``sender``, which is due; False if the window has no room.
        """
        port, peer = self.port, sender.peer
        if self._space < SMALL_BYTES and not await self._find_room():
            return False
        if port.count > self._full:
            await port.executed
        word, low, high, beats, number = sender.packets[sender.sent & 255]
        port.mark(CONTROL, BEGIN, number)
        port.spend(self._c_again)
        acks = peer.expected
        self._space -= self._inject(
            peer.wire[beats], word | acks[0] << 32 | acks[1] << 40 | acks[2] << 48, low, high,
            beats, number)
        if self._stores:
            await self._commit()
        port.mark(CONTROL, END, number)
        sender.sent += 1
        peer.owed = 0
        if sender.sent > sender.high:
            sender.high = sender.sent
        else:
            self.counters["resent"] += 1
            self.again.note(peer.number, sender.cause)
        return True

    async def _control(self, peer: Peer, word: int, low: int = 0) -> bool:
        """Send a packet without sequence number; False if it has no room."""
        port = self.port
        if self._space < SMALL_BYTES and not await self._find_room():
            return False
        if port.count > self._full:
            await port.executed
        number = self.node.trace_number()
        port.mark(CONTROL, BEGIN, number)
        port.spend(self._c_control_send)
        acks = peer.expected
        self._space -= self._inject(
            peer.wire[3], word | acks[0] << 32 | acks[1] << 40 | acks[2] << 48, low, 0, 3, number)
        if self._stores:
            await self._commit()
        port.mark(CONTROL, END, number)
        peer.owed = 0
        return True

    async def _probe(self, peer: Peer) -> None:
        """Ask what has arrived of all that was sent. Without room the question is put off to the
        next time-out."""
        self.counters["probes"] += 1
        await self._control(peer, wire.K_PROBE, peer.ask(self.port.cycle))
        self._deadline = min(self._deadline, self.port.cycle + peer.patience)
