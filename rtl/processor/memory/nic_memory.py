"""NIC memory: firmware, its data, packets."""

from amaranth.hdl import Module, Signal
from amaranth.lib import memory, wiring
from amaranth.lib.wiring import In
from amaranth.utils import ceil_log2

from ...parts.sizes import check_power_of_two
from ..types import WidePort

__all__ = ["NicMemory"]


class NicMemory(wiring.Component):
    """Memory with two 64-bit ports of read latency 1: on an FPGA true dual-port block RAM.

    Back-pressure: ``wide`` is always ready. ``core`` waits for one cycle if both ports access the
    same word and at least one of them writes, because the result of a block RAM is then undefined.
    Addresses wrap at the memory's size. Reset changes no word.

    Parameters
    ----------
    size : :class:`int`
        Bytes, a power of two, 16 or more.
    block_ram : :class:`bool`
        Write the memory so that yosys infers a true dual-port block RAM: two ports that write and
        read in turn, with undefined collisions. Cycles are the same.

    Members
    -------
    core : ``In(WidePort)``
        The processor's core.
    wide : ``In(WidePort)``
        The engines and the host.

    Raises
    ------
    TypeError
        ``size`` is not an integer, or ``block_ram`` not a bool.
    ValueError
        ``size`` is not a power of two of at least 16.
    """

    core: In(WidePort)
    wide: In(WidePort)

    def __init__(self, *, size: int, block_ram: bool = False) -> None:
        check_power_of_two("size", size, least=16)
        if not isinstance(block_ram, bool):
            raise TypeError(f"block_ram must be a bool, not {block_ram!r}")
        self._size = size
        self._block_ram = block_ram
        super().__init__()

    @property
    def size(self) -> int:
        """Bytes."""
        return self._size

    @property
    def block_ram(self) -> bool:
        """Tells whether the memory is written as a true dual-port block RAM."""
        return self._block_ram

    def elaborate(self, platform: object) -> Module:
        m = Module()
        depth = self._size // 8
        bits = ceil_log2(depth)
        m.submodules.words = words = memory.Memory(
            shape=64, depth=depth, init=[],
            attrs={"no_rw_check": 1} if self._block_ram else None)
        clash = Signal()
        m.d.comb += [
            clash.eq(self.wide.valid & (self.core.write | self.wide.write)
                     & (self.core.address[:bits] == self.wide.address[:bits])),
            self.wide.ready.eq(1),
            self.core.ready.eq(~clash),
        ]
        for port in (self.core, self.wide):
            write = words.write_port(granularity=8)
            read = words.read_port(domain="comb" if self._block_ram else "sync")
            happens = port.valid & port.ready
            reads = happens & ~port.write
            m.d.comb += [
                write.addr.eq(port.address),
                write.data.eq(port.data),
                write.en.eq(port.strobe & (happens & port.write).replicate(8)),
                read.addr.eq(port.address),
            ]
            if self._block_ram:
                # A register that reset clears could not be part of the RAM.
                word = Signal(64, reset_less=True)
                with m.If(reads):
                    m.d.sync += word.eq(read.data)
                m.d.comb += port.read.eq(word)
            else:
                m.d.comb += [read.en.eq(reads), port.read.eq(read.data)]
        return m
