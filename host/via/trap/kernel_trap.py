"""The provider for a NIC without doorbells and VI engine: the kernel agent moves the data.

Posting traps into the kernel. The kernel copies the descriptor, and for a send the data, from the
consumer's buffers into its own. It cuts the data into packets as the engine would, and puts them
into the NIC's send ring. It copies received data from the receive ring into the consumer's buffers,
and writes statuses and completion queue entries into the consumer's memory. So o_s of a send and
o_r of a receive grow with the message.

When the kernel runs
--------------------
- in a posting call, as long as the VI's window, the kernel's buffers (``via.send_slots``) and the
  send ring have room. It never waits there: the remaining packets are sent when the kernel is
  entered again.
- in a check of a queue (VipRecvDone and similar calls). The library looks at the head's status and,
  in a page that it may read, at the receive ring's next completion word, and enters the kernel only
  if the head is not done and there is a packet, a time-out is due, or something waits for room that
  the NIC has made. It handles up to 8 packets then.
- on the receive ring's interrupt and on its timer's, in blocking calls, during computation
  (Vipl.compute) and at the end of all other calls. In a call that posts or has found a completion
  it handles up to two packets. The others wait for the next call that posts or finds nothing. So
  the program gets its completions, and sends, however many packets arrive.

A node whose program computes in another way does not answer meanwhile, although nothing was lost.
So a time-out sends a PROBE, whose answer says what was lost, and only lost packets are sent again.
Time-outs follow the measured round trips and double each time (up to sixteen times
``via.retry_timeout``). ``via.retries`` time-outs in a row without a packet from the peer break the
connection.

Its parts, each of which knows only those before it: :mod:`.costs`, :mod:`.memory`
(protection, copies), :mod:`~nicbed.host.nic.send_ring`, :mod:`.ends` (what is kept of a VI),
:mod:`.timers`, :mod:`.trap_context` (all of these), :mod:`.packets`, :mod:`.completing`,
:mod:`.messages`, :mod:`.turns` (which VI sends next), :mod:`.retransmission`, :mod:`.receiving`,
:mod:`.entering`, :mod:`.trap_posts`, :mod:`.trap_queues`.
"""

from collections.abc import Awaitable, Callable

from ....layouts.registers import Irq
from ....layouts.via import DONE_WORD, Event, Reliability, ViState
from ...nic.receive_ring import ReceiveRing
from ...port.node import Node
from ..agent.memory_queues import MemoryQueues
from ..costs import Prices
from ..handles import Cq, Vi, WorkQueue
from ..records import Records
from ..regions import Region
from .completing import Completing
from .ends import CqState, End
from .entering import Entering
from .messages import Messages
from .packets import Packets
from .receiving import Receiving
from .retransmission import Retransmission
from .trap_context import TrapContext
from .trap_posts import TrapPosts
from .trap_queues import TrapQueues
from .turns import Turns

__all__ = ["KernelTrap"]

SILENT = 3
"""A peer that is waited for at the end alone is taken to have ended after this many time-outs in a
row without a packet."""


class KernelTrap:
    """See :class:`~nicbed.host.via.provider.Provider`. ``event`` is called with each event;
    ``call`` calls the waiting handlers.

    Attributes
    ----------
    ends
        The kernel's state of each VI, by its number.
    counters
        unmatched, duplicates, gaps, dropped, malformed, sent, resent, timeouts, probes.
    again
        The packets ``resent``, by peer and cause.
    """

    rdma = True
    rdma_read = True
    levels = tuple(Reliability)
    causes: int = Irq(0)

    def __init__(self, node: Node, records: Records, ring: ReceiveRing,
                 event: Callable[[Event, int], Awaitable[None]],
                 call: Callable[[], Awaitable[None]]) -> None:
        context = TrapContext.of(node, records.regions)
        self.ends = context.ends
        self.counters = context.counters
        self._port = node.port
        self._memory = node.memory
        self._paths = node.service(Prices)
        self._prices = context.prices
        self._timeout = node.description.via.retry_timeout
        self._ring = context.ring
        self._packets = packets = Packets(context)
        self._completing = completing = Completing(context, packets)
        messages = Messages(context, packets, completing)
        self._turns = turns = Turns(context, packets, messages)
        retransmission = Retransmission(context, packets, completing, messages)
        self._receiving = Receiving(context, packets, completing, messages, turns, retransmission)
        self.timers = self._entering = entering = Entering(
            context, ring, packets, completing, turns, retransmission, event)
        self._memory_queues = memory_queues = MemoryQueues(node, self._consumed)
        self.posts = TrapPosts(context, memory_queues, completing, turns, entering)
        self.queues = TrapQueues(context, ring, memory_queues, packets, entering, call)
        self.again = retransmission.again

    async def start(self) -> None:
        self._memory_queues.start()
        await self._ring.start()

    # Memory: the kernel looks it up in its own records

    async def register(self, region: Region) -> None:
        """No entries to write."""

    async def change(self, region: Region) -> None:
        """No old entries to revoke."""

    async def deregister(self, region: Region) -> None:
        """No entries to revoke."""

    # VIs

    async def create_vi(self, vi: Vi) -> None:
        self._port.spend(self._paths.command)
        vi.private = self.ends[vi.number] = End(vi, self._timeout)

    async def destroy_vi(self, vi: Vi) -> None:
        self._port.spend(self._paths.command)
        del self.ends[vi.number]

    async def change_vi(self, vi: Vi) -> None:
        self._port.spend(self._paths.command)

    async def connect(self, vi: Vi, route: int, max_transfer: int) -> None:
        self._port.spend(self._paths.command)
        end: End = vi.private
        end.reset()
        end.route, end.max_transfer = route, max_transfer
        end.state = ViState.CONNECTED

    async def disconnect(self, vi: Vi) -> None:
        self._port.spend(self._paths.command)
        await self._completing.end_connection(vi.private, True)
        await self._entering.tell()

    async def idle(self, vi: Vi) -> None:
        """No packet of the old connection may reach the next one."""
        self._port.spend(self._paths.command)
        await self._ring.settle()
        vi.private.state = ViState.IDLE

    async def state(self, vi: Vi) -> ViState:
        state: ViState = vi.private.state
        return state

    def quiet(self, vi: Vi) -> bool:
        end: End = vi.private
        return end.state is not ViState.CONNECTED or not end.slots or end.silent >= SILENT

    async def drained(self, vi: Vi) -> bool:
        end: End = vi.private
        return (end.send.completed == vi.send.posted
                and end.receive.completed == vi.receive.posted)

    # Completion queues

    async def create_cq(self, cq: Cq) -> None:
        self._port.spend(self._paths.command)
        armed = cq.private is not None and cq.private.armed
        cq.private = CqState(cq.ring, armed)

    async def destroy_cq(self, cq: Cq) -> None:
        self._port.spend(self._paths.command)
        cq.private = None

    def _consumed(self, cq: Cq) -> None:
        """The kernel reads how far a ring was emptied in a page that it shares."""
        self._port.spend(self._prices.consumed)
        cq.ring.told = cq.ring.seen

    # Interrupts

    async def arm(self, queue: WorkQueue) -> None:
        self._port.spend(self._paths.arm)
        end: End = queue.vi.private
        if queue.entries and self._memory.word(queue.entries[0].status) & DONE_WORD:
            self._completing.happened.append(
                (Event.RECEIVE_DONE if queue.receive else Event.SEND_DONE, queue.vi.number))
        else:
            (end.receive if queue.receive else end.send).armed = True

    async def cq_arm(self, cq: Cq) -> None:
        self._port.spend(self._paths.arm)
        if cq.private.tail > cq.ring.seen:
            self._completing.happened.append((Event.CQ_READY, cq.number))
        else:
            cq.private.armed = True

    async def events(self) -> list[tuple[Event, int]]:
        return self._completing.events()

    async def packet(self, header: int, slot: int, trace: int) -> None:
        await self._receiving.arrive(header, slot, trace)
        if self._packets.starved:
            await self._turns.feed()
        if self._completing.happened:
            await self._entering.tell()
