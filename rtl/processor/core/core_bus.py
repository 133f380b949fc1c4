"""Decoding of a core's accesses."""

from amaranth.hdl import Cat, Const, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import ceil_log2

from ....layouts.processor import MMIO_BASE
from ..types import MMIO_ADDRESS_BITS, WIDE_ADDRESS_BITS, CoreBus, MmioBus, WidePort
from .fetch_buffer import FetchBuffer

__all__ = ["CoreRouter"]


class CoreRouter(wiring.Component):
    """Routes a core's accesses to NIC memory, to the registers, or nowhere.

    Latency, from the first cycle of an access to that of its answer: a store 0 cycles, a load 1, a
    fetch as :class:`FetchBuffer` says, a register as long as it takes. One more for each cycle that
    NIC memory is not ready. An answer that comes between two edges of a slow core is held for it.
    An access to any other address raises ``fault`` and is never answered, except that a fetch of a
    core that ``speculates`` reads 0, an illegal instruction. Reset, and ``run`` low: no access is
    under way, and the core's bus is ignored.

    Parameters
    ----------
    size : :class:`int`
        Bytes of NIC memory, a power of two.
    speculates : :class:`bool`
        The core may fetch instructions that it does not execute, from anywhere.

    Members
    -------
    core : ``In(CoreBus)``, edge : ``In(1)``
        The core, and whether its clock rises at the end of this cycle.
    run : ``In(1)``
        The core has been reset and runs.
    memory : ``Out(WidePort)``
        NIC memory.
    mmio : ``Out(MmioBus)``
        The registers.
    written : ``In(1)``, written_address : ``In(WIDE_ADDRESS_BITS)``
        A word of NIC memory that another client writes in this cycle.
    fault : ``Out(1)``
        The access of this cycle is to an unmapped address.

    Raises
    ------
    TypeError
        ``size`` is not an integer.
    ValueError
        ``size`` is not a power of two.
    """

    core: In(CoreBus)
    edge: In(1)
    run: In(1)
    memory: Out(WidePort)
    mmio: Out(MmioBus)
    written: In(1)
    written_address: In(WIDE_ADDRESS_BITS)
    fault: Out(1)

    def __init__(self, *, size: int, speculates: bool = False) -> None:
        if not isinstance(size, int) or isinstance(size, bool):
            raise TypeError(f"size must be an integer, not {size!r}")
        if size < 1 or size & (size - 1):
            raise ValueError(f"size must be a power of two, not {size}")
        self._size = size
        self._speculates = bool(speculates)
        super().__init__()

    @property
    def size(self) -> int:
        """Bytes of NIC memory."""
        return self._size

    @property
    def speculates(self) -> bool:
        """Whether the core may fetch from anywhere."""
        return self._speculates

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.buffer = buffer = FetchBuffer()
        core, memory = self.core, self.memory

        answered, held = Signal(), Signal(32)
        valid, here, register = Signal(), Signal(), Signal()
        loads, stores, astray = Signal(), Signal(), Signal()
        m.d.comb += [
            valid.eq(core.valid & self.run & ~answered),
            here.eq(valid & (core.address[ceil_log2(self._size):] == 0)),
            register.eq(valid & ~core.fetch & (core.address[MMIO_ADDRESS_BITS:]
                                               == MMIO_BASE >> MMIO_ADDRESS_BITS)),
            astray.eq(valid & ~here & core.fetch & self._speculates),
            self.fault.eq(valid & ~here & ~register & ~astray),
            loads.eq(here & ~core.fetch & ~core.write),
            stores.eq(here & core.write),
        ]

        loading = Signal()
        done, data = Signal(), Signal(32)
        m.d.comb += [
            memory.address.eq(core.address >> 3),
            memory.write.eq(stores),
            memory.data.eq(Cat(core.data, core.data)),
            memory.strobe.eq(Mux(core.address[2], Cat(Const(0, 4), core.strobe), core.strobe)),
            buffer.fetch.eq(here & core.fetch),
            buffer.address.eq(core.address),
            buffer.data.eq(memory.read),
            buffer.clear.eq(~self.run),
            buffer.written[0].eq(self.written),
            buffer.written_address[0].eq(self.written_address),
            buffer.written[1].eq(memory.valid & memory.write),
            buffer.written_address[1].eq(memory.address),
            self.mmio.valid.eq(register),
            self.mmio.write.eq(core.write),
            self.mmio.address.eq(core.address),
            self.mmio.data.eq(core.data),
        ]
        with m.If(loads & ~loading | stores):
            m.d.comb += memory.valid.eq(1)
        with m.Else():
            m.d.comb += [
                memory.valid.eq(buffer.ask & self.run),
                memory.address.eq(buffer.ask_address),
                buffer.granted.eq(memory.valid & memory.ready),
            ]
        m.d.sync += loading.eq(loads & ~loading & memory.ready)

        with m.If(loading):
            m.d.comb += [done.eq(1), data.eq(memory.read.word_select(core.address[2], 32))]
        with m.Elif(stores):
            m.d.comb += done.eq(memory.ready)
        with m.Elif(register):
            m.d.comb += [done.eq(self.mmio.ack), data.eq(self.mmio.read)]
        with m.Elif(astray):
            m.d.comb += done.eq(1)
        with m.Else():
            m.d.comb += [done.eq(buffer.hit), data.eq(buffer.word)]
        m.d.comb += [
            core.ack.eq(answered | done),
            core.read.eq(Mux(answered, held, data)),
        ]
        with m.If(self.edge | ~self.run):
            m.d.sync += answered.eq(0)
        with m.Elif(done):
            m.d.sync += [answered.eq(1), held.eq(data)]
        with m.If(~self.run):
            m.d.sync += loading.eq(0)
        return m
