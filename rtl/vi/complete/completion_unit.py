"""The completion unit: status into descriptors, entries into completion queues, armed events."""

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import ceil_log2

from ....layouts.trace import Block, Kind
from ....layouts.via import CONTROL_BYTES, CQ_BITS, CQ_ENTRY, DESCRIPTOR_ALIGN, Event, Status
from ...bus.pio import PageWrite
from ...parts.distinct_queue import DistinctQueue
from ...parts.event import EventPort
from ...parts.round_robin import RoundRobin
from ...parts.sizes import check_power_of_two, check_vis
from ..types import (
    Access,
    Arm,
    Break,
    Completion,
    CompletionRegisters,
    ContextRead,
    Control,
    ControlAction,
    EngineEvent,
    VirtualMemory,
)
from .completion_counts import COUNT_BITS, CompletionCounts
from .completion_queues import CompletionQueues

__all__ = ["CompletionUnit"]

_Entry = data.StructLayout({field.name: field.width for field in CQ_ENTRY.fields})


class CompletionUnit(wiring.Component):
    """Completes descriptors, one at a time, in the order in which they are taken.

    Each descriptor's address is translated again, with the VI's tag. Immediate data (if its status
    says so), Length and Status are written upward in one burst (two if ``max_beats`` is 1), so that
    DONE becomes visible last. If the work queue is bound to a completion queue, the entry is
    written there next. Then the completion is counted and, if the queue (or completion queue) is
    armed, the event is raised. An arming is taken only between completions, and an arming with
    another count than the queue's raises its event at once. So no arming misses a completion, and
    each arming raises one event.

    A descriptor that cannot be written (refused, unaligned, or cut short) breaks its VI with
    COMP_PROT; a ``silent`` one does not. Both are counted and may raise an armed event, but make no
    entry. If a completion queue is full, or its memory cannot be written, the entry is lost and the
    VI breaks: VI_OVERRUN, COMP_PROT. A second break of a VI that waits in ``break_`` is merged with
    the first, so there is always room.

    Latency and throughput, on a bus where a write of n beats takes n + 2 cycles and with
    translations that take 2: 8 cycles a completion, 1 more with immediate data, 7 more with a
    completion queue, 1 more an event. Back-pressure: ``i``, ``arm`` and ``control`` wait for the
    completion under way; round robin, ``control`` first. Completions wait only for memory,
    translation and ``event``. ``hold`` is low between completions. Reset: counts mean nothing
    before CREATE; no completion queue is enabled; ``ready`` after ``vis`` cycles.

    Parameters
    ----------
    vis, cqs : int
        VIs, 2 to 4096, and completion queues, 2 to 256: powers of two.

    Members
    -------
    i : In(stream of Completion), an array of two
        Descriptors to complete: the sender's, the receiver's.
    arm : In(stream of Arm)
        Armings of work queues.
    pages : In(PageWrite)
        Writes to completion queues' pages: see CompletionQueues.
    registers : In(CompletionRegisters)
        The kernel agent.
    memory : Out(VirtualMemory)
        Descriptors and completion queues.
    context : Out(ContextRead)
    event : Out(stream of EngineEvent)
        SEND_DONE, RECEIVE_DONE, CQ_READY.
    control : In(stream of Control)
        CREATE: counts zero, nothing armed.
    break_ : Out(stream of Break)
    ready : Out(1)
        Memories are cleared.
    idle : Out(1)
        Nothing changes without an input.
    events : Out(EventPort), an array of one
        Block COMPLETION: BEGIN when one is taken, END when all of it has landed, or will not;
        ``arg``: the queue.

    Raises
    ------
    TypeError, ValueError
        A parameter breaks its rule.
    """

    event_sources = (Block.COMPLETION,)
    """The block behind each port of ``events``."""

    def __init__(self, *, vis: int, cqs: int) -> None:
        check_vis(vis)
        check_power_of_two("cqs", cqs, least=2, most=1 << CQ_BITS)
        self._vis = vis
        self._cqs = cqs
        super().__init__({
            "i": In(stream.Signature(Completion)).array(2),
            "arm": In(stream.Signature(Arm)),
            "pages": In(PageWrite),
            "registers": In(CompletionRegisters),
            "memory": Out(VirtualMemory),
            "context": Out(ContextRead),
            "event": Out(stream.Signature(EngineEvent)),
            "control": In(stream.Signature(Control)),
            "break_": Out(stream.Signature(Break)),
            "ready": Out(1),
            "idle": Out(1),
            "events": Out(EventPort).array(1),
        })

    @property
    def vis(self) -> int:
        """VIs."""
        return self._vis

    @property
    def cqs(self) -> int:
        """Completion queues."""
        return self._cqs

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.queues = queues = CompletionQueues(cqs=self._cqs)
        m.submodules.breaks = breaks = DistinctQueue(items=2 * self._vis)
        wiring.connect(m, wiring.flipped(self.pages), queues.pages)
        self._job = job = _Job()
        m.submodules.counts = counts = CompletionCounts(vis=self._vis)
        wiring.connect(m, wiring.flipped(self.registers.setup), queues.setup)
        wiring.connect(m, wiring.flipped(self.registers.completed), counts.completed)
        self._state = state = self._steps(m, job, queues.arm, queues.use, counts.use)
        m.d.comb += [
            self.break_.valid.eq(breaks.o.valid),
            self.break_.payload.vi.eq(breaks.o.payload[1:]),
            self.break_.payload.event.eq(
                Mux(breaks.o.payload[0], Event.COMP_PROT, Event.VI_OVERRUN)),
            breaks.o.ready.eq(self.break_.ready),
            breaks.i.payload.eq(Cat(job.refused, job.completion.queue[1:])),
            breaks.i.valid.eq(job.refused | job.overrun),
            self.ready.eq(queues.ready & breaks.i.ready),
            self.idle.eq(state.ongoing("IDLE") & queues.idle & breaks.idle & counts.idle
                         & ~(self.i[0].valid | self.i[1].valid | self.arm.valid
                             | self.control.valid)),
        ]
        event = self.events[0]
        m.d.comb += [
            event.number.eq(job.completion.trace),
            event.arg.eq(job.completion.queue),
            event.kind.eq(Kind.END),
            event.valid.eq(job.finish | job.begin),
        ]
        with m.If(job.begin):
            m.d.comb += [event.kind.eq(Kind.BEGIN), event.number.eq(job.offered.trace),
                         event.arg.eq(job.offered.queue)]
        return m

    def _steps(self, m: Module, job: "_Job", cq_arm: wiring.PureInterface,
               queues: wiring.PureInterface, counts: wiring.PureInterface) -> object:
        """The sequence of steps."""
        m.submodules.turn = turn = RoundRobin(count=4)
        completion = job.completion
        memory = self.memory
        request = memory.translate.request
        bus = memory.bus.request.payload
        word = memory.bus.write.payload
        context = self.context.data.attributes
        tag = Signal(16)
        cq = Signal(CQ_BITS)
        on_cq = Signal()
        immediate, entry, more, physical = job.immediate, job.entry, job.more, job.physical
        both = Signal()
        good = Signal()
        count = Signal(COUNT_BITS)
        entry_word = Signal(_Entry)

        m.d.comb += [
            turn.requests.eq(Cat(self.i[0].valid, self.i[1].valid, self.arm.valid,
                                 cq_arm.valid)),
            job.offered.eq(Mux(turn.grant[0], self.i[0].payload, self.i[1].payload)),
            counts.queue.eq(completion.queue),
            counts.create_vi.eq(self.control.payload.vi),
            self.context.vi.eq(completion.queue[1:]),
            queues.number.eq(cq),

            request.payload.address.eq(Mux(entry, queues.state.address, completion.address)),
            request.payload.tag.eq(Mux(entry, queues.state.tag, tag)),
            request.payload.access.eq(Access.LOCAL),
            request.payload.wide.eq(entry & queues.state.wide),
            memory.translate.hold.eq(job.hold),

            both.eq(immediate & (memory.max_beats != 1)),
            bus.write.eq(1),
            bus.address.eq(Mux(entry, physical, physical + Mux(immediate, 16, 24))),
            bus.beats.eq(Mux(both, 2, 1)),
            bus.trace.eq(completion.trace),
            entry_word.phase.eq(queues.state.phase),
            entry_word.receive.eq(completion.queue[0]),
            entry_word.vi.eq(completion.queue[1:]),
        ]
        with m.If(entry):
            m.d.comb += [word.data.eq(entry_word), word.strobe.eq(0xFF)]
        with m.Elif(immediate):
            m.d.comb += [word.data.eq(completion.immediate << 32), word.strobe.eq(0xF0)]
        with m.Else():
            m.d.comb += [word.data.eq(Cat(completion.length, completion.status | Status.DONE)),
                         word.strobe.eq(0xFF)]

        with m.FSM() as state:
            with m.State("IDLE"):
                m.d.sync += entry.eq(0)
                with m.If(self.control.valid):
                    m.d.comb += [
                        self.control.ready.eq(1),
                        counts.create.eq(self.control.payload.action == ControlAction.CREATE),
                    ]
                with m.Elif(turn.requests.any() & self.ready):
                    m.d.comb += turn.advance.eq(1)
                    with m.If(turn.grant[0] | turn.grant[1]):
                        m.d.comb += [
                            self.i[0].ready.eq(turn.grant[0]), self.i[1].ready.eq(turn.grant[1]),
                            job.begin.eq(1), counts.look.eq(1), counts.queue.eq(job.offered.queue),
                            self.context.vi.eq(job.offered.queue[1:]),
                        ]
                        m.d.sync += completion.eq(job.offered)
                        m.next = "CONTEXT"
                    with m.Elif(turn.grant[2]):
                        m.d.comb += [self.arm.ready.eq(1), counts.look.eq(1),
                                     counts.queue.eq(self.arm.payload.queue)]
                        m.d.sync += [completion.queue.eq(self.arm.payload.queue),
                                     count.eq(self.arm.payload.count)]
                        m.next = "ARM"
                    with m.Else():
                        m.d.comb += [cq_arm.ready.eq(1), queues.look.eq(1),
                                     queues.number.eq(cq_arm.payload)]
                        m.d.sync += cq.eq(cq_arm.payload)
                        m.next = "LOOK AT ARMED"
            with m.State("CONTEXT"):
                m.d.sync += [
                    tag.eq(context.tag),
                    cq.eq(Mux(completion.queue[0], context.receive_cq, context.send_cq)),
                    on_cq.eq(Mux(completion.queue[0], context.receive_on_cq, context.send_on_cq)),
                    immediate.eq((completion.status & Status.IMMEDIATE).any()),
                ]
                m.next = "TRANSLATE"
                with m.If(completion.silent):
                    self._finish(m, job, queues, counts)
            with m.State("TRANSLATE"):
                m.d.comb += [request.valid.eq(1), job.hold.eq(1)]
                with m.If(request.ready):
                    m.next = "ANSWER"
            with m.State("ANSWER"):
                m.d.comb += [
                    job.hold.eq(1),
                    good.eq(memory.translate.ok & Mux(
                        entry,
                        (memory.translate.room >= 8) & (memory.translate.physical[:3] == 0),
                        (memory.translate.room >= CONTROL_BYTES)
                        & (memory.translate.physical[:ceil_log2(DESCRIPTOR_ALIGN)] == 0))),
                ]
                m.d.sync += physical.eq(memory.translate.physical)
                with m.If(memory.translate.valid):
                    m.next = "REQUEST"
                    with m.If(~good):
                        m.d.comb += job.refused.eq(1)
                        self._finish(m, job, queues, counts)
            with m.State("REQUEST"):
                m.d.comb += [memory.bus.request.valid.eq(1), job.hold.eq(1)]
                m.d.sync += more.eq(both)
                with m.If(memory.bus.request.ready):
                    m.next = "WRITE"
            with m.State("WRITE"):
                m.d.comb += [memory.bus.write.valid.eq(1), job.hold.eq(1)]
                with m.If(memory.bus.write.ready):
                    m.d.sync += [immediate.eq(0), more.eq(0)]
                    with m.If(~more):
                        m.next = "DONE"
                        # The next burst, if any, is the one with the status.
                        with m.If(immediate & ~entry):
                            m.next = "IMMEDIATE DONE"
                        self._landed(m, job, queues, counts, entry, on_cq, last=~immediate)
                with m.If(memory.bus.write.ready & ~more & immediate & memory.bus.done):
                    m.next = "REQUEST"
            with m.State("IMMEDIATE DONE"):
                m.d.comb += job.hold.eq(1)
                with m.If(memory.bus.done):
                    m.next = "REQUEST"
            with m.State("DONE"):
                m.d.comb += job.hold.eq(1)
                self._landed(m, job, queues, counts, entry, on_cq, last=1)
            with m.State("LOOK"):
                m.d.comb += job.hold.eq(1)
                m.d.sync += entry.eq(1)
                m.next = "TRANSLATE"
                with m.If(queues.state.full & queues.state.enabled):
                    m.d.comb += job.overrun.eq(1)
                    self._finish(m, job, queues, counts)
                with m.Elif(~queues.state.enabled):
                    m.d.comb += job.refused.eq(1)
                    self._finish(m, job, queues, counts)
            with m.State("ARM"):
                m.next = "IDLE"
                with m.If(counts.count == count):
                    m.d.comb += counts.arm.eq(1)
                with m.Else():
                    m.d.sync += job.event_queue.eq(1)
                    m.next = "EVENT"
            with m.State("LOOK AT ARMED"):
                m.next = "JUDGE"
            with m.State("JUDGE"):
                m.d.comb += queues.judge.eq(1)
                m.next = "IDLE"
                with m.If(queues.notify):
                    m.d.sync += job.event_cq.eq(1)
                    m.next = "EVENT"
            with m.State("EVENT"):
                m.d.comb += self.event.valid.eq(1)
                with m.If(job.event_cq):
                    m.d.comb += [self.event.payload.code.eq(Event.CQ_READY),
                                 self.event.payload.number.eq(cq)]
                with m.Else():
                    m.d.comb += [
                        self.event.payload.code.eq(
                            Mux(completion.queue[0], Event.RECEIVE_DONE, Event.SEND_DONE)),
                        self.event.payload.number.eq(completion.queue[1:]),
                    ]
                with m.If(self.event.ready):
                    m.d.sync += job.event_cq.eq(0)
                    with m.If(~(job.event_cq & job.event_queue)):
                        m.d.sync += job.event_queue.eq(0)
                        m.next = "IDLE"

        with m.If(job.finish):
            m.d.comb += counts.add.eq(1)
            m.d.sync += [job.event_queue.eq(counts.armed), job.event_cq.eq(queues.notify)]
        return state

    def _landed(self, m: Module, job: "_Job", queues: wiring.PureInterface,
                counts: wiring.PureInterface, entry: Signal, on_cq: Signal, *,
                last: object) -> None:
        """``done`` of the status' or the entry's burst, which may come with its last beat."""
        with m.If(self.memory.bus.done & last):
            with m.If(entry):
                m.d.comb += queues.append.eq(1)
                self._finish(m, job, queues, counts)
            with m.Elif(on_cq):
                m.d.comb += queues.look.eq(1)
                m.next = "LOOK"
            with m.Else():
                self._finish(m, job, queues, counts)

    @staticmethod
    def _finish(m: Module, job: "_Job", queues: wiring.PureInterface,
                counts: wiring.PureInterface) -> None:
        """Count the completion; raise the armed event."""
        m.d.comb += job.finish.eq(1)
        m.next = "IDLE"
        with m.If(counts.armed | queues.notify):
            m.next = "EVENT"


class _Job:
    """The completion under way."""

    def __init__(self) -> None:
        self.offered = Signal(Completion)
        self.completion = Signal(Completion)
        self.begin = Signal()
        self.finish = Signal()
        """All its writes have arrived, or will not: count it."""
        self.hold = Signal()
        # Of its words: the immediate data is next, and the status after it in the same burst; or
        # the queue's entry is. Where.
        self.immediate = Signal()
        self.more = Signal()
        self.entry = Signal()
        self.physical = Signal(32)
        # To the break queue: COMP_PROT, VI_OVERRUN.
        self.refused = Signal()
        self.overrun = Signal()
        # Events to be raised.
        self.event_cq = Signal()
        self.event_queue = Signal()
