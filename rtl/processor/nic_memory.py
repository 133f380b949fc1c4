"""NIC memory: firmware, its data, packets."""

from amaranth.hdl import Module, Signal
from amaranth.lib import memory, wiring
from amaranth.lib.wiring import In
from amaranth.utils import ceil_log2

from .types import WidePort

__all__ = ["NicMemory"]


class NicMemory(wiring.Component):
    """Memory with two 64-bit ports of read latency 1: on an FPGA true dual-port block RAM.

    Back-pressure: ``wide`` is always ready. ``core`` waits for one cycle where both ports access
    the same word and at least one of them writes, so that nothing depends on what a block RAM does
    then. Addresses wrap at the memory's size. Reset changes no word.

    Parameters
    ----------
    size : :class:`int`
        Bytes, a power of two, 16 or more.

    Members
    -------
    core : ``In(WidePort)``
        The processor's core.
    wide : ``In(WidePort)``
        The engines and the host.

    Raises
    ------
    TypeError
        ``size`` is not an integer.
    ValueError
        ``size`` is not a power of two of at least 16.
    """

    core: In(WidePort)
    wide: In(WidePort)

    def __init__(self, *, size: int) -> None:
        if not isinstance(size, int) or isinstance(size, bool):
            raise TypeError(f"size must be an integer, not {size!r}")
        if size < 16 or size & (size - 1):
            raise ValueError(f"size must be a power of two, at least 16, not {size}")
        self._size = size
        super().__init__()

    @property
    def size(self) -> int:
        """Bytes."""
        return self._size

    def elaborate(self, platform: object) -> Module:
        m = Module()
        depth = self._size // 8
        bits = ceil_log2(depth)
        m.submodules.words = words = memory.Memory(shape=64, depth=depth, init=[])
        clash = Signal()
        m.d.comb += [
            clash.eq(self.wide.valid & (self.core.write | self.wide.write)
                     & (self.core.address[:bits] == self.wide.address[:bits])),
            self.wide.ready.eq(1),
            self.core.ready.eq(~clash),
        ]
        for port in (self.core, self.wide):
            write = words.write_port(granularity=8)
            read = words.read_port()
            happens = port.valid & port.ready
            m.d.comb += [
                write.addr.eq(port.address),
                write.data.eq(port.data),
                write.en.eq(port.strobe & (happens & port.write).replicate(8)),
                read.addr.eq(port.address),
                read.en.eq(happens & ~port.write),
                port.read.eq(read.data),
            ]
        return m
