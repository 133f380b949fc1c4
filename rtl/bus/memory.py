"""Host memory of a node, and the controller that shares its one port."""

from amaranth.hdl import C, Cat, ClockSignal, Instance, Module, Mux, Signal, Value
from amaranth.lib import data, memory, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import ceil_log2

from ...layouts.rate import FRACTION_BITS
from ...layouts.trace import Block, Kind
from ..parts.event import EventPort
from ..parts.round_robin import RoundRobin
from ..parts.sizes import check_integer, check_power_of_two
from ..parts.timing import Timing
from .burst import Burst

__all__ = ["MemoryPort", "Snoop", "HostMemory", "MemoryController"]


def MemoryPort(words: int) -> wiring.Signature:
    """The port of a memory of ``words`` 8-byte words, from its user's side. A cycle with ``en`` is
    an access to word ``address``: a write (``we``) of the bytes of ``wdata`` that ``strobe``
    selects, or a read, whose ``rdata`` is valid in the next cycle only."""
    return wiring.Signature({
        "en": Out(1),
        "we": Out(1),
        "address": Out(ceil_log2(words)),
        "wdata": Out(64),
        "strobe": Out(8),
        "rdata": In(64),
    })


class Snoop(data.Struct):
    """An access to host memory, reported to the caches in the next cycle: a read, or a ``write``
    that changed a byte, of the word at ``address``, by the controller's initiator ``source``."""

    valid: 1
    write: 1
    address: 32
    source: 4


class HostMemory(wiring.Component):
    """Memory of ``words`` 8-byte words with one port of read latency 1. Reset changes no word.

    Two implementations with the same timing:

    - ``"array"``: an Amaranth memory; on an FPGA block RAM.
    - ``"dpi"``: an instance of ``nicbed_memory``, whose words live in the simulator, where the host
      sees them: parameter ``WORDS``; inputs ``clk``, ``node``, ``en``, ``we``, ``addr`` (32 bits,
      of words), ``wdata``, ``strobe``; output ``rdata``.

    Parameters
    ----------
    words : :class:`int`
        Size: a power of two, 2 or more.
    kind : :class:`str`
        ``"array"`` or ``"dpi"``.

    Members
    -------
    port : ``In(MemoryPort)``
        The port.
    node : ``In(8)``
        The node whose memory this is: a constant. Only ``"dpi"`` looks at it.

    Raises
    ------
    TypeError
        ``words`` is not an integer.
    ValueError
        ``words`` is not a power of two of at least 2, or ``kind`` is neither of the two.
    """

    KINDS = ("array", "dpi")

    def __init__(self, *, words: int, kind: str) -> None:
        check_power_of_two("words", words)
        if kind not in self.KINDS:
            raise ValueError(f"kind must be 'array' or 'dpi', not {kind!r}")
        self._words = words
        self._kind = kind
        super().__init__({"port": In(MemoryPort(words)), "node": In(8)})

    @property
    def words(self) -> int:
        """Size in 8-byte words."""
        return self._words

    @property
    def kind(self) -> str:
        """The implementation."""
        return self._kind

    def elaborate(self, platform: object) -> Module:
        m = Module()
        port = self.port
        if self._kind == "dpi":
            m.submodules.words = Instance(
                "nicbed_memory", p_WORDS=self._words, i_clk=ClockSignal(), i_node=self.node,
                i_en=port.en, i_we=port.we, i_addr=Cat(port.address, C(0, 32))[:32],
                i_wdata=port.wdata, i_strobe=port.strobe, o_rdata=port.rdata)
            return m
        m.submodules.words = words = memory.Memory(shape=64, depth=self._words, init=[])
        write = words.write_port(granularity=8)
        read = words.read_port()
        m.d.comb += [
            write.addr.eq(port.address),
            write.data.eq(port.wdata),
            write.en.eq(port.strobe & (port.en & port.we).replicate(8)),
            read.addr.eq(port.address),
            read.en.eq(port.en & ~port.we),
            port.rdata.eq(read.data),
        ]
        return m


class MemoryController(wiring.Component):
    """Shares a memory's port among initiators, a beat at a time, round-robin.

    A request is taken in the cycle in which it is offered, if the initiator's last burst is over.
    Then, without other users of the port:

    - a read's first word is handed over ``memory.latency + 2`` cycles after its request was taken,
      the others follow one a cycle: the latency occupies nothing, so bursts of several initiators
      overlap in it. Back-pressure: a beat is read only when the word before was handed over.
    - a write's first beat may be taken in the cycle after its request, and lands at the end of the
      cycle in which it was taken; so a read granted later sees it.

    A beat occupies the port for ``memory.width`` / ``memory.bytes_per_cycle`` cycles; fractions add
    up while the port is busy. If an initiator's beat is granted with ``lock`` high, the initiator
    keeps the port until ``lock`` falls, and its accesses meanwhile are atomic. A read whose request
    comes with ``lock`` high has no latency: it is of a line in the initiator's cache. Addresses
    wrap at the memory's size. Reset: no burst, initiator 0 first.

    Parameters
    ----------
    initiators : :class:`int`
        1 to 16.
    writers : :class:`int`
        Further initiators, which only write, and strobe no byte: what they do is not snooped.
    words : :class:`int`
        The memory's 8-byte words: a power of two, 2 or more.

    Members
    -------
    burst : ``In(Burst)``, lock : ``In(1)``, one of each an initiator
        The initiators, the writers behind the others.
    port : ``Out(MemoryPort)``
        The memory.
    snoop : ``Out(Snoop)``
        Each access, in the cycle after it. Writes with no byte strobed are left out.
    timing : ``In(Timing)``
        The timing registers.
    idle : ``Out(1)``
        No burst is under way, and none has effects left.
    events : ``Out(EventPort)``, one for BEGIN and one for END
        Only with ``traced``: BEGIN in the first cycle in which the port is taken (a beat, or its
        time at the memory's rate), END in the first in which it is free. No number.

    Raises
    ------
    TypeError
        ``initiators``, ``writers`` or ``words`` is not an integer.
    ValueError
        ``initiators`` is not 1 to 16, ``writers`` is negative, or ``words`` is not a power of two
        of at least 2.
    """

    event_sources = (Block.MEMORY, Block.MEMORY)
    """The block of each of :attr:`events`."""

    def __init__(self, *, initiators: int, words: int, traced: bool = False,
                 writers: int = 0) -> None:
        for name, value in (("initiators", initiators), ("words", words), ("writers", writers)):
            check_integer(name, value)
        if not 1 <= initiators <= 16:
            raise ValueError(f"initiators must be 1 to 16, not {initiators}")
        if writers < 0:
            raise ValueError(f"writers must not be negative, not {writers}")
        check_power_of_two("words", words)
        self._initiators = initiators + writers
        self._words = words
        super().__init__({
            "burst": In(Burst()).array(initiators + writers),
            "lock": In(1).array(initiators + writers),
            "port": Out(MemoryPort(words)),
            "snoop": Out(Snoop),
            "timing": In(Timing),
            "idle": Out(1),
            **({"events": Out(EventPort).array(len(self.event_sources))} if traced else {}),
        })
        self._traced = traced

    @property
    def initiators(self) -> int:
        """Initiators, the writers among them."""
        return self._initiators

    @property
    def words(self) -> int:
        """The memory's size in 8-byte words."""
        return self._words

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.arbiter = arbiter = RoundRobin(count=self._initiators)

        available = Signal()
        owed = self._throttle(m, available=available)

        active = Signal(self._initiators)
        wants = Signal(self._initiators)
        locked = Signal(self._initiators)
        holds = Signal(self._initiators)
        granted = Signal(self._initiators)
        m.d.comb += [
            holds.eq(locked & Cat(*self.lock)),
            arbiter.requests.eq(wants & Mux(holds.any(), holds, ~0)),
            arbiter.advance.eq(available),
            granted.eq(arbiter.grant & available.replicate(self._initiators)),
            self.port.en.eq(granted.any()),
            self.idle.eq(~active.any() & (owed == 0) & ~self.snoop.valid),
        ]
        m.d.sync += locked.eq((locked | granted) & Cat(*self.lock))

        address = Signal(32)
        m.d.comb += self.port.address.eq(address[3:])
        writes = Signal()
        m.d.comb += self.port.we.eq(writes)
        for index in range(self._initiators):
            self._initiator(m, index, active=active[index], wants=wants[index],
                            granted=granted[index], address=address, writes=writes)

        m.d.sync += [
            self.snoop.valid.eq(self.port.en & (~writes | self.port.strobe.any())),
            self.snoop.write.eq(writes),
            self.snoop.address.eq(address),
            self.snoop.source.eq(arbiter.index),
        ]
        if self._traced:
            taken, before = Signal(), Signal()
            begin, end = self.events
            m.d.sync += before.eq(taken)
            m.d.comb += [
                taken.eq(self.port.en | ~available),
                begin.valid.eq(taken & ~before),
                begin.kind.eq(Kind.BEGIN),
                end.valid.eq(before & ~taken),
                end.kind.eq(Kind.END),
            ]
        return m

    def _throttle(self, m: Module, *, available: Signal) -> Signal:
        beat_time = 8 << FRACTION_BITS
        rate = self.timing.memory_bytes_per_cycle
        owed = Signal(range(2 * beat_time))
        m.d.comb += available.eq(owed <= rate)
        with m.If(self.port.en):
            # The rest of the last beat's cycle counts for this beat, if it follows at once.
            m.d.sync += owed.eq(Mux(owed == 0, beat_time, owed + beat_time - rate))
        with m.Elif(available):
            m.d.sync += owed.eq(0)
        with m.Else():
            m.d.sync += owed.eq(owed - rate)
        return owed

    def _initiator(self, m: Module, index: int, *, active: Value, wants: Value, granted: Value,
                   address: Signal, writes: Signal) -> None:
        burst = self.burst[index]
        request = burst.request.payload

        write = Signal(name=f"write_{index}")
        at = Signal(32, name=f"address_{index}")
        jump = Signal(32, name=f"jump_address_{index}")
        left = Signal.like(request.beats, name=f"left_{index}")
        wait = Signal(12, name=f"wait_{index}")
        coming = Signal(name=f"coming_{index}")
        kept = Signal(name=f"kept_{index}")
        word = Signal(64, name=f"word_{index}")

        m.d.comb += burst.request.ready.eq(~active)
        with m.If(burst.request.valid & ~active):
            m.d.sync += [active.eq(1), write.eq(request.write), at.eq(request.address),
                         jump.eq(request.jump_address), left.eq(request.beats),
                         wait.eq(Mux(self.lock[index], 0, self.timing.memory_latency))]

        room = Signal(name=f"room_{index}")
        m.d.comb += [
            burst.read.valid.eq(coming | kept),
            burst.read.payload.eq(Mux(kept, word, self.port.rdata)),
            room.eq(~burst.read.valid | burst.read.ready),
        ]
        m.d.sync += [
            coming.eq(granted & ~write),
            kept.eq(burst.read.valid & ~burst.read.ready),
        ]
        with m.If(coming):
            m.d.sync += word.eq(self.port.rdata)

        with m.If(active):
            with m.If(wait != 0):
                m.d.sync += wait.eq(wait - 1)
            with m.If(write):
                m.d.comb += wants.eq(burst.write.valid)
            with m.Else():
                m.d.comb += wants.eq((wait == 0) & (left != 0) & room)
        with m.If(granted):
            m.d.comb += [
                address.eq(at),
                writes.eq(write),
                self.port.wdata.eq(burst.write.payload.data),
                self.port.strobe.eq(burst.write.payload.strobe),
                burst.write.ready.eq(write),
            ]
            with m.If(write & burst.write.payload.jump):
                m.d.comb += address.eq(jump)
            m.d.sync += [at.eq(at + 8), left.eq(left - 1)]

        with m.If(active & Mux(write, granted & (left == 1),
                               burst.read.valid & burst.read.ready & (left == 0))):
            m.d.comb += burst.done.eq(1)
            m.d.sync += active.eq(0)
