"""Flow control with one peer: three sequences of packets each way, windows, go-back-N.

How it works
------------
Requests, replies and bulk packets have sequence numbers of their own, 8 bits, that wrap. The
receiver takes only the number it expects. A later one means a loss: it is dropped and answered
with a NACK, one a round of retransmission. An earlier one is a duplicate: dropped, and
acknowledged again. Every packet carries the numbers its sender expects, so acknowledgements mostly
cost nothing; explicit ones go out at a quarter of the reply window, at each bulk chunk, and when a
node that waits has owed one for a quarter of ``am.retry_timeout``, or 2,000 cycles if that is more.

A time-out sends no packet again; it sends a probe. All packets between two nodes take one path,
which keeps their order. So the answer says for certain which packets sent before the probe have
arrived. The others were lost, and the sender goes back to the first of them. A probe also follows
packets that are sent again, and finds those that were lost a second time. If a probe or its answer
is lost, the next time-out sends another probe. So only lost packets are sent again, however short
the time-out is.

The time-out is ``am.retry_timeout`` until one has passed. From then on the round trip to the peer
is measured, by one packet at a time and by each probe's answer, which carries the time of its
probe. The time-out is then Jacobson's, the mean plus four times the mean deviation, if that is
longer than ``am.retry_timeout``; when it no longer is, measuring ends. Once a packet to a peer was
lost, the time-out stays Jacobson's even if it is shorter, because each loss that no later packet
reveals costs a time-out, and a probe costs only a packet. Each time-out doubles the next one until
the round trip has been measured again (Karn's rule): packets sent again are not timed. The three
sequences share one path, so they share the estimate.

A request, store or get takes one of ``am.request_window`` credits, which its reply (or data)
returns. So there are never more replies unacknowledged than credits, and since the reply window is
larger, a reply never waits: a handler cannot block, and two full windows cannot deadlock.

With ``am.credit`` = ack the acknowledgement of a request, or of a store's last packet, returns the
credit, and a handler that does not reply causes no packet of its own; a get's credit still comes
back with its data. Without losses the reply is there before the acknowledgement of a later packet,
so replies still fit in their window. If replies were lost and their requests acknowledged by other
packets, the receiver drops a request for whose reply it has no room, as if the network had lost it.
A node's last request, K_BYE, is answered by a null reply: all its replies have arrived before that.
"""

from collections import deque
from collections.abc import Callable
from typing import Any

from ...layouts.am import QUESTION
from ..kernel.jacobson import Jacobson
from ..port.sent_again import Cause

__all__ = ["AmError", "PeerGone", "Sender", "Small", "Peer", "Transfer"]

NONE = 1 << 62
"""No packet."""
SENT_REPLY, SENT_BULK = QUESTION.offset("sent_reply"), QUESTION.offset("sent_bulk")
CYCLE_AT = QUESTION.offset("cycle")
CYCLE = QUESTION.mask("cycle") >> CYCLE_AT


class AmError(Exception):
    """The program broke a rule of Active Messages."""


class PeerGone(Exception):
    """A peer did not answer during ``am.retries`` time-outs in a row. Its program has ended, or it
    looked for messages all the time, so that the network loses them."""

    def __init__(self, me: int, peer: int, retries: int, timeout: int) -> None:
        super().__init__(f"node {peer} is gone: node {me} heard nothing from it through {retries} "
                         f"time-outs, the first of {timeout} cycles (am.retries, "
                         "am.retry_timeout)")
        self.peer = peer


class Transfer:
    """A bulk transfer under way: the part that is not yet packed into packets."""

    __slots__ = ("kind", "local", "remote", "length", "handler", "argument", "end",
                 "packed", "finished", "number")

    def __init__(self, kind: int, local: int, remote: int, length: int, handler: int, argument: int,
                 number: int, end: Callable[[], Any] | None = None) -> None:
        self.kind = kind
        self.local = local
        self.remote = remote
        self.length = length
        self.handler = handler
        self.argument = argument
        self.number = number
        self.end = end
        self.packed = 0
        self.finished = False


Small = tuple[int, int, int, int, int]
"""A small packet: header without sequence number and acknowledgements, words 1 and 2, beats, trace
number."""
Bulk = tuple[int, int, int, int, int, "Transfer | None"]
"""A bulk packet: header, word 1, address and bytes of its payload, trace number, the transfer if
this is its last packet."""


class Sender:
    """The sending end of one sequence. Counts do not wrap; the wire carries ``count & 255``.

    ``base`` is the oldest packet not acknowledged, ``sent`` the next to be sent, ``next`` the next
    to be made: base <= sent <= next <= base + limit.
    """

    __slots__ = ("peer", "bulk", "base", "sent", "high", "next", "limit", "packets", "progress",
                 "queued", "timed", "timed_at", "back_at", "cause", "doubted",
                 "mark", "taken")

    def __init__(self, peer: "Peer", limit: int, bulk: bool) -> None:
        self.peer = peer
        self.bulk = bulk
        self.base = 0
        self.sent = 0
        self.high = 0
        """All packets before this one were sent at least once."""
        self.next = 0
        self.limit = limit
        self.packets: deque[Any] = deque()
        """The packets from ``base`` on, up to ``next``: :data:`Small` or :data:`Bulk`."""
        self.progress = 0
        """Cycle of the last acknowledgement, or of the first packet sent when none was open."""
        self.queued = False
        self.timed = NONE
        """The packet whose round trip is being measured."""
        self.timed_at = 0
        """When that packet was sent, or could have been sent."""
        self.back_at = 0
        """Cycle in which this sequence last went back."""
        self.cause = Cause.NACK
        """Why it last went back."""
        self.doubted = False
        """Whether to send a probe as soon as all packets have been sent again."""
        self.mark = 0
        """Bulk packets only: the NIC's count of taken packets once it has taken the last of
        these."""
        self.taken = 0
        """That count when a time-out last read it."""

    def acknowledge(self, expected: int, now: int) -> list[Any]:
        """Handle an acknowledgement, the 8-bit number expected next; return the packets that it
        newly covers."""
        base = self.base
        count = (expected - base) & 255
        if not count or count > self.next - base:
            return []
        self.base = base = base + count
        packets = self.packets
        covered = ([packets.popleft()] if count == 1  # mostly
                   else [packets.popleft() for _ in range(count)])
        if self.sent < base:
            self.sent = base
        if base > self.timed:
            self.peer.measured(now - self.timed_at)
            self.time(now)
        self.progress = now
        return covered

    def time(self, now: int) -> None:
        """Measure a round trip by the next new packet, as long as the peer's time-out follows round
        trips."""
        self.timed = self.next if self.peer.follows else NONE
        self.timed_at = now

    def rewind(self, now: int, cause: Cause) -> bool:
        """Go back to the oldest open packet; return whether there is one."""
        self.progress = now
        self.cause = cause
        if self.base == self.next:
            return False
        self.sent = self.base
        self.back_at = now
        self.doubted = True
        self.peer.lossy = True
        self.peer.follow(now)
        if self.timed < self.next:
            self.time(now)
        return True


class Peer:
    """All state that a node keeps about one peer."""

    __slots__ = ("number", "wire", "bulk_wire", "watched", "credits", "request", "reply", "bulk",
                 "senders", "acked", "expected", "gaps", "gapped", "owed", "owed_since", "owing",
                 "heard", "question", "late_at", "least", "trip", "follows", "samples",
                 "patience", "lossy", "silent", "retries", "lost", "gone", "bye", "unanswered",
                 "transfers", "base", "received")

    def __init__(self, number: int, credits: int, replies: int, packets: int, timeout: int,
                 retries: int) -> None:
        self.number = number
        self.wire: tuple[int, ...] = ()
        """Wire headers of small messages, by their beats."""
        self.bulk_wire = 0
        """Wire header of a bulk packet without payload; the payload's length is added."""
        self.watched = False
        """Whether the peer is in the list of :class:`~.deadline.Deadline`."""
        self.credits = credits
        self.request = Sender(self, credits + 1, False)
        self.reply = Sender(self, replies, False)
        self.bulk = Sender(self, packets, True)
        self.senders = (self.request, self.reply, self.bulk)
        self.acked = 0
        """The last three acknowledgements seen from the peer, as they are in the header."""
        self.expected = [0, 0, 0]
        """Sequence number expected next, by channel."""
        self.gaps = [0, 0, 0]
        """Distance of the last packet from the expected number, 0 for none."""
        self.gapped = False
        self.owed = 0
        """Packets received that no acknowledgement covers yet."""
        self.owed_since = 0
        self.owing = False
        """Whether the peer is listed for an acknowledgement when no other message waits."""
        self.heard = 0
        """Cycle of the last packet from the peer."""
        self.question: int | None = None
        """Word 1 of a probe that is to be answered."""
        self.late_at = 0
        """Cycle of the last time-out."""
        self.least = timeout
        self.trip = Jacobson()
        self.follows = False
        """Whether the time-out follows the round trip, which is then measured."""
        self.samples = 0
        """Measured round trips for which the CPU has not been charged yet."""
        self.patience = timeout
        """The time-out: cycles without progress, or since the last time-out."""
        self.lossy = False
        """Whether a packet to the peer was lost."""
        self.silent = 0
        """Time-outs in a row since the peer was last heard."""
        self.retries = retries
        self.lost = 0
        """Of these, time-outs in which it looked for messages."""
        self.gone = False
        self.bye = False
        self.unanswered = 0
        """Requests and stores to the peer that no reply came to. It counts where their
        acknowledgements return credits."""
        self.transfers: deque[Transfer] = deque()
        self.base = 0
        """The transfer being received: its destination, and the bytes received."""
        self.received = 0

    def open(self) -> bool:
        """Tells whether a packet to the peer is not acknowledged, or not yet sent."""
        return (self.request.base != self.request.next or self.reply.base != self.reply.next
                or self.bulk.base != self.bulk.next or bool(self.transfers))

    def may_reply(self) -> bool:
        """Tells whether a reply of the peer may still come, though nothing else is expected of
        it."""
        return self.unanswered > 0 and not self.bye and not self.gone

    def measured(self, cycles: int) -> None:
        """Take a sample of the round trip. After more than ``am.retries`` time-outs in a row it is
        the time for which the peer's program made no call, and none of the network's."""
        if self.silent > self.retries:
            return
        self.samples += 1
        self.patience = self.trip.measured(cycles)
        if self.patience <= self.least and not self.lossy:
            self.patience = self.least
            self.trip.forget()
            self.follows = False

    def follow(self, now: int) -> None:
        """Measure the round trip from now on."""
        if not self.follows:
            self.follows = True
            for sender in self.senders:
                sender.time(now)

    def late(self, now: int, most: int, listened: bool) -> None:
        """Note that a time-out has passed, in which the peer ``listened`` or not. The next one is
        twice as long, up to ``most``, and follows the round trip from now on. A time-out shorter
        than ``am.retry_timeout`` does not count as silence of the peer."""
        if self.patience >= self.least:
            if self.heard > self.late_at:
                self.silent = self.lost = 0
            self.silent += 1
            self.lost += listened
        self.late_at = now
        self.patience = max(self.patience, min(2 * self.patience, most))
        self.follow(now)

    def ask(self, now: int) -> int:
        """Word 1 of a probe that is sent now."""
        return (self.request.sent & 255 | (self.reply.sent & 255) << SENT_REPLY
                | (self.bulk.sent & 255) << SENT_BULK | (now & CYCLE) << CYCLE_AT)

    def answered(self, question: int, now: int) -> list[Sender]:
        """Handle an answer to a probe, after its acknowledgements; return the senders that lost
        packets. The answer does not count for a sender that went back after the probe."""
        age = now - (question >> CYCLE_AT) & CYCLE
        self.measured(age)
        return [sender for sender, place in zip(self.senders, (0, SENT_REPLY, SENT_BULK),
                                                strict=True)
                if sender.back_at <= now - age
                and 0 < (question >> place) - sender.base & 255 <= sender.sent - sender.base]

    def give_up(self) -> None:
        """Discard all packets for the peer."""
        self.gone = True
        self.transfers.clear()
        self.owed = 0
        for sender in self.senders:
            sender.base = sender.sent = sender.next
            sender.packets.clear()

    def misplaced(self, channel: int, distance: int) -> bool:
        """Note a packet ``distance`` (1 to 255) from the expected one; return whether to send a
        NACK.

        One NACK is sent in each round of retransmission. A round begins at the expected number. So
        a distance that is not larger than the last one shows a new round, in which the expected
        packet was lost again.
        """
        if distance >= 128:
            return False
        gap = self.gaps[channel]
        self.gaps[channel] = distance
        self.gapped = True
        return gap == 0 or distance <= gap
