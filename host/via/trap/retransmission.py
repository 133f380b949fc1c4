"""Kernel-trap design point: acknowledgements, time-outs and retransmission."""

from ....layouts.via import Event, PacketKind, Status, ViState
from ...kernel.timers import FAR
from ...port.sent_again import Cause, SentAgain
from .completing import Completing
from .ends import End
from .messages import Messages
from .packets import Packets
from .trap_context import TrapContext

__all__ = ["Retransmission"]

SEQUENCE = 0xFF
"""Mask of the sequence number in a probe's word: the next packet when the probe was sent. The bits
above are the probe's number."""
NUMBER_AT = 8
NUMBERS = 1 << 24


class Retransmission:
    """Handles acknowledgements of packets, and sends probes for missing ones.

    Attributes
    ----------
    again
        The packets sent again, by peer and cause.
    """

    def __init__(self, context: TrapContext, packets: Packets, completing: Completing,
                 messages: Messages) -> None:
        node = context.node
        self.again = SentAgain(context.port, "VIA in the kernel", node.number)
        self._port = context.port
        self._prices = context.prices
        self._retries = node.description.via.retries
        self._ends = context.ends
        self._ring = context.ring
        self._timers = context.timers
        self._counters = context.counters
        self._packets = packets
        self._completing = completing
        self._messages = messages

    async def acknowledged(self, end: End, sequence: int, again: bool,
                           question: int | None) -> None:
        """All packets before ``sequence`` have arrived; ``again``: and packet ``sequence`` is
        missing. ``question``: word of the probe that this answers."""
        self._port.spend(self._prices.acknowledged)
        slots = end.slots
        end.silent = 0
        if not slots:
            return
        oldest = slots[0].sequence
        count = sequence - oldest & 255
        if count > len(slots):
            return
        if count:
            if end.timed is not None and end.timed - oldest & 255 < count:
                end.trip.measured(self._port.cycle - end.timed_at)
                end.timed = None
            for _ in range(count):
                self._packets.drop(slots.popleft())
            self._timers.watch(end)
            await self._messages.finish(end)
        if end.state is not ViState.CONNECTED:
            return
        if again:
            await self._resend(end, Cause.NACK)
        elif question is not None and self._was_lost(end, sequence, question):
            await self._resend(end, Cause.ANSWER)

    def _was_lost(self, end: End, sequence: int, question: int) -> bool:
        """Whether a packet was lost that was sent before the probe, and not again since."""
        number = question >> NUMBER_AT
        return (0 < (number - end.heeded) % NUMBERS <= (end.asked - end.heeded) % NUMBERS
                and 0 < (question - sequence & SEQUENCE) <= len(end.slots))

    async def _resend(self, end: End, cause: Cause) -> None:
        """Go back to the oldest packet that is not acknowledged, and send a probe behind it."""
        assert end.vi.peer is not None
        for packet in list(end.slots):
            if not await self._ring.room():
                break
            self._port.spend(self._prices.again)
            self._counters["resent"] += 1
            self.again.note(end.vi.peer.node, cause)
            await self._packets.put(packet)
        end.heeded, end.timed = end.asked, None
        await self._probe(end)
        self._timers.watch(end)

    async def _probe(self, end: End) -> None:
        """Ask what has arrived."""
        self._counters["probes"] += 1
        end.asked = (end.asked + 1) % NUMBERS
        await self._packets.tell(end, PacketKind.PROBE, end.sequence,
                                 end.asked << NUMBER_AT | end.sequence)

    async def late(self) -> None:
        """Check every deadline; note the next."""
        cycle = self._port.cycle
        for end in list(self._ends.values()):
            if end.deadline == FAR:
                continue
            self._port.spend(self._prices.timer)
            if end.deadline > cycle:
                continue
            self._counters["timeouts"] += 1
            end.silent += 1
            if end.silent < self._retries:
                end.trip.late()
                await self._probe(end)
                self._timers.watch(end)
            else:
                await self._messages.fail(end, Status.TRANSPORT)
                await self._completing.break_(end, Event.CONN_LOST)
        self._timers.look()
