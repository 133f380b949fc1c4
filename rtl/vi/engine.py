"""The VI engine: its blocks, and how they are connected."""

from amaranth.hdl import Cat, Module
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from ...layouts.description import Description
from ...layouts.trace import Block
from ..bus.burst import Burst
from ..bus.pio import PageWrite
from ..parts.event import EventPort
from ..parts.flit import FlitStream
from ..parts.receive_word import ReceiveWord
from ..parts.timing import Timing
from .complete.completion_unit import CompletionUnit
from .contexts import Contexts
from .event_queue import EventQueue
from .manager import Manager
from .receive.receiver import Receiver
from .send.sender import Sender
from .translate.translator import Translator
from .types import EngineRegisters
from .work_queues.doorbells import Doorbells
from .work_queues.queues import WorkQueues
from .work_queues.scheduler import Scheduler

__all__ = ["Engine"]

class Engine(wiring.Component):
    """Doorbells, work queues, scheduler, sender, receiver, translation and completion of VIs.

    docs/explanation/architecture.md shows the path of a message through them. The
    docstring of each block gives its latency. Reset: for ``via.vis`` cycles the states of all VIs
    are swept to closed.

    Parameters
    ----------
    description : Description
        Its ``via`` section, and ``nic.mtu``.

    Members
    -------
    doorbells, cq_pages : In(PageWrite)
        PIO writes to the pages at DOORBELL_PAGES and CQ_PAGES, at most one a cycle.
    registers : In(EngineRegisters)
        The kernel agent's registers.
    rx : In(stream of ReceiveWord), tx : Out(FlitStream)
        Packets of Protocol.VIA, without CRC.
    dma : Out(Burst), an array
        To host memory: the sender's descriptors and data, the receiver's, completions, the
        translator's walks.
    irq : Out(1)
        An event waits for the kernel agent.
    node : In(8), timing : In(Timing), now : In(32)
        This node, the timing registers, the cycle counter's low half.
    idle : Out(1)
        Nothing changes here without an input.
    events : Out(EventPort), an array
        Of the blocks in :attr:`event_sources`.
    """

    DMA = 6
    """Ports of ``dma``."""

    event_sources = (Block.DOORBELL, *Sender.event_sources, *Receiver.event_sources,
                     *Translator.event_sources, *CompletionUnit.event_sources)
    """The block behind each port of ``events``."""

    def __init__(self, *, description: Description) -> None:
        if not isinstance(description, Description):
            raise TypeError(f"description must be a Description, not {description!r}")
        self._description = description
        via = description.via
        self._sender = Sender(description=description)
        self._receiver = Receiver(description=description)
        self._translator = Translator(
            description=description,
            clients=len(self._sender.memory.translate) + len(self._receiver.memory.translate) + 1)
        self._completion = CompletionUnit(vis=via.vis, cqs=via.cqs)
        self._doorbells = Doorbells(vis=via.vis, depth=via.doorbell_queue)
        self._traced = (self._sender, self._receiver, self._translator, self._completion)
        super().__init__({
            "doorbells": In(PageWrite),
            "cq_pages": In(PageWrite),
            "registers": In(EngineRegisters),
            "rx": In(stream.Signature(ReceiveWord)),
            "tx": Out(FlitStream),
            "dma": Out(Burst()).array(self.DMA),
            "irq": Out(1),
            "node": In(8),
            "timing": In(Timing),
            "now": In(32),
            "idle": Out(1),
            "events": Out(EventPort).array(len(self.event_sources)),
        })

    @property
    def description(self) -> Description:
        """The description of which it was made."""
        return self._description

    def elaborate(self, platform: object) -> Module:
        m = Module()
        via = self._description.via
        m.submodules.sender = sender = self._sender
        m.submodules.receiver = receiver = self._receiver
        m.submodules.translator = translator = self._translator
        m.submodules.completion = completion = self._completion
        m.submodules.doorbells = doorbells = self._doorbells
        m.submodules.work_queues = work_queues = WorkQueues(vis=via.vis, depth=via.queue_depth)
        m.submodules.scheduler = scheduler = Scheduler(vis=via.vis, wakers=3)
        m.submodules.manager = manager = Manager(vis=via.vis, breakers=5)

        registers = self.registers
        readers = [doorbells.context, work_queues.context, manager.context, completion.context,
                   receiver.context, *sender.context, flipped(registers.context)]
        m.submodules.contexts = contexts = Contexts(vis=via.vis, readers=len(readers))
        for reader, port in zip(readers, contexts.read, strict=True):
            connect(m, reader, port)
        connect(m, manager.write, contexts.write)
        connect(m, manager.set_state, contexts.set_state)

        # The path of a descriptor: rung, queued, scheduled, taken.
        connect(m, doorbells.token, work_queues.token)
        for number, waker in enumerate((work_queues.wake, sender.turns.wake, manager.wake)):
            connect(m, waker, scheduler.wake[number])
        connect(m, scheduler.next, sender.turns.next)
        connect(m, sender.take, work_queues.take[0])
        connect(m, receiver.take, work_queues.take[1])

        # Between sender and receiver, and what is over.
        connect(m, receiver.sender, sender.receiver)
        connect(m, sender.reports.complete, completion.i[0])
        connect(m, receiver.reports.complete, completion.i[1])
        connect(m, doorbells.arm, completion.arm)

        # Who breaks a VI, and who is told.
        breakers = (doorbells, work_queues, sender.reports, receiver.reports, completion)
        for number, breaker in enumerate(breakers):
            connect(m, breaker.break_, manager.break_[number])
        for number, block in enumerate((work_queues, receiver, sender, completion)):
            connect(m, manager.control[number], block.control)
        sources = (manager.event, sender.reports.event, receiver.reports.event, completion.event)
        m.submodules.event_queue = event_queue = EventQueue(depth=via.events, sources=len(sources))
        for number, source in enumerate(sources):
            connect(m, source, event_queue.i[number])

        # Memory.
        clients = (*sender.memory.translate, *receiver.memory.translate,
                   completion.memory.translate)
        for client, port in zip(clients, translator.client, strict=True):
            connect(m, client, port)
        buses = (*sender.memory.bus, *receiver.memory.bus, completion.memory.bus, translator.bus)
        for bus, port in zip(buses, self.dma, strict=True):
            connect(m, bus, flipped(port))

        # The link.
        connect(m, flipped(self.rx), receiver.i)
        connect(m, sender.tx, flipped(self.tx))

        # Processes' pages.
        connect(m, flipped(self.doorbells), doorbells.pages)
        connect(m, flipped(self.cq_pages), completion.pages)

        # The kernel agent's registers.
        connect(m, flipped(registers.command), manager.command)
        connect(m, flipped(registers.posted), work_queues.posted)
        connect(m, flipped(registers.completion), completion.registers)
        connect(m, flipped(registers.translation), translator.registers)
        connect(m, flipped(registers.event), event_queue.read)
        for counts in (receiver.counts, sender.counts):
            m.d.comb += [getattr(registers.packets, name).eq(getattr(counts, name))
                         for name in counts.signature.members]
        m.d.comb += [
            registers.busy.eq(manager.busy),
            registers.ready.eq(contexts.ready & translator.ready & completion.ready),
            sender.surroundings.node.eq(self.node),
            sender.surroundings.timing.eq(self.timing),
            sender.surroundings.now.eq(self.now),
            receiver.timing.eq(self.timing),
            self.irq.eq(event_queue.waiting),
            self.idle.eq(Cat(block.idle for block in (
                sender, receiver, translator, completion, doorbells, work_queues, scheduler,
                manager, contexts, event_queue)).all() & ~self.rx.valid & ~self.tx.valid),
        ]
        for port in (translator, completion.memory):
            m.d.comb += port.max_beats.eq(self.timing.bus_max_burst >> 3)
        ports = (doorbells.event, *(port for block in self._traced for port in block.events))
        for port, event in zip(self.events, ports, strict=True):
            connect(m, flipped(port), event)
        return m
