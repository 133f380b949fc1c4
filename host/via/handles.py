"""The objects behind VIPL's handles: VIs and their work queues, completion queues, and (of
:mod:`.tags`) NICs and protection tags. Plain records that the calls and the provider keep up to
date."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from ...layouts.trace import Activity
from ...layouts.via import CQ_PAGES, DOORBELL_PAGES, PAGE, Doorbell, ViState
from .attributes import ViAttributes
from .regions import Region
from .returns import ErrorCode
from .tags import Nic, Ptag

__all__ = ["Cq", "CqEntry", "ErrorDescriptor", "Nic", "Peer", "Posted", "Ptag", "Ring", "Vi",
           "WorkQueue"]


@dataclass(slots=True, eq=False)
class Posted:
    """A descriptor in a work queue.

    ``status`` is the physical address of the word with its Length and Status that the consumer's
    CPU reads. ``counted``: whether the NIC counts its completion. ``shadow``: the provider's own
    data for it."""

    va: int
    handle: int
    status: int
    trace: int
    counted: bool = True
    shadow: Any = None


class Peer(NamedTuple):
    """The other end of a connection. ``connection`` is the connection's number, the same at both
    ends."""

    node: int
    vi: int
    connection: int


CqEntry = tuple[int, bool]
"""An entry of a completion queue: the number of a VI, and whether its receive queue has a
completion, or its send queue."""


class WorkQueue:
    """One of a VI's two queues.

    Attributes
    ----------
    number
        2 * VI, + 1 for the receive queue.
    entries
        Descriptors posted and not handed back to the consumer, oldest first.
    posted, seen
        Descriptors posted, and completions taken, since the VI was created. Modulo 65536 they are
        the NIC's counts.
    handlers
        Requested notifies that were not called yet: (handler, context).
    doorbell, arming
        CPU addresses at the NIC.
    known
        What the provider keeps of descriptors that were posted, by address and memory handle.
    post, complete
        As what a post to it is marked, and a check that finds a completion.
    """

    __slots__ = ("vi", "process", "receive", "number", "cq", "entries", "posted", "seen",
                 "handlers", "doorbell", "arming", "known", "post", "complete")

    def __init__(self, vi: "Vi", receive: bool, cq: "Cq | None") -> None:
        self.vi = vi
        self.process = vi.nic.process.number
        self.receive = receive
        self.number = 2 * vi.number + receive
        self.cq = cq
        self.entries: deque[Posted] = deque()
        self.posted = 0
        self.seen = 0
        self.handlers: deque[tuple[Callable[..., Any], Any]] = deque()
        page = vi.nic.process.node.nic_address(DOORBELL_PAGES) + vi.number * PAGE
        self.doorbell = page + (Doorbell.RECEIVE if receive else Doorbell.SEND)
        self.arming = page + (Doorbell.ARM_RECEIVE if receive else Doorbell.ARM_SEND)
        self.known: dict[tuple[int, int], tuple[int, int, int, bool]] = {}
        self.post = int(Activity.POST_RECEIVE if receive else Activity.POST_SEND)
        self.complete = int(Activity.RECEIVE_COMPLETE if receive else Activity.SEND_COMPLETE)


class Vi:
    """A VI.

    Attributes
    ----------
    state
        The state known to the kernel agent; events of the NIC change it.
    pending
        A connection is being made: VIPL's state is then CONNECT_PENDING.
    lost
        Whether descriptors were posted that the NIC could not read or complete. Descriptors that
        never complete in memory are flushed at the latest when the VI is disconnected.
    """

    __slots__ = ("nic", "number", "attributes", "state", "pending", "peer", "send", "receive",
                 "lost", "open", "private")

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
        self.open = True
        self.private: Any = None


class Ring:
    """The memory of a completion queue: ``size`` entries of 8 bytes, a power of two.

    Attributes
    ----------
    region
        The registered region that holds the memory.
    places
        Physical addresses of its pieces: entry i is word ``i % per_place`` of
        ``places[i // per_place]``.
    seen, told
        Entries taken, and the number of taken entries last reported to the NIC.
    slack
        How far the two may be apart before the NIC finds the ring full too early.
    """

    __slots__ = ("region", "places", "size", "seen", "told", "slack", "per_place")

    def __init__(self, region: Region, places: list[int], size: int, slack: int) -> None:
        self.region = region
        self.places = places
        self.size = size
        self.slack = slack
        self.per_place = region.process.page_bytes // 8
        self.seen = 0
        self.told = 0

    def next(self) -> tuple[int, int]:
        """Physical address and phase of the next entry."""
        seen, size = self.seen, self.size
        index, each = seen & size - 1, self.per_place
        return self.places[index // each] + 8 * (index & each - 1), 0 if seen & size else 1


class Cq:
    """A completion queue.

    Attributes
    ----------
    entries
        The requested number of entries; the ring has more.
    old
        The ring before a resize, as long as it may hold entries that the NIC wrote.
    users
        Work queues bound to it.
    backlog
        Entries taken out of a ring and not yet handed out.
    """

    __slots__ = ("nic", "process", "number", "entries", "ring", "old", "users", "backlog",
                 "handlers", "page", "open", "private")

    def __init__(self, nic: Nic, number: int, entries: int, ring: Ring) -> None:
        self.nic = nic
        self.process = nic.process.number
        self.number = number
        self.entries = entries
        self.ring = ring
        self.old: Ring | None = None
        self.users = 0
        self.backlog: deque[CqEntry] = deque()
        self.handlers: deque[tuple[Callable[..., Any], Any]] = deque()
        self.page = nic.process.node.nic_address(CQ_PAGES) + number * PAGE
        """CPU address of its page in the NIC."""
        self.open = True
        self.private: Any = None
        """Data of the provider."""


@dataclass(frozen=True, slots=True)
class ErrorDescriptor:
    """Argument of an error callback: the error and its VI (CATASTROPHIC: none)."""

    code: ErrorCode
    vi: Vi | None
