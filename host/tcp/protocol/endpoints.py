"""The connections and listeners of a host: which one a segment is for."""

from collections import deque
from collections.abc import Iterator

from ...kernel.timers import FAR
from .connection import Connection, Settings, State
from .headers import ACK, RST, SYN, Segment
from .sequence import plus

__all__ = ["Endpoints", "Listener"]

FIRST, LAST = 49152, 65535
"""Ports that are given to callers."""
TICK = 256
"""Cycles after which the first sequence number of a new connection is one larger."""
APART = 64_000
"""And by how much it is larger for each connection."""


CLOSED = State.CLOSED


class Listener:
    """Takes calls at ``port``: at most ``backlog`` that are not accepted.

    Attributes
    ----------
    ready
        Connections that are open and not accepted.
    """

    def __init__(self, port: int, backlog: int) -> None:
        self.port = port
        self.backlog = backlog
        self.ready: deque[Connection] = deque()
        self.opening: list[Connection] = []

    def settle(self) -> None:
        """Connections that have become open are ready; those that failed are forgotten."""
        for connection in list(self.opening):
            if connection.state is State.SYN_RECEIVED:
                continue
            self.opening.remove(connection)
            if connection.open:
                self.ready.append(connection)


class Endpoints:
    """Of node ``node``.

    Attributes
    ----------
    bound
        Ports that sockets are bound to, of whichever process.
    """

    def __init__(self, node: int, settings: Settings) -> None:
        self.node = node
        self.settings = settings
        self.bound: set[int] = set()
        self._connections: dict[tuple[int, int, int], Connection] = {}
        self._listeners: dict[int, Listener] = {}
        self._next = FIRST
        self._made = 0

    def __iter__(self) -> Iterator[Connection]:
        return iter(list(self._connections.values()))

    def __len__(self) -> int:
        return len(self._connections)

    def taken(self, port: int) -> bool:
        """Tells whether something has ``port``."""
        return (port in self.bound or port in self._listeners
                or any(local == port for local, _, _ in self._connections))

    def free_port(self) -> int | None:
        """A port for a caller; None if all are taken."""
        for _ in range(FIRST, LAST + 1):
            port, self._next = self._next, FIRST if self._next == LAST else self._next + 1
            if not self.taken(port):
                return port
        return None

    def listen(self, port: int, backlog: int) -> Listener:
        """Take calls at ``port``, which is free."""
        listener = self._listeners[port] = Listener(port, backlog)
        return listener

    def stop(self, listener: Listener) -> list[Connection]:
        """Take no more; the connections that nobody has accepted."""
        del self._listeners[listener.port]
        return [*listener.opening, *listener.ready]

    def call(self, local: int, peer: int, remote: int, now: int) -> Connection | None:
        """A new connection to port ``remote`` of node ``peer``; None if there is one with the same
        ports."""
        if (local, peer, remote) in self._connections:
            return None
        return self._new(local, peer, remote, now)

    def _new(self, local: int, peer: int, remote: int, now: int, syn: Segment | None = None
             ) -> Connection:
        self._made += 1
        number = plus(now // TICK, self._made * APART)
        connection = Connection(self.settings, local, peer, remote, number, now, syn)
        self._connections[local, peer, remote] = connection
        return connection

    def arrived(self, peer: int, segment: Segment, now: int) -> Connection | Segment | None:
        """A segment of node ``peer``: the connection that it was for and that has handled it, or
        the answer to one that is for nobody, or nothing."""
        key = segment.destination, peer, segment.source
        connection = self._connections.get(key)
        listener = self._listeners.get(segment.destination) if self._listeners else None
        if listener is None and connection is not None:
            connection.arrived(segment, now)
            return connection
        calls = segment.flags & (SYN | ACK | RST) == SYN
        if connection is not None and not (
                calls and listener is not None and connection.state is State.TIME_WAIT):
            connection.arrived(segment, now)
            if listener is not None:
                listener.settle()
            return connection
        if listener is not None and calls:
            if len(listener.ready) + len(listener.opening) >= listener.backlog:
                return None
            if connection is not None:  # in TIME_WAIT; the new one takes its place
                connection.reset()
            connection = self._new(*key, now, segment)
            listener.opening.append(connection)
            return connection
        return _refusal(segment)

    def settle(self) -> int:
        """Forget connections that have ended; when one of the others is to be told the time next
        (:meth:`Connection.tick`), FAR if none is."""
        first, ended = FAR, []
        for key, connection in self._connections.items():
            if connection.state is CLOSED and connection.finished:
                ended.append(key)
            first = min(first, connection.deadline)
        for key in ended:
            del self._connections[key]
        return first


def _refusal(segment: Segment) -> Segment | None:
    """The reset that answers a segment for nobody (RFC 793, 3.4)."""
    if segment.flags & RST:
        return None
    if segment.flags & ACK:
        return Segment(segment.destination, segment.source, segment.acknowledgement, 0, RST)
    return Segment(segment.destination, segment.source, 0, plus(segment.sequence, segment.span),
                   RST | ACK)
