"""What has arrived and what has not: acknowledgements, NACKs and probes, given and taken."""

from ..sent_again import Cause
from . import wire
from .bulk import Bulk
from .window import AmError, Peer

__all__ = ["Acknowledging"]

ANSWER_MASK = wire.ANSWER & 0xFFFF


class Acknowledging(Bulk):
    """Transfers, with acknowledgements."""

    def _owe(self, peer: Peer, cycle: int) -> None:
        if not peer.owed:
            peer.owed_since = cycle
            if self._deadline > cycle + self._hold:
                self._deadline = cycle + self._hold
        peer.owed += 1

    def _owe_soon(self, peer: Peer) -> None:
        """Acknowledge once nothing else waits to be handled."""
        if not peer.owing:
            peer.owing = True
            self._owing.append(peer)

    async def _pay(self, peers: list[Peer]) -> None:
        """Send the acknowledgements of the list; those without room stay owed."""
        while peers:
            peer = peers.pop(0)
            peer.owing = False
            if not peer.gone and not await self._tell(peer):
                self._owe(peer, self.port.cycle)

    async def _tell(self, peer: Peer) -> bool:
        """Acknowledge, and answer a probe if there was one; False if that has no room."""
        question = peer.question
        if question is None:
            self.counters["acks"] += 1
            return await self._control(peer, wire.K_ACK)
        peer.question = None
        if await self._control(peer, wire.K_ACK | wire.ANSWER, question):
            return True
        peer.question = question
        return False

    def _acknowledge(self, peer: Peer, acks: int) -> None:
        peer.acked = acks
        cycle = self.port.cycle
        sender = peer.request
        if acks & 255 != sender.base & 255:
            sender.acknowledge(acks & 255, cycle)
        sender = peer.reply
        if acks >> 8 & 255 != sender.base & 255:
            sender.acknowledge(acks >> 8 & 255, cycle)
        sender = peer.bulk
        if acks >> 16 & 255 != sender.base & 255:
            base = sender.base
            for packet in range(base, base + sender.acknowledge(acks >> 16 & 255, cycle)):
                transfer = sender.packets[packet & 255][5]
                if transfer is not None:
                    self._ended.append(transfer)
            if peer.transfers:
                self._queue(sender)
        if peer.samples:
            self._charge_samples(peer)

    def _charge_samples(self, peer: Peer) -> None:
        self.counters["samples"] += peer.samples
        for _ in range(peer.samples):
            self.port.spend(self._c_sample)
        peer.samples = 0

    async def _misplaced(self, peer: Peer, channel: int, sequence: int) -> None:
        """A packet out of sequence: drop it, say so."""
        self.port.spend(self._c_misplaced)
        distance = sequence - peer.expected[channel] & 255
        if distance >= 128:
            self.counters["duplicates"] += 1
            self._owe_soon(peer)
        elif peer.misplaced(channel, distance):
            self.counters["nacks"] += 1
            await self._control(peer, wire.K_NACK | channel << wire.CHANNEL)

    async def _handle_control(self, peer: Peer, kind: int, flags: int, question: int) -> None:
        cycle = self.port.cycle
        if kind == wire.K_NACK:
            sender = peer.senders[flags >> wire.CHANNEL & 3]
            if sender.rewind(cycle, Cause.NACK):
                self._queue(sender)
        elif kind == wire.K_PROBE:
            peer.question = question
            self._due.append(peer)
        elif kind == wire.K_ACK and flags & ANSWER_MASK:
            for sender in peer.answered(question, cycle):
                sender.rewind(cycle, Cause.ANSWER)
                self._queue(sender)
            self._charge_samples(peer)
        elif kind != wire.K_ACK:
            raise AmError(f"node {self.node.number} got a packet of kind {kind} from node "
                          f"{peer.number}: no such kind")
