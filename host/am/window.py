"""Flow control with one peer: three sequences of packets each way, windows, go-back-N.

How it works
------------
Requests, replies and bulk packets have sequence numbers of their own, 8 bits, that wrap. The
receiver takes only the number it expects. A later one means a loss: it is dropped and answered
with a NACK, one a round of retransmission. An earlier one is a duplicate: dropped, and
acknowledged again. Every packet carries the numbers its sender expects, so acknowledgements mostly
cost nothing; explicit ones go out at a quarter of the reply window, at each bulk chunk, and when a
node that waits has owed one for a quarter of the time-out.

A request, store or get takes one of ``am.request_window`` credits, which its reply (or data)
returns. So there are never more replies unacknowledged than credits, and since the reply window is
larger, a reply never waits: a handler cannot block, and two full windows cannot deadlock.
"""

from collections import deque
from collections.abc import Callable
from typing import Any

__all__ = ["AmError", "PeerGone", "Sender", "Peer", "Transfer"]


class AmError(Exception):
    """The program used Active Messages in a way they do not allow."""


class PeerGone(Exception):
    """A peer did not answer through ``am.retries`` time-outs in a row."""

    def __init__(self, me: int, peer: int, retries: int, timeout: int) -> None:
        super().__init__(f"node {peer} is gone: node {me} heard nothing from it through {retries} "
                         f"time-outs of {timeout} cycles (am.retries, am.retry_timeout)")
        self.peer = peer


class Transfer:
    """A bulk transfer under way: what is left to be packed into packets."""

    __slots__ = ("kind", "local", "remote", "length", "handler", "argument", "end", "earg",
                 "packed", "finished", "number")

    def __init__(self, kind: int, local: int, remote: int, length: int, handler: int, argument: int,
                 number: int, end: Callable[..., Any] | None = None, earg: Any = None) -> None:
        self.kind = kind
        self.local = local
        self.remote = remote
        self.length = length
        self.handler = handler
        self.argument = argument
        self.number = number
        self.end = end
        self.earg = earg
        self.packed = 0
        self.finished = False


Small = tuple[int, int, int, int, int]
"""A small packet kept for retransmission: header (without acknowledgements), words 1 and 2, beats,
trace number."""
Bulk = tuple[int, int, int, int, int, "Transfer | None"]
"""A bulk packet: header, word 1, address and bytes of its payload, trace number, the transfer if
this is its last packet."""


class Sender:
    """The sending end of one sequence. Counts are not wrapped; ``& 255`` goes on the wire.

    ``base`` is the oldest packet not acknowledged, ``sent`` the next to be sent, ``next`` the next
    to be made: base <= sent <= next <= base + limit.
    """

    __slots__ = ("peer", "bulk", "base", "sent", "high", "next", "limit", "packets", "progress",
                 "tries", "queued", "probed")

    def __init__(self, peer: "Peer", limit: int, bulk: bool) -> None:
        self.peer = peer
        self.bulk = bulk
        self.base = 0
        self.sent = 0
        self.high = 0
        """All before this one were sent at least once."""
        self.next = 0
        self.limit = limit
        self.packets: list[Any] = [None] * 256
        self.progress = 0
        """Cycle of the last acknowledgement, or of the first packet since there was none open."""
        self.tries = 0
        self.queued = False
        self.probed = 0

    def acknowledge(self, expected: int, now: int) -> int:
        """Take an acknowledgement, the 8-bit number expected next; how many it newly covers."""
        base = self.base
        covered = (expected - base) & 255
        if not covered or covered > self.next - base:
            return 0
        self.base = base = base + covered
        if self.sent < base:
            self.sent = base
        self.progress = now
        self.tries = 0
        return covered

    def rewind(self, now: int) -> bool:
        """Go back to the oldest open packet; whether there is one."""
        self.progress = now
        if self.base == self.next:
            return False
        self.sent = self.base
        return True


class Peer:
    """Everything a node keeps about one peer."""

    __slots__ = ("number", "wire", "bulk_wire", "credits", "request", "reply", "bulk", "senders",
                 "acked", "expected", "gaps", "gapped", "owed", "owed_since", "owing", "heard",
                 "probe_at", "silent", "gone", "bye", "transfers", "base", "received")

    def __init__(self, number: int, credits: int, replies: int, packets: int) -> None:
        self.number = number
        self.wire: tuple[int, ...] = ()
        """Wire headers of small messages, by their beats."""
        self.bulk_wire = 0
        """Wire header of a bulk packet without payload; its length is added."""
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
        """How far beyond the expected number the last packet was, 0 for none."""
        self.gapped = False
        self.owed = 0
        """Packets taken that no acknowledgement has covered yet."""
        self.owed_since = 0
        self.owing = False
        """Listed for an acknowledgement as soon as nothing else waits."""
        self.heard = 0
        """Cycle of the last packet from the peer."""
        self.probe_at = 0
        self.silent = 0
        self.gone = False
        self.bye = False
        self.transfers: deque[Transfer] = deque()
        self.base = 0
        """Of the transfer being received: where it goes, and how much has come."""
        self.received = 0

    def open(self) -> bool:
        """Whether a packet to the peer is not acknowledged, or not even sent."""
        return (self.request.base != self.request.next or self.reply.base != self.reply.next
                or self.bulk.base != self.bulk.next or bool(self.transfers))

    def give_up(self) -> None:
        """Forget all that was for the peer."""
        self.gone = True
        self.transfers.clear()
        self.owed = 0
        for sender in self.senders:
            sender.base = sender.sent = sender.next

    def misplaced(self, channel: int, distance: int) -> bool:
        """Note a packet ``distance`` (1 to 255) from the expected one; whether to send a NACK.

        One NACK a round: retransmission begins at the expected number, so a number no further than
        the one before it is the begin of a round, in which the expected one was lost again.
        """
        if distance >= 128:
            return False
        gap = self.gaps[channel]
        self.gaps[channel] = distance
        self.gapped = True
        return gap == 0 or distance <= gap
