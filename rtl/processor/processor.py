"""The NIC processor's subsystem: core, NIC memory, registers and engines."""

from amaranth.hdl import Cat, ClockSignal, Instance, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from ...layouts.description import Description
from ...layouts.processor import MMIO_BASE
from ...layouts.trace import Block, Kind
from ..bus.burst import Burst
from ..bus.burst_share import BurstShare
from ..bus.pio import PageWrite, PioAccess
from ..parts.event import EventPort
from ..parts.timing import Timing
from .control.crash import Crash
from .control.doorbells import Doorbells
from .control.mmio import Mmio
from .control.pending_bits import PendingBits
from .control.watchdog import Watchdog
from .core.clock_gate import ClockGate
from .core.core_router import CoreRouter
from .core.cores import make_core
from .core.enabled_core import checked_step
from .core.host_words import HostWords
from .engines.engine_block import EngineBlock
from .engines.host_to_nic import HostToNic
from .engines.nic_receive import NicReceive
from .engines.nic_send import NicSend
from .engines.nic_to_host import NicToHost
from .memory.memory_share import MemoryShare
from .memory.nic_memory import NicMemory
from .memory.window import Window
from .types import FirmwareAsks, PacketPorts, ProcessorRegisters

__all__ = ["Processor"]


class Processor(wiring.Component):
    """A core, NIC memory, and the engines that firmware drives, as :mod:`nicbed.layouts.processor`
    declares them.

    With ``processor.host_access`` = uncached the core loads and stores host memory, too, behind the
    port of H2N: it and that engine wait for each other's bursts.

    While the processor is in reset, asleep or crashed, its clock stands still. ``idle`` says when
    time may be skipped or the clock of this block gated; neither changes a cycle. After a crash the
    engines finish their commands; reset clears them.

    Parameters
    ----------
    description : :class:`Description`
        ``nic.processor``, which is not "none", and sections ``processor`` and ``memory``.
    step : Signal or None
        Clock enable of the enclosing block. With it there is only one clock, as an FPGA needs it,
        and ``profile`` has no effect.

    Members
    -------
    window : ``In(PioAccess)``, pages : ``In(PageWrite)``
        Accesses to NIC memory, by address in it, and writes to doorbell pages.
    registers : ``In(ProcessorRegisters)``
        The host's registers.
    dma : ``Out(Burst)``, 2 of them
        To host memory: H2N's, which the core may share, and N2H's.
    packets : ``Out(PacketPorts)``
        To and from the link.
    asks : ``Out(FirmwareAsks)``
        Requests of the firmware to the NIC.
    node : ``In(8)``, timing : ``In(Timing)``, cycle : ``In(64)``
        The node's number, the timing registers, the cycle counter.
    profile : ``In(1)``
        Cycles awake are counted by instruction, in an instance of ``nicbed_profile``.
    idle : ``Out(1)``
        Nothing changes here until something comes in.
    events : ``Out(EventPort)``, an array
        Of the blocks in :attr:`event_sources`.

    Raises
    ------
    TypeError
        ``description`` is not a :class:`Description`, or ``step`` not a signal.
    ValueError
        The description has no processor, or ``step`` is wider than a bit.
    """

    DMA = 2

    event_sources = (Block.PROCESSOR, Block.FIRMWARE, Block.DOORBELL, Block.H2N, Block.H2N,
                     Block.N2H, Block.N2H, Block.NIC_SEND, Block.NIC_SEND, Block.NIC_RECEIVE,
                     Block.NIC_RECEIVE)
    """The block behind each port of ``events``."""

    def __init__(self, *, description: Description, step: Signal | None = None) -> None:
        if not isinstance(description, Description):
            raise TypeError(f"description must be a Description, not {description!r}")
        if description.core is None:
            raise ValueError("nic.processor must name a core, not 'none'")
        self._description = description
        self._speculates = description.core.speculates
        self._step = checked_step(step)
        size, host = description.processor.memory, description.memory.bytes
        self._h2n = HostToNic(memory_bytes=size, host_bytes=host)
        self._n2h = NicToHost(memory_bytes=size, host_bytes=host)
        self._send = NicSend(memory_bytes=size)
        self._receive = NicReceive(memory_bytes=size)
        super().__init__({
            "window": In(PioAccess),
            "pages": In(PageWrite),
            "registers": In(ProcessorRegisters),
            "dma": Out(Burst()).array(self.DMA),
            "packets": Out(PacketPorts),
            "asks": Out(FirmwareAsks),
            "node": In(8),
            "timing": In(Timing),
            "cycle": In(64),
            "profile": In(1),
            "idle": Out(1),
            "events": Out(EventPort).array(len(self.event_sources)),
        })

    @property
    def description(self) -> Description:
        """The description of which it was made."""
        return self._description

    @property
    def engines(self) -> tuple[EngineBlock, ...]:
        """The engines, in the order of layouts.processor.Engine."""
        return (self._h2n, self._n2h, self._send, self._receive)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        size = self._description.processor.memory
        m.submodules.memory = memory = NicMemory(
            size=size, block_ram=self._step is not None)
        m.submodules.window = window = Window(memory_bytes=size)
        m.submodules.doorbells = doorbells = Doorbells(
            depth=self._description.processor.doorbell_queue, memory_bytes=size)
        m.submodules.mmio = mmio = Mmio(memory_bytes=size)
        m.submodules.pending = pending = PendingBits()
        m.submodules.crash = crash = Crash()
        m.submodules.share = share = MemoryShare(clients=2 + len(self.engines))

        run = self.registers.run
        alive, awake = Signal(), Signal()
        m.d.comb += [
            alive.eq(run & ~crash.state.crashed),
            awake.eq(alive & ~pending.asleep),
        ]
        words = HostWords() if self._description.processor.host_access == "uncached" else None
        self._core(m, memory, mmio, pending, crash, words, alive=alive, awake=awake)

        # The wide port of NIC memory: the PIO window first.
        connect(m, window.port, share.client[0])
        connect(m, doorbells.port, share.client[1])
        for number, (name, engine) in enumerate(zip(("h2n", "n2h", "send", "receive"),
                                                    self.engines, strict=True)):
            m.submodules[name] = engine
            connect(m, engine.memory, share.client[2 + number])
            connect(m, engine.port, mmio.engines[number])
            m.d.comb += engine.clear.eq(~run)
        connect(m, share.memory, memory.wide)
        for engine in (self._h2n, self._n2h):
            m.d.comb += engine.max_beats.eq(self.timing.bus_max_burst >> 3)
        connect(m, self._n2h.bus, flipped(self.dma[1]))
        if words is None:
            connect(m, self._h2n.bus, flipped(self.dma[0]))
        else:
            m.submodules.words = words
            m.submodules.burst_share = burst_share = BurstShare()
            connect(m, self._h2n.bus, burst_share.i[0])
            connect(m, words.bus, burst_share.i[1])
            connect(m, burst_share.o, flipped(self.dma[0]))
        connect(m, self._send.o, flipped(self.packets.tx))
        connect(m, flipped(self.packets.rx), self._receive.i)

        connect(m, flipped(self.window), window.pio)
        connect(m, flipped(self.pages), doorbells.pages)
        connect(m, mmio.pending, pending.port)
        connect(m, mmio.doorbells, doorbells.processor)
        connect(m, mmio.asks, flipped(self.asks))
        registers = self.registers
        connect(m, flipped(registers.doorbell_owner), doorbells.owner)
        connect(m, flipped(registers.window_owner), window.owner)
        connect(m, flipped(registers.load), window.load)
        connect(m, flipped(registers.state), crash.state)
        m.d.comb += [
            doorbells.run.eq(run),
            doorbells.words.eq(registers.doorbell_words),
            registers.window_refused.eq(window.refused),
            mmio.run.eq(run),
            mmio.node.eq(self.node),
            mmio.cycle.eq(self.cycle),
            pending.run.eq(run),
            pending.now.eq(self.cycle),
            pending.doorbell.eq(doorbells.waiting),
            # In the order of layouts.processor.Pending.
            pending.set.eq(Cat(window.wrote | doorbells.wrote, 0, self._receive.port.ended,
                               self._h2n.port.ended, self._n2h.port.ended, self._send.port.ended,
                               0, self.asks.watched)),
            self.idle.eq(~awake & pending.idle & window.idle & doorbells.idle
                         & Cat(engine.port.idle for engine in self.engines).all()
                         & (words.idle if words is not None else 1)
                         & ~self.events[0].valid),
        ]

        was_awake = Signal()
        m.d.sync += was_awake.eq(awake)
        m.d.comb += [
            self.events[0].valid.eq(awake != was_awake),
            self.events[0].kind.eq(Mux(awake, Kind.BEGIN, Kind.END)),
        ]
        sources = (mmio.event, doorbells.event,
                   *(event for engine in self.engines for event in engine.events))
        for port, event in zip(self.events[1:], sources, strict=True):
            connect(m, event, flipped(port))
        return m

    def _core(self, m: Module, memory: NicMemory, mmio: Mmio, pending: PendingBits, crash: Crash,
              words: HostWords | None, *, alive: Signal, awake: Signal) -> None:
        """The core, its clock, its connection to memory and registers, and its failures."""
        m.submodules.core = core = make_core(self._description.nic.processor, step=self._step)
        m.submodules.gate = gate = ClockGate(step=self._step)
        m.submodules.router = router = CoreRouter(size=self._description.processor.memory,
                                                   speculates=self._speculates,
                                                   host_bytes=self._description.memory.bytes
                                                   if words is not None else 0)
        m.submodules.watchdog = watchdog = Watchdog()
        connect(m, core.bus, router.core)
        connect(m, router.memory, memory.core)
        connect(m, router.mmio, mmio.bus)
        if words is not None:
            connect(m, router.host, words.core)
        connect(m, mmio.crash, crash.report)
        refused = Cat(engine.error for engine in self.engines).any()
        pc = Signal(32)
        running = Signal()
        m.d.comb += [
            gate.run.eq(self.registers.run),
            gate.asleep.eq(~awake),
            gate.divider.eq(self.timing.processor_clock_divider),
            running.eq(alive & ~gate.reset),
            core.clk.eq(gate.clk),
            core.edge.eq(gate.edge),
            core.reset.eq(gate.reset),
            # Before its reset the state of a core is undefined.
            pc.eq(Mux(gate.reset, 0, core.pc)),
            router.edge.eq(gate.edge),
            router.run.eq(running),
            router.written.eq(memory.wide.valid & memory.wide.write),
            router.written_address.eq(memory.wide.address),
            watchdog.awake.eq(awake),
            watchdog.kick.eq(mmio.kick),
            watchdog.limit.eq(self.timing.processor_watchdog),
            crash.run.eq(self.registers.run),
            crash.asleep.eq(pending.asleep),
            crash.fault.valid.eq(router.fault | mmio.bad | refused),
            crash.trap.eq(core.trap & running),
            crash.expired.eq(watchdog.expired),
            crash.core_pc.eq(pc),
        ]
        with m.If(mmio.bad):
            m.d.comb += crash.fault.address.eq(MMIO_BASE | mmio.bus.address)
        with m.Elif(refused):
            for engine in self.engines:
                with m.If(engine.error):
                    m.d.comb += crash.fault.address.eq(engine.error_address)
        with m.Else():
            m.d.comb += crash.fault.address.eq(core.bus.address)
        if self._step is None:
            m.submodules.profile = Instance(
                "nicbed_profile", i_clk=ClockSignal(), i_enable=self.profile, i_node=self.node,
                i_pc=pc, i_awake=awake & running)
