"""The interface between VIPL and a design point, which moves the data.

There are three design points: :mod:`.engine.engine` (doorbells, and the VI engine of the NIC),
:mod:`.engine.firmware` (doorbells, and firmware on the NIC's processor) and
:mod:`.trap.kernel_trap` (neither: the kernel agent drives the NIC's rings). A provider belongs to a
node, not to a process. The kernel agent (:mod:`.kernel`) makes and owns it, and also owns the
node's connections, interrupts and receive ring. What a program calls for each message are two
objects that the provider holds, :class:`.Posts` and :class:`.Queues`.

The library does the argument checks, the bookkeeping in :mod:`.handles` (``entries``, ``posted``,
``seen``), and the paths and marks of the calls themselves. The provider does everything on the path
of a message that touches the NIC or the consumer's memory, and charges its cost.

``port.process`` is 0, the kernel, except around the PIO of *user calls*, which set it to the
caller's number (``queue.process``) and back. Before *kernel calls* the trap has been charged
already. A call returns when its operations are in the port's block. Only calls that are documented
with "Waits" return after the block has been executed.
"""

from typing import Protocol

from ...layouts.via import Event, Reliability, ViState
from .handles import Cq, Vi, WorkQueue
from .posts import Posts
from .queues import Queues
from .regions import Region

__all__ = ["Provider", "Timeouts"]


class Timeouts(Protocol):
    """Deadlines of a provider that has timers in the kernel."""

    def deadline(self) -> int:
        """The cycle in which :meth:`tick` is due; :data:`.timers.FAR` if no deadline is open."""
        ...

    async def tick(self) -> None:
        """Handle time-outs that have passed, if any, and then charge the timer's interrupt."""
        ...


class Provider(Protocol):
    """A design point. Made with the node's :class:`~nicbed.host.via.kernel.Kernel`."""

    rdma: bool
    """Whether RDMA is supported."""
    rdma_read: bool
    """Whether RDMA reads are supported."""
    levels: tuple[Reliability, ...]
    """Reliability levels that a VI can have."""

    # --- Kernel calls: once a node ---------------------------------------------------------------

    async def start(self) -> None:
        """Set the NIC up, once for each node, before anything else. The kernel agent has set up the
        receive ring; afterwards it enables the interrupts ``causes`` and its own."""
        ...

    causes: int
    """Interrupts (registers.Irq) that the provider needs besides RECEIVE."""

    # --- Kernel calls: memory --------------------------------------------------------------------

    async def register(self, region: Region) -> None:
        """Make the pages of ``region`` known to the NIC, under ``region.handle``. The agent has
        found the place in the table (``region.index``) and the pages (``region.frames``), and has
        charged ``register_page`` for each. Raises :class:`regions.NoRoom` if the design point
        cannot register the region."""
        ...

    async def change(self, region: Region) -> None:
        """The region's tag or RDMA enables have changed. Waits until the old ones are no longer in
        use."""
        ...

    async def deregister(self, region: Region) -> None:
        """Waits until no access under the region's handle can happen any more."""
        ...

    # --- Kernel calls: VIs and completion queues -------------------------------------------------

    async def create_vi(self, vi: Vi) -> None:
        """Closed to idle, with ``vi.attributes`` and the CQs of its queues. Waits."""
        ...

    async def destroy_vi(self, vi: Vi) -> None:
        """Idle to closed; both queues are empty. Waits."""
        ...

    async def change_vi(self, vi: Vi) -> None:
        """The attributes of an idle VI have changed. Waits."""
        ...

    async def connect(self, vi: Vi, route: int, max_transfer: int) -> None:
        """Idle to connected with ``vi.peer``, over ``route``. Packets may arrive from then on.
        Waits."""
        ...

    async def disconnect(self, vi: Vi) -> None:
        """Any to error: posted descriptors complete as flushed. Informs the peer if the VI was
        connected and reliable, or leaves this to the kernel agents. No event. Waits."""
        ...

    async def idle(self, vi: Vi) -> None:
        """Error to idle. Waits until both queues have completed all posted descriptors."""
        ...

    async def state(self, vi: Vi) -> ViState:
        """The VI's state, from the NIC. Waits."""
        ...

    def quiet(self, vi: Vi) -> bool:
        """Tells whether what was sent arrives without this CPU: the NIC sees to it, or the peer has
        acknowledged it, or has been silent for so long that it must have ended."""
        ...

    async def drained(self, vi: Vi) -> bool:
        """Tells whether all descriptors posted to both queues of ``vi`` have completed. Waits."""
        ...

    async def create_cq(self, cq: Cq) -> None:
        """Begin to use ``cq.ring``, which has ``cq``'s own tag. Also for a ring that replaces
        another one (``cq.old``): each entry goes to one of the two, and none is lost. Waits."""
        ...

    async def destroy_cq(self, cq: Cq) -> None:
        """End the use of ``cq``, to which no queue is bound any more. Waits."""
        ...

    # --- User calls ------------------------------------------------------------------------------

    @property
    def posts(self) -> Posts:
        """Posts descriptors."""
        ...

    @property
    def queues(self) -> Queues:
        """Checks work queues and completion queues."""
        ...

    async def arm(self, queue: WorkQueue) -> None:
        """Request an interrupt (event SEND_DONE or RECEIVE_DONE) when more than ``queue.seen``
        descriptors have completed; at once if they have."""
        ...

    async def cq_arm(self, cq: Cq) -> None:
        """Request an interrupt (event CQ_READY) when the ring has had more than ``cq.ring.seen``
        entries."""
        ...

    # --- Interrupts ------------------------------------------------------------------------------

    async def events(self) -> list[tuple[Event, int]]:
        """In the kernel's interrupt handler: events since the last call, as (event, number of the
        VI or completion queue), oldest first. Waits."""
        ...

    @property
    def timers(self) -> Timeouts | None:
        """Its deadlines; None if it has none."""
        ...

    async def packet(self, header: int, slot: int, trace: int) -> None:
        """A packet of Protocol.VIA has arrived over the receive ring: its wire header, and the
        physical address of its receive slot (completion word, header, payload). Called in the
        handler, too. The slot is given back afterwards."""
        ...
