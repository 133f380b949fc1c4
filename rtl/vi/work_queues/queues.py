"""Work queues: the number of descriptors posted to each, and the address of the next one."""

from typing import Any

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import data, memory, stream, wiring
from amaranth.lib.wiring import In, Out

from ....layouts.via import QUEUE_BITS, VI_BITS, Event, ViState
from ...parts.block_ram import BlockRam
from ...parts.round_robin import RoundRobin
from ...parts.sizes import check_power_of_two, check_vis
from ..types import Address, Break, ContextRead, Control, ControlAction, CountsRead, Take, Token

__all__ = ["WorkQueues"]

POSTED_BITS = 16
TAKERS = 2


class WorkQueues(wiring.Component):
    """The 2 * ``vis`` work queues: counts of posted descriptors, and the oldest one's address.

    Descriptors are linked in memory by software. For each queue this block keeps only the head, and
    ``pending``, the number of tokens whose descriptors have not been taken.

    - ``token`` sets the head of a queue without pending descriptors. In any other queue it only
      counts and its address is ignored, because the head comes from the Next of the descriptor
      before. A token to a CLOSED VI is dropped. A token that finds ``depth`` pending is not
      counted, and breaks the VI with VI_OVERRUN unless it is in ERROR already.
    - ``take`` answers with the head and decrements the count at once. If more are pending
      (``follow``), the head is unknown until the taker gives ``link``; another take of that queue
      is answered only after that. A queue of a CLOSED VI is empty.
    - ``link`` with ``lost``: the pending descriptors cannot be found any more and are dropped; the
      count of posted ones decreases by their number. A link that nobody waits for is ignored.
    - ``control`` CREATE empties both queues of the VI and counts from zero; the others do nothing.

    Every accepted token wakes its queue if it is a send queue or the VI is in ERROR. The wake-up
    follows the count, so that the woken block finds the descriptor.

    Latency: an operation is answered, and its effect is visible to later ones, in the cycle after
    it was taken; the same holds for a wake-up or a break. Throughput: an operation a cycle over all
    ports, which are served round robin; a port waits for at most 6 others. Back-pressure: tokens
    wait while a wake-up or break is not taken; a second take at a port while the first waits for a
    link. Reset: nothing is under way; queues mean nothing before CREATE.

    Parameters
    ----------
    vis : :class:`int`
        VIs: a power of two, 2 to 4096.
    depth : :class:`int`
        Pending descriptors a queue may have: a power of two, 2 to 32768.

    Members
    -------
    token : ``In(stream of Token)``
        Accepted doorbells.
    take : ``In(Take).array(2)``
        Sender, receiver.
    control : ``In(stream of Control)``
        The manager.
    context : ``Out(ContextRead)``
        States.
    wake : ``Out(stream of QUEUE_BITS)``
        To the scheduler.
    break_ : ``Out(stream of Break)``
        VI_OVERRUN.
    posted : ``In(CountsRead)``
        Descriptors posted. Zero for a VI of number ``vis`` or above.
    idle : ``Out(1)``
        Nothing under way, nothing requested.

    Raises
    ------
    TypeError
        A parameter is not an integer.
    ValueError
        A parameter breaks its rule.
    """

    def __init__(self, *, vis: int, depth: int) -> None:
        check_vis(vis)
        check_power_of_two("depth", depth, most=1 << 15)
        self._vis = vis
        self._depth = depth
        super().__init__({
            "token": In(stream.Signature(Token)),
            "take": In(Take).array(TAKERS),
            "control": In(stream.Signature(Control)),
            "context": Out(ContextRead),
            "wake": Out(stream.Signature(QUEUE_BITS)),
            "break_": Out(stream.Signature(Break)),
            "posted": In(CountsRead),
            "idle": Out(1),
        })

    @property
    def vis(self) -> int:
        """VIs."""
        return self._vis

    @property
    def depth(self) -> int:
        """Pending descriptors a queue may have."""
        return self._depth

    def elaborate(self, platform: object) -> Module:
        m = Module()
        takers = range(TAKERS)
        record = data.StructLayout({
            "pending": (self._depth).bit_length(),
            "known": 1,
            "address": Address,
            "posted": POSTED_BITS,
        })

        # First stage: one of the ports is served, its queue's record and VI's context are read.
        m.submodules.arbiter = arbiter = RoundRobin(count=2 + 2 * TAKERS)
        does = Signal()
        at = Signal(QUEUE_BITS)
        given = Signal(Address)
        is_token, is_link, is_lost, is_create = (
            Signal(name=f"is_{name}") for name in ("token", "link", "lost", "create"))
        is_take = Signal(TAKERS)
        queue = Signal(QUEUE_BITS)
        address = Signal(Address)
        lost = Signal()
        create = Signal()
        # A take that found the head unknown and is repeated.
        parked = Signal(TAKERS)
        parked_queue = [Signal(QUEUE_BITS, name=f"parked_queue_{n}") for n in takers]
        wakes = Signal()
        breaks = Signal()
        may_token = Signal()
        grant_control, grant_token, *grants = arbiter.grant
        grant_take, grant_link = grants[:TAKERS], grants[TAKERS:]

        # Not while an answer of that port is under way, because it may have to be repeated.
        asks = [(take.request.valid | parked[n]) & ~(does & is_take[n])
                for n, take in enumerate(self.take)]
        m.d.comb += [
            may_token.eq(~((self.wake.valid & ~self.wake.ready)
                           | (self.break_.valid & ~self.break_.ready))),
            arbiter.requests.eq(Cat(self.control.valid, self.token.valid & may_token, *asks,
                                    *(take.link.valid for take in self.take))),
            arbiter.advance.eq(1),
            self.control.ready.eq(grant_control),
            self.token.ready.eq(grant_token),
            self.context.vi.eq(queue[1:]),
        ]
        with m.If(grant_control):
            m.d.comb += [
                queue.eq(self.control.payload.vi << 1),
                create.eq(self.control.payload.action == ControlAction.CREATE),
            ]
        with m.If(grant_token):
            m.d.comb += [queue.eq(self.token.payload.queue),
                         address.eq(self.token.payload.address)]
        for n, take in enumerate(self.take):
            with m.If(grant_take[n]):
                m.d.comb += [
                    queue.eq(Mux(parked[n], parked_queue[n], take.request.payload)),
                    take.request.ready.eq(~parked[n]),
                ]
            with m.If(grant_link[n]):
                m.d.comb += [
                    queue.eq(take.link.payload.queue),
                    address.eq(take.link.payload.address),
                    lost.eq(take.link.payload.lost),
                    take.link.ready.eq(1),
                ]

        # Second stage: the record is changed and written back.
        m.d.sync += does.eq(arbiter.requests.any())
        with m.If(arbiter.requests.any()):
            m.d.sync += [
                at.eq(queue), given.eq(address), is_token.eq(grant_token),
                is_take.eq(Cat(grant_take)), is_link.eq(Cat(grant_link).any()), is_lost.eq(lost),
                is_create.eq(create),
            ]

        new = Signal(record)
        changes = Signal()
        old = self._records(m, record, reads=arbiter.requests.any(), queue=queue, at=at, new=new,
                            changes=changes, clears=does & is_create)

        state = self.context.data.state
        m.d.comb += new.eq(old)
        parks = Signal()
        empty = Signal()
        with m.If(does):
            m.d.comb += empty.eq((old.pending == 0) | (state == ViState.CLOSED))
            with m.If(is_token & (state != ViState.CLOSED)):
                with m.If(old.pending == self._depth):
                    # A VI that floods after a break must not block the manager for other VIs.
                    m.d.comb += breaks.eq(state != ViState.ERROR)
                with m.Else():
                    m.d.comb += [
                        changes.eq(1),
                        new.pending.eq(old.pending + 1),
                        new.posted.eq(old.posted + 1),
                        wakes.eq(~at[0] | (state == ViState.ERROR)),
                    ]
                    with m.If(old.pending == 0):
                        m.d.comb += [new.address.eq(given), new.known.eq(1)]
            with m.If(is_take.any() & ~empty):
                with m.If(old.known):
                    m.d.comb += [
                        changes.eq(1),
                        new.pending.eq(old.pending - 1),
                        new.known.eq(0),
                    ]
                with m.Else():
                    m.d.comb += parks.eq(1)
            with m.If(is_link & ~empty & ~old.known):
                m.d.comb += changes.eq(1)
                with m.If(is_lost):
                    m.d.comb += [new.pending.eq(0), new.posted.eq(old.posted - old.pending)]
                with m.Else():
                    m.d.comb += [new.known.eq(1), new.address.eq(given)]

        for n, take in enumerate(self.take):
            with m.If(does & is_take[n]):
                m.d.comb += [
                    take.valid.eq(~parks),
                    take.found.eq(~empty),
                    take.address.eq(old.address),
                    take.follow.eq(old.pending != 1),
                ]
                m.d.sync += [parked[n].eq(parks), parked_queue[n].eq(at)]

        # Offered from the cycle on in which they arise.
        woken = Signal(QUEUE_BITS)
        wakes_held = Signal()
        broken = Signal(VI_BITS)
        breaks_held = Signal()
        m.d.comb += [
            self.wake.valid.eq(wakes_held | wakes),
            self.wake.payload.eq(Mux(wakes_held, woken, at)),
            self.break_.valid.eq(breaks_held | breaks),
            self.break_.payload.vi.eq(Mux(breaks_held, broken, at[1:])),
            self.break_.payload.event.eq(Event.VI_OVERRUN),
        ]
        with m.If(self.wake.valid):
            m.d.sync += [wakes_held.eq(~self.wake.ready), woken.eq(self.wake.payload)]
        with m.If(self.break_.valid):
            m.d.sync += [breaks_held.eq(~self.break_.ready), broken.eq(self.break_.payload.vi)]
        m.d.comb += self.idle.eq(~(does | self.token.valid | self.wake.valid | self.break_.valid
                                   | arbiter.requests.any()))
        return m

    def _records(self, m: Module, record: data.StructLayout, *, reads: Any, queue: Signal,
                 at: Signal, new: Any, changes: Signal, clears: Any) -> Any:
        """Records of the send and receive queues; returns the record of queue ``at``, which was
        selected by ``reads`` and ``queue`` in the previous cycle."""
        bits = (self._vis - 1).bit_length()
        # A word written at the edge at which it was read is not in the data read.
        fresh = Signal(record)
        forward = Signal()
        old = Signal(record)
        with m.If(reads):
            m.d.sync += forward.eq((changes & (queue == at))
                                   | (clears & (queue[1:] == at[1:])))
        with m.If(changes | clears):
            m.d.sync += fresh.eq(Mux(clears, 0, new))
        with m.If(forward):
            m.d.comb += old.eq(fresh)

        shown = Signal(VI_BITS)
        # A count may have changed in the previous cycle.
        stale = Signal(init=1)
        looks = Signal()
        m.d.comb += looks.eq(stale | (self.posted.vi != shown))
        m.d.sync += stale.eq(changes | clears)
        with m.If(looks):
            m.d.sync += shown.eq(self.posted.vi)

        for side, name in enumerate(("send", "receive")):
            m.submodules[name] = bank = BlockRam(shape=record, depth=self._vis)
            m.submodules[f"{name}_posted"] = posted = memory.Memory(
                shape=POSTED_BITS, depth=self._vis, init=[])
            write, read = bank.write_port(), bank.read_port()
            count, look = posted.write_port(), posted.read_port()
            m.d.comb += [
                read.en.eq(reads & (queue[0] == side)),
                read.addr.eq(queue[1:]),
                write.addr.eq(at[1:]),
                count.addr.eq(at[1:]),
                look.en.eq(looks),
                look.addr.eq(self.posted.vi),
            ]
            with m.If((changes & (at[0] == side)) | (clears & (at[1 + bits:] == 0))):
                m.d.comb += [write.en.eq(1), count.en.eq(1)]
                with m.If(~clears):
                    m.d.comb += [write.data.eq(new), count.data.eq(new.posted)]
            with m.If(~forward & (at[0] == side)):
                m.d.comb += old.eq(read.data)
            with m.If(shown[bits:] == 0):
                m.d.comb += self.posted.counts.word_select(side, POSTED_BITS).eq(look.data)
        return old
