"""What VIPL's handles stand for: NICs, protection tags, VIs and their work queues, completion
queues. Plain records: the calls and the provider keep them up to date."""

from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from ...layouts.via import ViState
from .attributes import ViAttributes

if TYPE_CHECKING:
    from .process import Process
    from .regions import Region

__all__ = ["Cq", "Nic", "Peer", "Posted", "Ptag", "Vi", "WorkQueue"]


class Nic:
    """A NIC that ``process`` opened."""

    __slots__ = ("process", "name", "open", "error_handler", "error_context")

    def __init__(self, process: "Process", name: str) -> None:
        self.process = process
        self.name = name
        self.open = True
        self.error_handler: Callable[..., Any] | None = None
        self.error_context: Any = None


class Ptag:
    """A protection tag: what holds it is counted in ``users``."""

    __slots__ = ("nic", "number", "users", "valid")

    def __init__(self, nic: Nic, number: int) -> None:
        self.nic = nic
        self.number = number
        self.users = 0
        self.valid = True


class Posted(NamedTuple):
    """A descriptor in a work queue.

    ``status`` is the physical address of the word with its Length and Status, as the consumer's
    CPU reads it; 0 if the descriptor is in no memory of the process. ``shadow``: what the provider
    keeps beside it."""

    va: int
    handle: int
    status: int
    trace: int
    shadow: Any = None


class Peer(NamedTuple):
    """The other end of a connection. ``connection`` numbers it, at either end alike."""

    node: int
    vi: int
    connection: int


class WorkQueue:
    """One of a VI's two queues.

    Attributes
    ----------
    number
        2 * VI, + 1 for the receive queue.
    entries
        Posted, and not handed back to the consumer, oldest first.
    posted, seen
        Descriptors posted, and completions taken, since the VI was created: modulo 65536 what the
        NIC counts.
    handlers
        Notifies asked for and not yet called: (handler, context).
    signalled
        An interrupt told of a completion since the queue was armed last.
    """

    __slots__ = ("vi", "receive", "number", "cq", "entries", "posted", "seen", "handlers",
                 "signalled", "armed", "doorbell", "private")

    def __init__(self, vi: "Vi", receive: bool, cq: "Cq | None") -> None:
        self.vi = vi
        self.receive = receive
        self.number = 2 * vi.number + receive
        self.cq = cq
        self.entries: deque[Posted] = deque()
        self.posted = 0
        self.seen = 0
        self.handlers: deque[tuple[Callable[..., Any], Any]] = deque()
        self.signalled = False
        self.armed = False
        self.doorbell = 0
        self.private: Any = None
        """The provider's."""


class Vi:
    """A VI.

    Attributes
    ----------
    state
        As far as the kernel agent knows: events of the NIC change it.
    pending
        A connection is being made: VIPL's state is then CONNECT_PENDING.
    lost
        Descriptors were posted that the NIC could not read or complete: what of the queues never
        completes in memory is flushed.
    """

    __slots__ = ("nic", "number", "attributes", "state", "pending", "peer", "send", "receive",
                 "lost", "private")

    def __init__(self, nic: Nic, number: int, attributes: ViAttributes, send_cq: "Cq | None",
                 receive_cq: "Cq | None") -> None:
        self.nic = nic
        self.number = number
        self.attributes = attributes
        self.state = ViState.IDLE
        self.pending = False
        self.peer: Peer | None = None
        self.send = WorkQueue(self, False, send_cq)
        self.receive = WorkQueue(self, True, receive_cq)
        self.lost = False
        self.private: Any = None


class Cq:
    """A completion queue.

    Attributes
    ----------
    entries
        What was asked for; ``ring`` is what there is, a power of two and more than that.
    region
        Where the ring is.
    places
        Physical addresses of the ring's entries, a page a piece: entry i is word
        ``i % per_page`` of ``places[i // per_page]``.
    seen, told
        Entries taken, and taken as far as the NIC knows.
    users
        Work queues bound to it.
    backlog
        Entries taken out of the ring and not yet handed out.
    """

    __slots__ = ("nic", "number", "entries", "ring", "region", "places", "seen", "told", "users",
                 "backlog", "handlers", "signalled", "armed", "page", "slack", "old", "valid",
                 "private")

    def __init__(self, nic: Nic, number: int, entries: int) -> None:
        self.nic = nic
        self.number = number
        self.entries = entries
        self.ring = 0
        self.slack = 0
        self.region: Region | None = None
        self.places: list[int] = []
        self.seen = 0
        self.told = 0
        self.users = 0
        self.backlog: deque[tuple[int, bool]] = deque()
        self.handlers: deque[tuple[Callable[..., Any], Any]] = deque()
        self.signalled = False
        self.armed = False
        self.page = 0
        """CPU address of its page at the NIC."""
        self.old: Cq | None = None
        """The ring before a resize, as long as the NIC may have written to it last."""
        self.valid = True
        self.private: Any = None
