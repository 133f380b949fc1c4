"""The VI engine: its blocks, and how they are joined."""

from amaranth.hdl import Cat, Module
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from ...layouts.description import Description
from ...layouts.trace import Block
from ...layouts.via import CQ_BITS, CQ_PAGES, DOORBELL_PAGES, INDEX_BITS, PAGE, VI_BITS
from ..burst import Burst
from ..event import EventPort
from ..flit import FlitStream
from ..pio import PIO_ADDRESS_BITS, PROCESS_BITS
from ..receive_fifo import ReceiveWord
from ..timing import Timing
from .completion import CompletionUnit
from .contexts import Contexts
from .doorbells import Doorbells
from .events import EventQueue
from .manager import Manager
from .receiver import Receiver
from .scheduler import Scheduler
from .sender import Sender
from .translator import Translator
from .types import Command
from .work_queues import WorkQueues

__all__ = ["Engine", "EngineRegisters", "Pages"]

Pages = wiring.Signature({
    "valid": Out(1),
    "address": Out(PIO_ADDRESS_BITS),
    "data": Out(64),
    "process": Out(PROCESS_BITS),
})
"""Writes of host processes to doorbell and completion queue pages, one a cycle at the most."""

EngineRegisters = wiring.Signature({
    "select": Out(VI_BITS),
    "command": Out(stream.Signature(Command)), "busy": In(3),
    "state": In(2), "posted": In(32), "completed": In(32),
    "cq_base": Out(64), "cq_config": Out(29), "cq_write": Out(1),
    "event": In(28), "event_taken": Out(1), "ready": In(1),
    "table_base": Out(32), "table_index": Out(INDEX_BITS), "table_flags": Out(56),
    "table_place": Out(64), "table_write": Out(1),
    "invalidate": Out(stream.Signature(INDEX_BITS)), "invalidated": In(16),
    "hits": In(1), "misses": In(1), "walking": In(1), "foreign": In(2), "lost": In(1),
    "events_lost": In(1), "unmatched": In(1), "duplicate": In(1), "gap": In(1), "dropped": In(1),
    "resent": In(1), "sent": In(1),
})
"""The engine's registers (layouts.registers.ENGINE_REGISTERS), from the side of the NIC: values,
strobes, and for each counter its pulses."""


class Engine(wiring.Component):
    """Doorbells, work queues, scheduler, sender, receiver, translation and completion of VIs.

    docs/architecture.md shows the way of a message through them. Each block's class says how long
    it takes. Reset: for ``via.vis`` cycles the states of all VIs are swept to closed.

    Parameters
    ----------
    description : Description
        Its ``via`` section, and ``nic.mtu``.

    Members
    -------
    pages : In(Pages)
        PIO writes to the pages at CQ_PAGES and DOORBELL_PAGES.
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
        Nothing changes here until something comes in.
    events : Out(EventPort), an array
        Of the blocks in :attr:`event_sources`.
    """

    DMA = 6
    """Ports of ``dma``."""

    def __init__(self, *, description: Description) -> None:
        if not isinstance(description, Description):
            raise TypeError(f"description must be a Description, not {description!r}")
        self._description = description
        via = description.via
        self._sender = Sender(description=description)
        self._receiver = Receiver(description=description)
        self._translator = Translator(
            description=description,
            clients=len(self._sender.translate) + len(self._receiver.translate) + 1)
        self._completion = CompletionUnit(vis=via.vis, cqs=via.cqs)
        self._doorbells = Doorbells(vis=via.vis, depth=via.doorbell_queue)
        self._traced = (self._sender, self._receiver, self._translator, self._completion)
        self._event_sources = (
            Block.DOORBELL,
            *(source for block in self._traced for source in block.event_sources))
        super().__init__({
            "pages": In(Pages),
            "registers": In(EngineRegisters),
            "rx": In(stream.Signature(ReceiveWord)),
            "tx": Out(FlitStream),
            "dma": Out(Burst).array(self.DMA),
            "irq": Out(1),
            "node": In(8),
            "timing": In(Timing),
            "now": In(32),
            "idle": Out(1),
            "events": Out(EventPort).array(len(self._event_sources)),
        })

    @property
    def description(self) -> Description:
        """What it was made from."""
        return self._description

    @property
    def event_sources(self) -> tuple[Block, ...]:
        """The block behind each port of ``events``."""
        return self._event_sources

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

        readers = [doorbells.context, work_queues.context, manager.context, completion.context,
                   receiver.context, *sender.context]
        m.submodules.contexts = contexts = Contexts(vis=via.vis, readers=len(readers) + 1)
        for reader, port in zip(readers, contexts.read, strict=False):
            connect(m, reader, port)
        connect(m, manager.write, contexts.write)
        connect(m, manager.set_state, contexts.set_state)

        # A descriptor's way: rung, queued, scheduled, taken.
        connect(m, doorbells.token, work_queues.token)
        for number, waker in enumerate((work_queues.wake, sender.wake, manager.wake)):
            connect(m, waker, scheduler.wake[number])
        connect(m, scheduler.next, sender.next)
        connect(m, sender.take, work_queues.take[0])
        connect(m, receiver.take, work_queues.take[1])

        # Between sender and receiver, and what is over.
        connect(m, receiver.control_packet, sender.control_packet)
        connect(m, receiver.acknowledged, sender.acknowledged)
        connect(m, receiver.read_job, sender.read_job)
        connect(m, receiver.read_done, sender.read_done)
        connect(m, sender.reading, receiver.reading)
        connect(m, sender.read_lost, receiver.read_lost)
        connect(m, sender.complete, completion.i[0])
        connect(m, receiver.complete, completion.i[1])
        connect(m, doorbells.arm, completion.arm)

        # Who breaks a VI, and who is told.
        for number, breaker in enumerate((doorbells, work_queues, sender, receiver, completion)):
            connect(m, breaker.break_, manager.break_[number])
        for number, block in enumerate((work_queues, receiver, sender, completion)):
            connect(m, manager.control[number], block.control)
        sources = (manager.event, sender.event, receiver.event, completion.event)
        m.submodules.event_queue = event_queue = EventQueue(depth=via.events, sources=len(sources))
        for number, source in enumerate(sources):
            connect(m, source, event_queue.i[number])

        # Memory.
        clients = (*sender.translate, *receiver.translate, completion.translate)
        for client, port in zip(clients, translator.client, strict=True):
            connect(m, client, port)
        buses = (*sender.bus, *receiver.bus, completion.bus, translator.bus)
        for bus, port in zip(buses, self.dma, strict=True):
            connect(m, bus, flipped(port))

        # The link.
        connect(m, flipped(self.rx), receiver.i)
        connect(m, sender.tx, flipped(self.tx))

        self._pages(m, doorbells, completion)
        self._registers(m, contexts, work_queues, completion, manager, event_queue, translator)
        registers = self.registers
        m.d.comb += [
            registers.foreign.eq(Cat(doorbells.foreign, completion.foreign)),
            registers.lost.eq(doorbells.lost),
            registers.unmatched.eq(receiver.unmatched),
            registers.duplicate.eq(receiver.duplicate),
            registers.gap.eq(receiver.gap),
            registers.dropped.eq(receiver.dropped),
            registers.resent.eq(sender.resent),
            registers.sent.eq(sender.sent),
            sender.node.eq(self.node),
            sender.now.eq(self.now),
            self.irq.eq(event_queue.waiting),
            self.idle.eq(Cat(block.idle for block in (
                sender, receiver, translator, completion, doorbells, work_queues, scheduler,
                manager, contexts, event_queue)).all() & ~self.rx.valid & ~self.tx.valid),
        ]
        for block in (sender, receiver):
            m.d.comb += block.timing.eq(self.timing)
        for block in (translator, completion):
            m.d.comb += block.max_beats.eq(self.timing.bus_max_burst >> 3)
        ports = (doorbells.event, *(port for block in self._traced for port in block.events))
        for port, event in zip(self.events, ports, strict=True):
            connect(m, flipped(port), event)
        return m

    def _pages(self, m: Module, doorbells: Doorbells, completion: CompletionUnit) -> None:
        pages = self.pages
        offset = (PAGE - 1).bit_length()
        in_doorbells = pages.address[(DOORBELL_PAGES - 1).bit_length()]
        in_queues = ~in_doorbells & pages.address[(CQ_PAGES - 1).bit_length()]
        m.d.comb += [
            doorbells.vi.eq(pages.address[offset:]),
            doorbells.offset.eq(pages.address[:offset]),
            doorbells.data.eq(pages.data),
            doorbells.process.eq(pages.process),
            completion.cq_write.cq.eq(pages.address[offset:offset + CQ_BITS]),
            completion.cq_write.offset.eq(pages.address[:offset]),
            completion.cq_write.data.eq(pages.data),
            completion.cq_write.process.eq(pages.process),
        ]
        with m.If(pages.valid):
            m.d.comb += [doorbells.valid.eq(in_doorbells), completion.cq_write.valid.eq(in_queues)]

    def _registers(self, m: Module, contexts: Contexts, work_queues: WorkQueues,
                   completion: CompletionUnit, manager: Manager, event_queue: EventQueue,
                   translator: Translator) -> None:
        registers = self.registers
        reader = contexts.read[-1]
        connect(m, flipped(registers.command), manager.command)
        connect(m, flipped(registers.invalidate), translator.invalidate)
        m.d.comb += [
            registers.busy.eq(manager.busy),
            registers.ready.eq(contexts.ready & translator.ready & completion.ready),
            reader.vi.eq(registers.select),
            registers.state.eq(reader.data.state),
            work_queues.status_vi.eq(registers.select),
            completion.status_vi.eq(registers.select),
            registers.posted.eq(work_queues.posted),
            registers.completed.eq(completion.completed),
            completion.config_write.eq(registers.cq_write),
            completion.config_cq.eq(registers.select),
            completion.config_base.eq(registers.cq_base),
            completion.config.eq(registers.cq_config),
            registers.event.eq(event_queue.head),
            event_queue.pop.eq(registers.event_taken),
            registers.events_lost.eq(event_queue.lost),
            translator.table_base.eq(registers.table_base),
            translator.table_index.eq(registers.table_index),
            translator.table_flags.eq(registers.table_flags),
            translator.table_place.eq(registers.table_place),
            translator.table_write.eq(registers.table_write),
            registers.invalidated.eq(translator.invalidated),
            registers.hits.eq(translator.hit),
            registers.misses.eq(translator.miss),
            registers.walking.eq(translator.walking),
        ]
