"""Decoding of a core's accesses."""

from amaranth.hdl import Cat, Const, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import ceil_log2

from ....layouts.processor import HOST_BASE, MMIO_BASE
from ...parts.sizes import check_integer
from ..types import (
    HOST_ADDRESS_BITS,
    MMIO_ADDRESS_BITS,
    WIDE_ADDRESS_BITS,
    CoreBus,
    HostWordBus,
    MmioBus,
    WidePort,
)
from .fetch_buffer import FetchBuffer

__all__ = ["CoreRouter"]


class CoreRouter(wiring.Component):
    """Routes a core's accesses to NIC memory, to the registers, to host memory, or nowhere.

    Latency, from the first cycle of an access to that of its answer: a store 0 cycles, a load 1, a
    fetch as :class:`FetchBuffer` says, a register or host memory as long as it takes. One more for
    each cycle that
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
    host_bytes : :class:`int`
        Bytes of host memory that the core loads and stores itself, 0 or a power of two.

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
    host : ``Out(HostWordBus)``
        Host memory; only with ``host_bytes``.
    written : ``In(1)``, written_address : ``In(WIDE_ADDRESS_BITS)``
        A word of NIC memory that another client writes in this cycle.
    fault : ``Out(1)``
        The access of this cycle is to an unmapped address.

    Raises
    ------
    TypeError
        ``size`` or ``host_bytes`` is not an integer.
    ValueError
        ``size`` is not a power of two, or ``host_bytes`` neither 0 nor a power of two of at most
        2**HOST_ADDRESS_BITS.
    """

    def __init__(self, *, size: int, speculates: bool = False, host_bytes: int = 0) -> None:
        for name, value in (("size", size), ("host_bytes", host_bytes)):
            check_integer(name, value)
        if size < 1 or size & (size - 1):
            raise ValueError(f"size must be a power of two, not {size}")
        if host_bytes & (host_bytes - 1) or not 0 <= host_bytes <= 1 << HOST_ADDRESS_BITS:
            raise ValueError(f"host_bytes must be 0 or a power of two, up to "
                             f"{1 << HOST_ADDRESS_BITS}, not {host_bytes}")
        self._size = size
        self._speculates = bool(speculates)
        self._host_bytes = host_bytes
        super().__init__({
            "core": In(CoreBus),
            "edge": In(1),
            "run": In(1),
            "memory": Out(WidePort),
            "mmio": Out(MmioBus),
            **({"host": Out(HostWordBus)} if host_bytes else {}),
            "written": In(1),
            "written_address": In(WIDE_ADDRESS_BITS),
            "fault": Out(1),
        })

    @property
    def size(self) -> int:
        """Bytes of NIC memory."""
        return self._size

    @property
    def speculates(self) -> bool:
        """Tells whether the core may fetch from anywhere."""
        return self._speculates

    @property
    def host_bytes(self) -> int:
        """Bytes of host memory that the core accesses itself."""
        return self._host_bytes

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.buffer = buffer = FetchBuffer()
        core, memory = self.core, self.memory

        answered, held = Signal(), Signal(32)
        valid, here, register = Signal(), Signal(), Signal()
        loads, stores, astray = Signal(), Signal(), Signal()
        remote = Signal()
        m.d.comb += [
            valid.eq(core.valid & self.run & ~answered),
            here.eq(valid & (core.address[ceil_log2(self._size):] == 0)),
            register.eq(valid & ~core.fetch & (core.address[MMIO_ADDRESS_BITS:]
                                               == MMIO_BASE >> MMIO_ADDRESS_BITS)),
            astray.eq(valid & ~here & core.fetch & self._speculates),
            self.fault.eq(valid & ~here & ~register & ~remote & ~astray),
            loads.eq(here & ~core.fetch & ~core.write),
            stores.eq(here & core.write),
        ]

        if self._host_bytes:
            m.d.comb += [
                remote.eq(valid & ~core.fetch & (core.address[ceil_log2(self._host_bytes):]
                                                 == HOST_BASE >> ceil_log2(self._host_bytes))),
                self.host.valid.eq(remote),
                self.host.write.eq(core.write),
                self.host.address.eq(core.address),
                self.host.data.eq(core.data),
                self.host.strobe.eq(core.strobe),
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
        if self._host_bytes:
            with m.If(remote):
                m.d.comb += [done.eq(self.host.ack), data.eq(self.host.read)]
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
