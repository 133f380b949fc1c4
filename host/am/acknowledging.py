"""Acknowledgements, NACKs and probes, sent and received."""

from ..port.sent_again import Cause
from . import wire
from .bulk_sending import BulkSending
from .costs import Prices
from .deadline import Deadline
from .sending import Sending
from .window import AmError, Peer

__all__ = ["Acknowledging"]

ANSWER_MASK = wire.ANSWER & 0xFFFF
KIND = 15
HOLD = 2000
"""Cycles for which an acknowledgement may always wait for a packet that can carry it."""


class Acknowledging:
    """Sends acknowledgements of received packets through ``sending``, and handles received ones,
    also those for ``bulk``.

    Attributes
    ----------
    hold
        Most cycles for which an acknowledgement is owed.
    owing
        Peers to acknowledge when no other message waits to be handled.
    due
        Peers to acknowledge when the current message has been handled.
    """

    __slots__ = ("hold", "owing", "due", "_port", "_sending", "_bulk", "_deadline", "_counters",
                 "_acks_return", "_c_misplaced", "_c_sample")

    def __init__(self, sending: Sending, bulk: BulkSending, deadline: Deadline,
                 counters: dict[str, int]) -> None:
        self.hold = max(sending.node.description.am.retry_timeout >> 2, HOLD)
        self.owing: list[Peer] = []
        self.due: list[Peer] = []
        self._port = sending.port
        self._sending = sending
        self._bulk = bulk
        self._deadline = deadline
        self._counters = counters
        self._acks_return = sending.node.description.am.credit == "ack"
        prices = sending.node.service(Prices)
        self._c_misplaced = prices.check_misplaced
        self._c_sample = prices.sample

    def owe(self, peer: Peer, cycle: int) -> None:
        """Note that a packet received at ``cycle`` must be acknowledged after ``hold`` cycles at
        the latest."""
        if not peer.owed:
            if not peer.watched:
                self._deadline.watch(peer)
            peer.owed_since = cycle
            if self._deadline.at > cycle + self.hold:
                self._deadline.at = cycle + self.hold
        peer.owed += 1

    def owe_soon(self, peer: Peer) -> None:
        """Acknowledge when no other message waits to be handled."""
        if not peer.owing:
            peer.owing = True
            self.owing.append(peer)

    async def pay(self, peers: list[Peer]) -> None:
        """Send the acknowledgements of the list. Those for which there is no room stay owed."""
        while peers:
            peer = peers.pop(0)
            peer.owing = False
            if not peer.gone and not await self.tell(peer):
                self.owe(peer, self._port.cycle)

    async def tell(self, peer: Peer) -> bool:
        """Acknowledge, and answer a probe if there was one; return False if there is no room."""
        question = peer.question
        if question is None:
            self._counters["acks"] += 1
            return await self._sending.control(peer, wire.K_ACK)
        peer.question = None
        if await self._sending.control(peer, wire.K_ACK | wire.ANSWER, question):
            return True
        peer.question = question
        return False

    def acknowledge(self, peer: Peer, acks: int) -> None:
        """Handle the acknowledgements that a packet of ``peer`` carries."""
        new = acks ^ peer.acked
        peer.acked = acks
        cycle = self._port.cycle
        if new & 255:
            covered = peer.request.acknowledge(acks & 255, cycle)
            if self._acks_return:
                peer.credits += sum(packet[0] & KIND == wire.K_REQUEST for packet in covered)
        if new & 0xFF00:
            peer.reply.acknowledge(acks >> 8 & 255, cycle)
        if new & 0xFF_0000:
            sender = peer.bulk
            for *_, transfer in sender.acknowledge(acks >> 16 & 255, cycle):
                if transfer is not None:
                    self._bulk.ended.append(transfer)
                    if self._acks_return and transfer.kind == wire.K_STORE:
                        peer.credits += 1
            if peer.transfers:
                self._sending.queue(sender)
        if peer.samples:
            self._charge_samples(peer)

    def _charge_samples(self, peer: Peer) -> None:
        self._counters["samples"] += peer.samples
        for _ in range(peer.samples):
            self._port.spend(self._c_sample)
        peer.samples = 0

    async def misplaced(self, peer: Peer, channel: int, sequence: int) -> None:
        """Drop a packet that is out of sequence, and report this to its sender."""
        self._port.spend(self._c_misplaced)
        distance = sequence - peer.expected[channel] & 255
        if distance >= 128:
            self._counters["duplicates"] += 1
            self.owe_soon(peer)
        elif peer.misplaced(channel, distance):
            self._counters["nacks"] += 1
            await self._sending.control(peer, wire.K_NACK | channel << wire.CHANNEL)

    def refuses(self, peer: Peer) -> bool:
        """Tells whether a packet that may be replied to must be dropped, because the reply window
        is full. So it is if acknowledgements return credits, and replies were lost whose requests
        have been acknowledged; the packet counts as lost, too."""
        reply = peer.reply
        if reply.next - reply.base < reply.limit:
            return False
        self._port.spend(self._c_misplaced)
        self._counters["refused"] += 1
        return True

    async def control(self, peer: Peer, kind: int, flags: int, question: int) -> None:
        """Handle a packet without sequence number: an acknowledgement, a NACK or a probe."""
        cycle = self._port.cycle
        if kind == wire.K_NACK:
            sender = peer.senders[flags >> wire.CHANNEL & 3]
            if sender.rewind(cycle, Cause.NACK):
                self._sending.queue(sender)
        elif kind == wire.K_PROBE:
            peer.question = question
            if not peer.watched:
                self._deadline.watch(peer)
            self.due.append(peer)
        elif kind == wire.K_ACK and flags & ANSWER_MASK:
            for sender in peer.answered(question, cycle):
                sender.rewind(cycle, Cause.ANSWER)
                self._sending.queue(sender)
            self._charge_samples(peer)
        elif kind != wire.K_ACK:
            raise AmError(f"node {self._sending.node.number} got a packet of kind {kind} from node "
                          f"{peer.number}: no such kind")
