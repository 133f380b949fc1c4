"""The CPU's posted-write buffer: PIO accesses on their way to the bus, in program order."""

from amaranth.hdl import Module, Signal
from amaranth.lib import data, memory, stream, wiring
from amaranth.lib.wiring import In, Out

from ...layouts.packet import TRACE_BITS
from ..parts.sizes import check_count
from .pio import PIO_ADDRESS_BITS, PROCESS_BITS

__all__ = ["NIC_BITS", "NicBeat", "PioBeat", "PostedBuffer"]

NIC_BITS = 2
"""Bits of an address that select a NIC of the node."""


class PioBeat(data.Struct):
    """One 8-byte access of the CPU to the NIC.

    ``last`` ends a bus transaction (a burst of writes, or a single read). With ``answer`` the bus
    reports to the port when this beat is done. ``trace`` is the trace number of the whole
    transaction, ``process`` the process that makes it.
    """

    write: 1
    address: PIO_ADDRESS_BITS
    data: 64
    trace: TRACE_BITS
    process: PROCESS_BITS
    last: 1
    answer: 1


class NicBeat(data.Struct):
    """A :class:`PioBeat` of a CPU with several NICs, and the number of the NIC."""

    beat: PioBeat
    nic: NIC_BITS


class PostedBuffer(wiring.Component):
    """A first-in first-out buffer of ``depth`` beats.

    Latency: a beat is offered in the cycle after it was taken. Throughput: 1 beat a cycle.
    Back-pressure: ``i`` is ready while there is room; room made in a cycle counts from the next.
    Reset: empty. Read latency of the memory: none (distributed memory on an FPGA).

    Parameters
    ----------
    depth : :class:`int`
        Beats it holds, 2 or more.
    shape : PioBeat or NicBeat
        What it holds.

    Members
    -------
    i : ``In(stream of shape)``, o : ``Out(stream of shape)``
        In from the port, out to the bus.
    empty : ``Out(1)``
        Nothing is inside.

    Raises
    ------
    TypeError
        ``depth`` is not an integer.
    ValueError
        ``depth`` is less than 2.
    """

    def __init__(self, *, depth: int, shape: type[PioBeat] | type[NicBeat] = PioBeat) -> None:
        check_count("depth", depth, least=2)
        self._depth = depth
        self._shape = shape
        super().__init__({
            "i": In(stream.Signature(shape)),
            "o": Out(stream.Signature(shape)),
            "empty": Out(1, init=1),
        })

    @property
    def depth(self) -> int:
        """Beats that fit."""
        return self._depth

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.beats = beats = memory.Memory(shape=self._shape, depth=self._depth, init=[])
        write = beats.write_port()
        read = beats.read_port(domain="comb")

        level = Signal(range(self._depth + 1))
        head = Signal(range(self._depth))
        tail = Signal(range(self._depth))
        put = Signal()
        get = Signal()
        m.d.comb += [
            self.i.ready.eq(level != self._depth),
            self.o.valid.eq(~self.empty),
            self.empty.eq(level == 0),
            put.eq(self.i.valid & self.i.ready),
            get.eq(self.o.ready & self.o.valid),
            write.en.eq(put),
            write.addr.eq(tail),
            write.data.eq(self.i.payload),
            read.addr.eq(head),
            self.o.payload.eq(read.data),
        ]

        def step(place: Signal) -> None:
            with m.If(place == self._depth - 1):
                m.d.sync += place.eq(0)
            with m.Else():
                m.d.sync += place.eq(place + 1)

        with m.If(put):
            step(tail)
            with m.If(~get):
                m.d.sync += level.eq(level + 1)
        with m.Elif(get):
            m.d.sync += level.eq(level - 1)
        with m.If(get):
            step(head)
        return m
