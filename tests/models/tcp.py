"""Two hosts of TCP with a network between them that loses, doubles, spoils and reorders packets;
and an end alone, to which segments come one by one."""

import heapq
import random
from collections.abc import Callable
from typing import Any

from nicbed.host.tcp.protocol.connection import Connection, Settings, State
from nicbed.host.tcp.protocol.endpoints import Endpoints
from nicbed.host.tcp.protocol.headers import ACK, SYN, BadPacket, Segment, pack, parse
from nicbed.host.tcp.protocol.sequence import plus

__all__ = ["OWN", "SETTINGS", "Hosts", "come", "drain", "opened"]

SETTINGS = Settings(mss=100, buffer=1000, chunks=24, delayed_ack=200, rto_min=1000, retries=30,
                    time_wait=20_000)
FLIGHT = 50
IDLE = 100
OWN = 7000
"""The first sequence number of an end alone."""


class Hosts:
    """Nodes 0 and 1. ``rates``: of "drop", "duplicate", "corrupt", "delay". Every packet is packed
    and parsed. ``lose(source, segment)``: whether to lose this one, beside chance.

    Attributes
    ----------
    seen
        All segments that were sent: (cycle, node, segment).
    bad
        Why packets were dropped on arrival.
    """

    def __init__(self, settings: Settings = SETTINGS, seed: int = 0,
                 lose: Callable[[int, Segment], bool] = lambda source, segment: False,
                 others: Settings | None = None, **rates: float) -> None:
        self.now = 0
        self.ends = [Endpoints(0, settings), Endpoints(1, others or settings)]
        self.seen: list[tuple[int, int, Segment]] = []
        self.bad: list[str] = []
        self.lose = lose
        self._random = random.Random(seed)
        self._rates = rates
        self._events: list[tuple[int, int, int, bytes]] = []
        self._count = 0

    def chance(self, what: str) -> bool:
        return self._random.random() < self._rates.get(what, 0)

    def transmit(self, source: int, peer: int, segment: Segment) -> None:
        self.seen.append((self.now, source, segment))
        packet = bytearray(pack(source, peer, segment, self._count) + segment.data)
        if self.lose(source, segment) or self.chance("drop"):
            return
        if self.chance("corrupt"):
            at = self._random.randrange(len(packet))
            packet[at] ^= 1 << self._random.randrange(8)
        for _ in range(1 + self.chance("duplicate")):
            late = self._random.randrange(40 * FLIGHT) if self.chance("delay") else 0
            self._count += 1
            heapq.heappush(self._events, (self.now + FLIGHT + late, self._count, peer,
                                          bytes(packet)))

    def settle(self) -> None:
        """All that can be sent now is sent."""
        for node, ends in enumerate(self.ends):
            for connection in ends:
                while (found := connection.following(self.now)) is not None:
                    self.transmit(node, connection.peer, found[0])
                connection.watch(self.now)
                connection.over.clear()
            ends.settle()

    def step(self) -> bool:
        """Go on to the next packet or time-out; whether there was one."""
        self.settle()
        times = [connection.deadline for ends in self.ends for connection in ends]
        timer = min(times, default=1 << 62)
        packet = self._events[0][0] if self._events else 1 << 62
        if min(timer, packet) >= 1 << 62:
            return False
        if packet <= timer:
            self.now, _, node, data = heapq.heappop(self._events)
            try:
                peer, segment = parse(data, node)
            except BadPacket as error:
                self.bad.append(str(error))
                return True
            answer = self.ends[node].arrived(peer, segment, self.now)
            if isinstance(answer, Segment):
                self.transmit(node, peer, answer)
        else:
            self.now = max(self.now, timer)
            for ends in self.ends:
                for connection in ends:
                    connection.tick(self.now)
        return True

    def until(self, condition: Callable[[], Any], limit: int = 20_000) -> None:
        """Steps until ``condition()`` holds, which may itself do something."""
        idle = 0
        for _ in range(limit):
            self.settle()
            if condition():
                return
            idle = 0 if self.step() else idle + 1
            assert idle < IDLE, "nothing can happen any more"
        raise AssertionError(f"not within {limit} steps")

    def pair(self, port: int = 80) -> tuple[Connection, Connection]:
        """An open connection from node 0 to node 1: its ends."""
        listener = self.ends[1].listen(port, 1)
        caller = self.ends[0].call(1000, 1, port, self.now)
        assert caller is not None
        self.until(lambda: caller.open and listener.ready)
        answerer = listener.ready.popleft()
        self.ends[1].stop(listener)
        return caller, answerer


def opened(start: int = 0, window: int = 500, settings: Settings = SETTINGS) -> Connection:
    """An open connection whose peer's next byte is ``start``."""
    syn = Segment(1000, 80, plus(start, -1), 0, SYN, window)
    connection = Connection(settings, 80, 1, 1000, OWN, 0, syn)
    drain(connection)
    connection.arrived(Segment(1000, 80, start, OWN + 1, ACK, window), 10)
    assert connection.state is State.ESTABLISHED
    drain(connection)
    return connection


def drain(connection: Connection, now: int = 10) -> list[Segment]:
    """What goes now."""
    gone = []
    while (found := connection.following(now)) is not None:
        gone.append(found[0])
    return gone


def come(connection: Connection, flags: int, far: int, data: bytes = b"", window: int = 500,
         acknowledges: int = OWN + 1, now: int = 20) -> None:
    """A segment that begins ``far`` bytes beyond what is expected."""
    connection.arrived(Segment(1000, 80, plus(connection.incoming.expected, far), acknowledges,
                               flags, window, data), now)
