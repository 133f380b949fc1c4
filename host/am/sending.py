"""Small packets and control packets out: sequence numbers, room in the send window."""

from ...layouts.operations import BLOCK
from ...layouts.registers import address
from . import wire
from .state import BEGIN, CONTROL, END, REPLY_SEND, SMALL_BYTES, State
from .window import Peer, Sender

__all__ = ["SEND_SPACE", "Sending"]

SEND_SPACE = address("send_space")


class Sending(State):
    """The state, with injection of small packets."""

    def _launch(self, peer: Peer, sender: Sender, word: int, low: int, high: int, beats: int,
                number: int) -> None:
        """Give a small packet its sequence number, keep it, and send it if nothing is in its way.
        The block must have room."""
        sequence = sender.next
        word |= (sequence & 255) << 24
        sender.packets[sequence & 255] = (word, low, high, beats, number)
        sender.next = sequence + 1
        if sequence == sender.base:
            sender.progress = cycle = self.port.cycle
            if self._deadline > cycle + self._timeout:
                self._deadline = cycle + self._timeout
        if sender.sent == sequence and self._space >= SMALL_BYTES and not self._held:
            sender.sent = sender.high = sequence + 1
            expected = peer.expected
            self.port.put_write(
                wire.WINDOW, beats, peer.wire[beats],
                word | expected[0] << 32 | expected[1] << 40 | expected[2] << 48, low, high, number)
            self._space -= 8 * beats
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

    async def _refresh(self) -> None:
        """Ask the NIC how much room the send window has."""
        port = self.port
        port.spend(self._c_space)
        if port.count == BLOCK:
            await port.executed
        port.put_read(SEND_SPACE)
        await port.executed
        self._space = port.data

    async def _pump_small(self, sender: Sender) -> bool:
        """Send the small packets of ``sender`` that are due; False if the window has no room."""
        port, peer = self.port, sender.peer
        while sender.sent < sender.next:
            if self._space < SMALL_BYTES:
                await self._refresh()
                if self._space < SMALL_BYTES:
                    return False
            if port.count == BLOCK:
                await port.executed
            word, low, high, beats, number = sender.packets[sender.sent & 255]
            port.mark(CONTROL, BEGIN, number)
            port.spend(self._c_again)
            acks = peer.expected
            port.put_write(wire.WINDOW, beats, peer.wire[beats],
                           word | acks[0] << 32 | acks[1] << 40 | acks[2] << 48, low, high, number)
            port.mark(CONTROL, END, number)
            self._space -= 8 * beats
            sender.sent += 1
            peer.owed = 0
            if sender.sent > sender.high:
                sender.high = sender.sent
            else:
                self.counters["resent"] += 1
        return True

    async def _control(self, peer: Peer, word: int) -> bool:
        """Send a packet without sequence number; False if it has no room."""
        port = self.port
        if self._space < SMALL_BYTES:
            await self._refresh()
            if self._space < SMALL_BYTES:
                return False
        if port.count == BLOCK:
            await port.executed
        number = self.node.trace_number()
        port.mark(CONTROL, BEGIN, number)
        port.spend(self._c_control_send)
        acks = peer.expected
        port.put_write(wire.WINDOW, 3, peer.wire[3],
                       word | acks[0] << 32 | acks[1] << 40 | acks[2] << 48, 0, 0, number)
        port.mark(CONTROL, END, number)
        self._space -= 24
        peer.owed = 0
        return True
