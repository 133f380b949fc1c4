"""What VIPL wants of whatever moves its data: the seam between the library and a design point.

Three stand under it: :mod:`.engine.engine` (doorbells, and the VI engine of the NIC),
:mod:`.engine.firmware` (doorbells, and firmware on the NIC's processor) and
:mod:`.trap.kernel_trap` (neither: the kernel agent drives the NIC's rings). A provider is of a
node, not of a process; the kernel agent (:mod:`.kernel`) makes it and owns it, and connections,
interrupts and the receive ring of the node are the kernel agent's.

What is the library's: argument checks, the bookkeeping in :mod:`.handles` (``entries``, ``posted``,
``seen``), the paths and marks of the calls themselves. What is the provider's: all that touches the
NIC or the consumer's memory on the way of a message, and its cost.

``port.process`` is 0, the kernel, but around the PIO of *user calls*, which set it to the caller's
number (``queue.process``) and back. *Kernel calls* find the trap already charged. A call
returns when its operations are in the port's block; only where it says "waits" has the block been
executed.
"""

from typing import Any, NamedTuple, Protocol

from ...layouts.via import Event, Reliability, ViState
from .handles import Cq, CqEntry, Ring, Vi, WorkQueue
from .regions import Region

__all__ = ["Completed", "Provider"]


class Completed(NamedTuple):
    """What the head of a work queue completed with: the words of its descriptor."""

    status: int
    """layouts.via.STATUS."""
    length: int


class Provider(Protocol):
    """A design point. Made with the node's :class:`~nicbed.host.via.kernel.Kernel`."""

    rdma: bool
    """Whether RDMA exists."""
    rdma_read: bool
    """Whether RDMA reads do, if so."""
    levels: tuple[Reliability, ...]
    """Reliability levels that a VI can have."""

    # --- Kernel calls: once a node ---------------------------------------------------------------

    async def start(self) -> None:
        """Set the NIC up, once a node, before anything else. The kernel agent has set up the
        receive ring, and afterwards enables the interrupts ``causes`` and its own."""
        ...

    causes: int
    """registers.Irq that the provider wants, beside RECEIVE."""

    # --- Kernel calls: memory --------------------------------------------------------------------

    async def register(self, region: Region) -> None:
        """Make the pages of ``region`` known to the NIC, under ``region.handle``. The agent has
        found the place in the table (``region.index``) and the pages (``region.frames``), and has
        charged ``register_page`` for each. Raises :class:`regions.NoRoom` if the design point
        cannot have it."""
        ...

    async def change(self, region: Region) -> None:
        """The region's tag or RDMA enables changed. Waits until the old ones count no more."""
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
        """Idle to connected with ``vi.peer``, over ``route``. Packets may come from then on. Waits.
        """
        ...

    async def disconnect(self, vi: Vi) -> None:
        """Any to error: what is posted completes flushed. Tells the peer if the VI was connected
        and reliable, or leaves that to the kernel agents. No event. Waits."""
        ...

    async def idle(self, vi: Vi) -> None:
        """Error to idle. Waits until both queues have completed all that was posted."""
        ...

    async def state(self, vi: Vi) -> ViState:
        """The VI's state, from the NIC. Waits."""
        ...

    async def drained(self, vi: Vi) -> bool:
        """Whether all that was posted to both queues of ``vi`` has completed. Waits."""
        ...

    async def create_cq(self, cq: Cq) -> None:
        """Begin to use ``cq.ring``, of ``cq``'s own tag. Also for a ring that takes another's
        place (``cq.old``): entries go to the one or the other, none are lost. Waits."""
        ...

    async def destroy_cq(self, cq: Cq) -> None:
        """Nothing is bound to ``cq`` any more. Waits."""
        ...

    # --- User calls: work queues -----------------------------------------------------------------

    async def post(self, queue: WorkQueue, va: int, handle: int, trace: int) -> Any:
        """Post the descriptor at ``va``, under memory handle ``handle``, to ``queue``; append it to
        ``queue.entries`` and count it in ``queue.posted``. Charges all it does. Returns a
        VIP_RETURN: ERROR_RESOURCE if the design point cannot take this descriptor (nothing was
        posted). Never refuses for what the descriptor says: that is its status' business."""
        ...

    async def done(self, queue: WorkQueue) -> Completed | None:
        """One check whether the oldest of ``queue.entries`` has completed, at the cost of one. It
        stays in the queue. Waits."""
        ...

    async def spin(self, queue: WorkQueue, cycles: int) -> Completed | None:
        """The same, checking again and again for ``cycles`` cycles: one operation of the port where
        possible. Waits."""
        ...

    async def take(self, queue: WorkQueue) -> None:
        """The oldest of ``queue.entries``, done, is about to be handed to the consumer: put into
        its memory what the NIC did not, if anything. ``queue`` still has it."""
        ...

    async def arm(self, queue: WorkQueue) -> None:
        """Ask for an interrupt (event SEND_DONE or RECEIVE_DONE) once more than ``queue.seen``
        descriptors have completed: at once, if they have."""
        ...

    # --- User calls: completion queues -----------------------------------------------------------

    async def cq_done(self, cq: Cq) -> CqEntry | None:
        """One check for an entry; taken, if there is one, and counted in its ring. An
        entry in the new ring ends the old one: what is in that is put into ``cq.backlog`` first,
        the new one behind it, and the first of it returned. Waits."""
        ...

    async def cq_spin(self, cq: Cq, cycles: int) -> CqEntry | None:
        """The same, checking for ``cycles`` cycles. Waits."""
        ...

    def empty(self, cq: Cq, ring: Ring) -> None:
        """Move what is in ``ring``, the old one of ``cq``, to ``cq.backlog``."""
        ...

    async def cq_arm(self, cq: Cq) -> None:
        """Ask for an interrupt (event CQ_READY) once the ring has had more than ``cq.ring.seen``
        entries."""
        ...

    # --- Interrupts ------------------------------------------------------------------------------

    async def events(self) -> list[tuple[Event, int]]:
        """In the kernel's interrupt handler: what happened since the last time, as (event, number
        of the VI or completion queue), oldest first. Waits."""
        ...

    def deadline(self) -> int:
        """The cycle in which :meth:`tick` is due; :data:`channel.FAR` if nothing can be late."""
        ...

    async def tick(self) -> None:
        """See to what is late, if anything is, and charge the timer's interrupt then."""
        ...

    async def packet(self, header: int, slot: int, trace: int) -> None:
        """A packet of Protocol.VIA came in over the receive ring: its wire header, and the physical
        address of its receive slot (completion word, header, payload). In the handler, too. The
        slot is given back afterwards."""
        ...
