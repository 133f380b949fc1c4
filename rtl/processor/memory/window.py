"""NIC memory in the PIO window: access rights, and the check sum of loading."""

from amaranth.hdl import Module, Signal
from amaranth.lib import memory, stream, wiring
from amaranth.lib.wiring import In, Out

from ....layouts.processor import WINDOW_OWNER, WINDOW_PAGE
from ...bus.pio import PROCESS_BITS, PioAccess
from ...parts.sizes import check_integer
from ..types import WIDE_ADDRESS_BITS, LoadCheck, WidePort

__all__ = ["Window"]

_PAGE_BITS = 8
_OWNER_BITS = 24
_SHIFT = WINDOW_PAGE.bit_length() - 1
_PAGE = WINDOW_OWNER.offset("page")
_PROCESS = WINDOW_OWNER.offset("process")


class Window(wiring.Component):
    """Carries PIO accesses to NIC memory, each in the cycle in which it arrives.

    Process 0, the kernel, may access all of NIC memory, any other process the pages of WINDOW_PAGE
    bytes that it owns. Refused, and counted by ``refused``: any other access, and one beyond the
    memory's end. A refused write changes nothing, a refused read gives 0.

    Latency: none. Back-pressure: none, so ``port`` must be ready in every cycle. Reset: sums 0; the
    owners stay; at power-up all is the kernel's.

    Parameters
    ----------
    memory_bytes : :class:`int`
        Size of NIC memory: a power of two, 4096 to 1048576.

    Members
    -------
    pio : ``In(PioAccess)``
        Accesses, by address in NIC memory.
    port : ``Out(WidePort)``
        To NIC memory; always ready.
    owner : ``In(stream of WINDOW_OWNER)``
        Gives a page to a process, from the next cycle on; always ready.
    load : ``In(LoadCheck)``
        Of the words written.
    wrote : ``Out(1)``
        High for a cycle with each write: Pending.WINDOW.
    refused : ``Out(1)``
        High for a cycle with each access refused.
    idle : ``Out(1)``
        No access is under way.

    Raises
    ------
    TypeError
        ``memory_bytes`` is not an integer.
    ValueError
        ``memory_bytes`` is not a power of two from 4096 to 1048576.
    """

    pio: In(PioAccess)
    port: Out(WidePort)
    owner: In(stream.Signature(_OWNER_BITS, always_ready=True))
    load: In(LoadCheck)
    wrote: Out(1)
    refused: Out(1)
    idle: Out(1)

    def __init__(self, *, memory_bytes: int) -> None:
        check_integer("memory_bytes", memory_bytes)
        limit = 8 << WIDE_ADDRESS_BITS
        if memory_bytes & (memory_bytes - 1) or not WINDOW_PAGE <= memory_bytes <= limit:
            raise ValueError(f"memory_bytes must be a power of two from {WINDOW_PAGE} to {limit}, "
                             f"not {memory_bytes}")
        self._memory_bytes = memory_bytes
        super().__init__()

    @property
    def memory_bytes(self) -> int:
        """Size of NIC memory."""
        return self._memory_bytes

    def elaborate(self, platform: object) -> Module:
        m = Module()
        # Read in the cycle of the access: distributed RAM.
        m.submodules.owners = owners = memory.Memory(shape=PROCESS_BITS, depth=1 << _PAGE_BITS,
                                                     init=[])
        give = owners.write_port()
        look = owners.read_port(domain="comb")
        pio, port = self.pio, self.port
        reading = Signal()
        allowed = Signal()

        m.d.comb += [
            give.en.eq(self.owner.valid),
            give.addr.eq(self.owner.payload[_PAGE:_PAGE + _PAGE_BITS]),
            give.data.eq(self.owner.payload[_PROCESS:_PROCESS + PROCESS_BITS]),
            look.addr.eq(pio.address[_SHIFT:]),
            port.write.eq(pio.write),
            port.address.eq(pio.address[3:]),
            port.data.eq(pio.data),
            port.strobe.eq(0xFF),
            self.idle.eq(~pio.valid & ~reading),
        ]
        m.d.sync += reading.eq(port.valid & ~pio.write)
        with m.If(reading):
            m.d.comb += pio.read.eq(port.read)
        with m.If(pio.valid):
            m.d.comb += [
                allowed.eq(((pio.process == 0) | (pio.process == look.data))
                           & (pio.address < self._memory_bytes)),
                port.valid.eq(allowed),
                self.wrote.eq(allowed & pio.write),
                self.refused.eq(~allowed),
            ]
        load = self.load
        with m.If(load.clear):
            m.d.sync += [load.words.eq(0), load.sum.eq(0)]
        with m.Elif(self.wrote):
            m.d.sync += [
                load.words.eq(load.words + 1),
                load.sum.eq(load.sum.rotate_left(1) + pio.data),
            ]
        return m
