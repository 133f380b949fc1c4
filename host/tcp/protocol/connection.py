"""A connection: what a segment, a timer or a call of the process does to it (RFC 793, as RFC 1122
corrects it).

Segments that come are given to :meth:`Connection.arrived`, time to :meth:`Connection.tick`.
Segments that go are taken by :meth:`Connection.following`, one at a time, until there is none, so
that whoever transmits them does so at its own pace. Times are cycles.
"""

from enum import Enum, auto
from typing import NamedTuple

from ...kernel.timers import FAR
from .congestion import Congestion
from .headers import ACK, FIN, HEADERS_BYTES, PSH, RST, SYN, Segment
from .incoming import Incoming
from .outgoing import Chunk, Outgoing
from .round_trip import RoundTrip
from .sequence import HALF, MASK, after, distance, plus

__all__ = ["Connection", "Ended", "Settings", "State"]

ORPHAN = 3
"""Time-outs after which a FIN is given up whose connection nobody waits for, all data being
there."""
ABANDONED = 16
"""Least time-outs for which a connection that the process has closed waits for the peer to close
it."""


class Settings(NamedTuple):
    """Of all connections of a host; times in cycles.

    ``buffer``: bytes of a socket's buffer, each way. ``chunks``: most segments in a send buffer.
    ``retries``: time-outs in a row before the peer counts as gone.
    """

    mss: int
    buffer: int
    chunks: int
    delayed_ack: int
    rto_min: int
    retries: int
    time_wait: int


class State(Enum):
    """The states of RFC 793; a listener is none."""

    SYN_SENT = auto()
    SYN_RECEIVED = auto()
    ESTABLISHED = auto()
    FIN_WAIT_1 = auto()
    FIN_WAIT_2 = auto()
    CLOSE_WAIT = auto()
    CLOSING = auto()
    LAST_ACK = auto()
    TIME_WAIT = auto()
    CLOSED = auto()


class Ended(Enum):
    """The reason for which a connection ended that was not closed by both ends."""

    RESET = "ECONNRESET"
    REFUSED = "ECONNREFUSED"
    TIMED_OUT = "ETIMEDOUT"


OPENING = (State.SYN_SENT, State.SYN_RECEIVED)
SENDING = (State.ESTABLISHED, State.CLOSE_WAIT)
RECEIVING = (State.ESTABLISHED, State.FIN_WAIT_1, State.FIN_WAIT_2)


class Connection:
    """From port ``local`` to port ``remote`` of node ``peer``; ``number``: the first sequence
    number. ``syn``: the peer's, on which it answers; None: it calls.

    Attributes
    ----------
    state
    error
        Why it ended, if not by closing.
    nodelay
        Whether short segments are sent though others are not acknowledged (Nagle's rule off).
    outgoing, incoming
        Its buffers.
    stored
        Bytes of the last segment that came which the receive buffer has taken.
    over
        Chunks that are acknowledged, for whoever has their places.
    again, why
        Segments sent again, by why: "time-out" or "duplicates"; and why the last one was.
    orphan
        The process has closed it, so that nothing more can be read.
    """

    def __init__(self, settings: Settings, local: int, peer: int, remote: int, number: int,
                 now: int, syn: Segment | None = None) -> None:
        self.settings = settings
        self.local, self.peer, self.remote = local, peer, remote
        self.state = State.SYN_SENT if syn is None else State.SYN_RECEIVED
        self.error: Ended | None = None
        self.nodelay = False
        self.stored = 0
        self.over: list[Chunk] = []
        self.again = {"time-out": 0, "duplicates": 0}
        self.why = ""
        self.orphan = False
        self.mss = settings.mss
        self.outgoing = Outgoing(settings.buffer, settings.chunks, number)
        self.incoming = Incoming(settings.buffer, 0, self.mss)
        self._congestion = Congestion(self.mss)
        self._trip = RoundTrip(settings.rto_min)
        self._timed: int | None = None
        self._timed_at = 0
        self._window = 0
        self._window_at = (0, 0)
        self._recover = number
        self._silent = 0
        self._repeat = False
        self._probe = False
        self._due = False
        """An acknowledgement goes at once."""
        self._owed = 0
        """Segments that were not acknowledged yet."""
        self._resets = False
        self._timer = FAR
        self._delayed = FAR
        self.outgoing.control(syn=True)
        if syn is not None:
            self._synchronised(syn)

    # Calls of the process

    @property
    def finished(self) -> bool:
        """Tells whether nothing will happen any more."""
        return self.state is State.CLOSED and not self._resets

    @property
    def open(self) -> bool:
        """Tells whether both ends know of each other, and none has reset it."""
        return self.state not in (*OPENING, State.CLOSED)

    @property
    def room(self) -> int:
        """Bytes that :meth:`write` takes."""
        return self.outgoing.room(self.mss) if self.state in SENDING else 0

    @property
    def writable(self) -> bool:
        """Tells whether :meth:`write` may be called with data."""
        return self.state in SENDING

    def write(self, data: bytes | memoryview) -> list[tuple[Chunk, int, int]]:
        """Send ``data``, for which there is room: their chunks, offsets and lengths."""
        return self.outgoing.append(data, self.mss)

    def read(self, count: int) -> list[bytes | memoryview]:
        """Up to ``count`` bytes that have arrived, in the blocks in which they came."""
        data = self.incoming.read(count)
        if self.state in RECEIVING and self.incoming.news:
            self._due = True
        return data

    def shutdown(self) -> None:
        """Nothing more will be written: a FIN follows what was."""
        if self.state in SENDING:
            self.outgoing.control(fin=True)
            self.state = (State.FIN_WAIT_1 if self.state is State.ESTABLISHED
                          else State.LAST_ACK)

    def close(self) -> None:
        """The process is done with it. Data that it has not read are lost to it, and the peer is
        told so by a reset (RFC 1122, 4.2.2.13)."""
        self.orphan = True
        if self.state in OPENING or self.incoming.readable and self.open:
            self.reset()
        else:
            self.shutdown()

    def reset(self) -> None:
        """End it at once; the peer is told."""
        if self.state not in (State.CLOSED, State.TIME_WAIT, State.SYN_SENT):
            self._resets = True
        self._end(None)

    # What goes

    def acknowledge(self) -> None:
        """An acknowledgement goes at once."""
        self._due = True

    def following(self, now: int) -> tuple[Segment, Chunk | None] | None:
        """The next segment to be sent now, and the chunk that it carries; None if there is none."""
        outgoing = self.outgoing
        if self._resets:
            self._resets = False
            return self._segment(RST | ACK, outgoing.next), None
        if self.state is State.CLOSED:
            return None
        if self._repeat and outgoing.flight:
            self._repeat = False
            return self._carry(outgoing.flight[0], now, "duplicates")
        if outgoing.waiting and self._may_go(outgoing.waiting[0]):
            return self._carry(outgoing.take(), now, "time-out")
        if self._probe:
            self._probe = False
            return self._segment(ACK, plus(outgoing.first, -1)), None
        if self._due:
            return self._segment(ACK, outgoing.next), None
        return None

    def _may_go(self, chunk: Chunk) -> bool:
        if chunk.syn:
            return True
        if self.state in OPENING:
            return False
        outgoing, length = self.outgoing, len(chunk.data)
        if not length:
            return True
        if outgoing.under_way + length > min(self._window, self._congestion.window):
            return False
        return (self.nodelay or chunk.sent > 0 or length >= self.mss or not outgoing.flight
                or len(outgoing.waiting) > 1)

    def _carry(self, chunk: Chunk, now: int, why: str) -> tuple[Segment, Chunk]:
        """The segment of ``chunk``; ``why`` it is sent, if it was before."""
        if chunk.sent:
            self.again[why] += 1
            self.why = why
            self._timed = None
        elif self._timed is None:
            self._timed, self._timed_at = chunk.end, now
        chunk.sent += 1
        if self._timer == FAR or len(self.outgoing.flight) == 1:
            self._timer = now + self._trip.wait
        flags = ACK | (PSH if chunk.data else 0)
        if chunk.syn:
            flags = SYN | (ACK if self.state is not State.SYN_SENT else 0)
        if chunk.fin:
            flags |= FIN
        segment = self._segment(flags, chunk.sequence)
        segment.data = chunk.data
        if chunk.syn:
            segment.mss = self.settings.mss
        return segment, chunk

    def _segment(self, flags: int, sequence: int) -> Segment:
        window = acknowledgement = 0
        if flags & ACK:
            window = min(self.incoming.window, 0xFFFF)
            acknowledgement = self.incoming.expected
            self.incoming.told(window)
            self._due, self._owed, self._delayed = False, 0, FAR
        elif flags & SYN:
            window = min(self.settings.buffer, 0xFFFF)
        return Segment(self.local, self.remote, sequence, acknowledgement, flags, window)

    # Time

    @property
    def deadline(self) -> int:
        """Tells when :meth:`tick` is to be called next; FAR: never."""
        timer, delayed = self._timer, self._delayed
        return timer if timer < delayed else delayed

    def tick(self, now: int) -> None:
        """The cycle is ``now``."""
        if self._delayed <= now:
            self._delayed = FAR
            self._due = True
        if self._timer > now:
            return
        self._timer = FAR
        if self.state in (State.TIME_WAIT, State.FIN_WAIT_2):
            self._end(None)
            return
        outgoing = self.outgoing
        self._silent += 1
        self._trip.late()
        if outgoing.flight:
            only_fin = outgoing.flight[0].fin and self.state in (State.LAST_ACK, State.CLOSING)
            if self.orphan and only_fin and self._silent > ORPHAN:
                self._end(None)
                return
            if self._silent > self.settings.retries:
                self._end(Ended.TIMED_OUT)
                return
            self._congestion.timed_out(outgoing.under_way)
            self._recover = outgoing.highest
            self._repeat = False
            outgoing.back()
        elif outgoing.waiting:
            # The peer's window is shut: it answers a probe, for as long as it lives.
            if self._silent > self.settings.retries:
                self._end(Ended.TIMED_OUT)
                return
            self._probe = True
            self._timer = now + self._trip.wait

    def _set_timer(self, now: int) -> None:
        """After a segment that has come: there is a time-out as long as an answer is missing."""
        outgoing = self.outgoing
        if self.state is State.TIME_WAIT or self.state is State.CLOSED:
            return
        if outgoing.flight:
            self._timer = now + self._trip.wait
        elif not outgoing.waiting:
            self._timer = FAR
        elif self._timer == FAR:
            self._timer = now + self._trip.wait

    def watch(self, now: int) -> None:
        """To be called when nothing more goes: what waits for the peer's window has a timer, and so
        has a connection that nobody here waits for, until the peer closes it."""
        if self._timer != FAR or self.state is State.CLOSED:
            return
        if self.outgoing.waiting and not self.outgoing.flight:
            self._timer = now + self._trip.wait
        elif self.state is State.FIN_WAIT_2 and self.orphan:
            self._timer = now + ABANDONED * self.settings.rto_min

    # What comes

    def arrived(self, segment: Segment, now: int) -> None:
        """``segment`` has come."""
        self.stored = 0
        if self.state is State.CLOSED:
            return
        if self.state is State.SYN_SENT:
            self._answered(segment, now)
            return
        if not self._acceptable(segment):
            if not segment.flags & RST:
                self._due = True
                if self.state is State.TIME_WAIT:
                    self._timer = now + self.settings.time_wait
            if segment.flags & ACK and not segment.flags & (RST | SYN):
                self._acknowledged(segment, now)
            return
        if segment.flags & RST:
            quiet = self.state in (State.TIME_WAIT, State.LAST_ACK, State.CLOSING)
            self._end(None if quiet else Ended.RESET)
            return
        if segment.flags & SYN:
            self.reset()
            self.error = Ended.RESET
            return
        if not segment.flags & ACK:
            return
        self._silent = 0
        self._acknowledged(segment, now)
        if self.state is not State.CLOSED:
            self._data(segment, now)

    def _synchronised(self, syn: Segment) -> None:
        """The peer's SYN tells where its bytes begin, and how long its segments may be."""
        if syn.mss is not None:
            self.mss = min(self.mss, max(1, syn.mss))
        self.incoming = Incoming(self.settings.buffer, plus(syn.sequence, 1), self.mss)
        self._congestion = Congestion(self.mss)
        self._window = syn.window
        self._window_at = syn.sequence, syn.acknowledgement

    def _answered(self, segment: Segment, now: int) -> None:
        """In SYN_SENT."""
        outgoing = self.outgoing
        acknowledges = segment.flags & ACK
        if acknowledges and segment.acknowledgement != outgoing.highest:
            return
        if segment.flags & RST:
            if acknowledges:
                self._end(Ended.REFUSED)
            return
        if not segment.flags & SYN:
            return
        self._synchronised(segment)
        self._silent = 0
        if acknowledges:
            self.state = State.ESTABLISHED
            self._due = True
            self._acknowledged(segment, now)
        else:
            # Both have called each other: the SYN is sent again, as an answer.
            self.state = State.SYN_RECEIVED
            outgoing.back()

    def _acceptable(self, segment: Segment) -> bool:
        """Whether a part of the segment is within the window."""
        incoming = self.incoming
        begin = segment.sequence - incoming.expected & MASK
        if begin >= HALF:
            begin -= MASK + 1
        window, span = incoming.window, segment.span
        if not span:
            return 0 <= begin <= window
        return begin < max(window, 1) and begin + span > 0

    def _acknowledged(self, segment: Segment, now: int) -> None:
        """The acknowledgement and the window in ``segment``."""
        outgoing, number = self.outgoing, segment.acknowledgement
        new = number - outgoing.first & MASK
        if new >= HALF:
            new -= MASK + 1
        if outgoing.highest - number & MASK >= HALF:
            self._due = True
            return
        if self.state is State.SYN_RECEIVED and new > 0:
            self.state = State.ESTABLISHED
        opened = self._open_window(segment, now)
        if new > 0:
            self._new_acknowledgement(number, new, now)
        elif not new and outgoing.flight and not segment.span and not opened:
            if self._congestion.duplicate(outgoing.under_way) \
                    and after(outgoing.first, self._recover):
                self._recover = outgoing.highest
                self._repeat = True

    def _open_window(self, segment: Segment, now: int) -> bool:
        """Take the window of the newest segment; whether it has changed."""
        sequence, number = self._window_at
        newer = segment.sequence - sequence & MASK
        if newer >= HALF or not newer and segment.acknowledgement - number & MASK >= HALF:
            return False
        changed = segment.window != self._window
        self._window = segment.window
        self._window_at = segment.sequence, segment.acknowledgement
        if changed:
            self._set_timer(now)
        return changed

    def _new_acknowledgement(self, number: int, new: int, now: int) -> None:
        outgoing, congestion = self.outgoing, self._congestion
        self._silent = 0
        if self._timed is not None and distance(self._timed, number) >= 0:
            self._trip.measured(now - self._timed_at)
            self._timed = None
        over = outgoing.acknowledged(number)
        self.over += over
        if not congestion.recovering:
            congestion.acknowledged(new)
        elif distance(self._recover, number) >= 0:
            congestion.recovered()
        else:
            congestion.partly(new)
            self._repeat = True
        if over and over[-1].fin:  # a FIN is the last of all
            if self.state is State.FIN_WAIT_1:
                self.state = State.FIN_WAIT_2
            elif self.state is State.CLOSING:
                self._wait(now)
            elif self.state is State.LAST_ACK:
                self._end(None)
        self._set_timer(now)

    def _data(self, segment: Segment, now: int) -> None:
        """The bytes and the FIN in ``segment``, which is no SYN."""
        data, fin = segment.data, bool(segment.flags & FIN)
        if not (data or fin):
            return
        incoming = self.incoming
        if self.state not in RECEIVING:
            self._due = True
            return
        if data and self.orphan:
            # Nobody will read them.
            self.reset()
            return
        # A part of the segment is within the window, so that this is less than half of the circle.
        room = incoming.expected + incoming.window - segment.sequence & MASK
        if len(data) > room:
            data, fin = data[:room], False
        gaps = incoming.gaps
        self.stored = len(data)
        if incoming.put(segment.sequence, data, fin) and not (gaps or incoming.gaps):
            self._owed += 1
            if self._owed > 1 or not self.settings.delayed_ack:
                self._due = True
            elif self._delayed == FAR:
                self._delayed = now + self.settings.delayed_ack
        else:
            self._due = True
        if incoming.finished:
            self._due = True
            if self.state is State.ESTABLISHED:
                self.state = State.CLOSE_WAIT
            elif self.state is State.FIN_WAIT_1:
                self.state = State.CLOSING
            else:
                self._wait(now)

    def _wait(self, now: int) -> None:
        """Both ends have closed; the peer may not know yet that this one does."""
        self.state = State.TIME_WAIT
        self._timer = now + self.settings.time_wait

    def _end(self, error: Ended | None) -> None:
        self.state = State.CLOSED
        self.error = error
        self.over += self.outgoing.clear()
        self._timer = self._delayed = FAR
        self._repeat = self._probe = self._due = False


if HEADERS_BYTES != 40:
    raise AssertionError("the maximum segment size is what two headers leave")
