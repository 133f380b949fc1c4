"""A set-associative cache over the translation and protection table in host memory."""

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, memory, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import ceil_log2

from ....layouts.via import INDEX_BITS
from ...parts.sizes import check_integer
from .translation_table import TranslationEntry

__all__ = ["CacheFill", "CacheLook", "TranslationCache"]

REPLACEMENTS = ("lru", "fifo", "random")
WAYS = 8

CacheLook = wiring.Signature({
    "read": Out(1),
    "index": Out(INDEX_BITS),
    "found": In(1),
    "entry": In(TranslationEntry),
    "victim": In(range(WAYS)),
    "use": Out(1),
    "claim": Out(1),
    "clear": Out(1),
})
"""A look-up (``read``) reads the set of ``index``; in the next cycle, and until the next look-up,
``found`` and ``entry`` say what it found and ``victim`` which way of the set is to give way. In
those cycles ``use`` makes the line found the set's youngest (lru only), ``claim`` the victim (lru
and fifo: now, not when it is filled), and ``clear`` empties the line found; not together with
``read``."""

CacheFill = wiring.Signature({
    "valid": Out(1),
    "index": Out(INDEX_BITS),
    "way": Out(range(WAYS)),
    "entry": Out(TranslationEntry),
})
"""In a cycle with ``valid``, ``entry``, which must be valid, is stored in a way of its set. Not
together with ``read``, because the look-up would miss it, nor with ``clear``."""


class TranslationCache(wiring.Component):
    """A cache whose lines hold one valid table entry each, found by the entry's index.

    Victim: an empty way, else the oldest, by last use (lru) or by claim (fifo), or by chance
    (random: a generator that steps at each claim).

    Latency: 1 cycle. Throughput: a look-up a cycle. Reset: empty; ``ready`` after ``sets`` cycles.
    There must be no request before that.

    Parameters
    ----------
    sets, ways : int
        Geometry: powers of two, 1 to 1024 and 1 to 8.
    replacement : str
        ``lru``, ``fifo`` or ``random``.

    Members
    -------
    ready : Out(1)
        Emptied.
    look : In(CacheLook), fill : In(CacheFill)
        Look-ups, and entries to store.

    Raises
    ------
    TypeError, ValueError
        A parameter breaks its rule.
    """

    def __init__(self, *, sets: int, ways: int, replacement: str) -> None:
        for name, value, limit in (("sets", sets, 1024), ("ways", ways, WAYS)):
            check_integer(name, value)
            if not 1 <= value <= limit or value & (value - 1):
                raise ValueError(f"{name} must be a power of two of 1 to {limit}, not {value}")
        if replacement not in REPLACEMENTS:
            raise ValueError(f"replacement must be one of {', '.join(REPLACEMENTS)}, "
                             f"not {replacement!r}")
        self._sets = sets
        self._ways = ways
        self._replacement = replacement
        self._set_bits = ceil_log2(sets)
        self._looked = Signal(INDEX_BITS)
        self._match = Signal(ways)
        self._line = data.StructLayout({"key": max(INDEX_BITS - self._set_bits, 1),
                                        "entry": TranslationEntry})
        super().__init__({
            "ready": Out(1),
            "look": In(CacheLook),
            "fill": In(CacheFill),
        })

    @property
    def sets(self) -> int:
        """Sets of the cache."""
        return self._sets

    @property
    def ways(self) -> int:
        """Lines of a set."""
        return self._ways

    @property
    def replacement(self) -> str:
        """Tells which line of a full set is replaced."""
        return self._replacement

    def elaborate(self, platform: object) -> Module:
        m = Module()
        bits, ways = self._set_bits, self._ways
        sweep = Signal(range(self._sets + 1))
        looked, match = self._looked, self._match
        valid = Signal(ways)
        writes = Signal(ways)
        place = Signal(max(bits, 1))
        line = Signal(self._line)

        with m.If(~self.ready):
            m.d.sync += [sweep.eq(sweep + 1), self.ready.eq(sweep == self._sets - 1)]
            m.d.comb += [writes.eq(~0), place.eq(sweep)]
        with m.Elif(self.fill.valid):
            m.d.comb += [
                writes.eq(1 << self.fill.way),
                place.eq(self.fill.index[:bits]),
                line.key.eq(self.fill.index[bits:]),
                line.entry.eq(self.fill.entry),
            ]
        with m.Elif(self.look.clear):
            m.d.comb += [writes.eq(match), place.eq(looked[:bits])]
        with m.If(self.look.read):
            m.d.sync += looked.eq(self.look.index)

        entry: Value | None = None
        for way in range(ways):
            m.submodules[f"way_{way}"] = lines = self._way(way)
            read, write = lines.read_port(), lines.write_port()
            m.d.comb += [
                read.addr.eq(self.look.index[:bits]),
                read.en.eq(self.look.read),
                write.addr.eq(place),
                write.data.eq(line),
                write.en.eq(writes[way]),
                valid[way].eq(read.data.entry.valid),
                match[way].eq(read.data.entry.valid & (read.data.key == looked[bits:])),
            ]
            found = Value.cast(read.data.entry)
            entry = found if entry is None else Mux(match[way], found, entry)
        m.d.comb += [self.look.entry.eq(entry), self.look.found.eq(match.any())]
        self._choose(m, match=match, valid=valid, looked=looked, sweep=sweep)
        return m

    def _way(self, way: int) -> memory.Memory:
        """The lines of a way; a proof overrides this to access them."""
        # A memory of one word has no address, which not every tool likes.
        return memory.Memory(shape=self._line, depth=max(self._sets, 2), init=[])

    def _choose(self, m: Module, *, match: Signal, valid: Signal, looked: Signal, sweep: Signal
                ) -> None:
        """The victim, and the order of the ways from which it follows."""
        bits, ways = self._set_bits, self._ways
        if ways == 1:
            return
        oldest = Signal(range(ways))
        if self._replacement == "random":
            # A maximal-length generator: x^16 + x^14 + x^13 + x^11 + 1.
            chance = Signal(16, init=1)
            m.d.comb += oldest.eq(chance)
            with m.If(self.look.claim):
                feedback = chance[0] ^ chance[2] ^ chance[3] ^ chance[5]
                m.d.sync += chance.eq(Cat(chance[1:], feedback))
        else:
            way_bits = ceil_log2(ways)
            # The number of younger ways of the set, for each way: always a permutation.
            m.submodules.ages = ages = memory.Memory(shape=data.ArrayLayout(way_bits, ways),
                                                     depth=max(self._sets, 2), init=[])
            write = ages.write_port()
            # A look-up in the cycle in which the previous one makes its line the youngest.
            read = ages.read_port(transparent_for=[write])
            touched = Signal(ways)
            age = Signal(way_bits)
            m.d.comb += [
                read.addr.eq(self.look.index[:bits]),
                read.en.eq(self.look.read),
                touched.eq(Mux(self.look.claim, 1 << self.look.victim, match)),
            ]
            for way in range(ways):
                with m.If(read.data[way] == ways - 1):
                    m.d.comb += oldest.eq(way)
                with m.If(touched[way]):
                    m.d.comb += age.eq(read.data[way])
            touch = self.look.claim
            if self._replacement == "lru":
                touch = touch | (self.look.use & self.look.found)
            with m.If(~self.ready):
                m.d.comb += [write.en.eq(1), write.addr.eq(sweep)]
                m.d.comb += [write.data[way].eq(way) for way in range(ways)]
            with m.Elif(touch):
                m.d.comb += [write.en.eq(1), write.addr.eq(looked[:bits])]
                for way in range(ways):
                    old = read.data[way]
                    m.d.comb += write.data[way].eq(
                        Mux(touched[way], 0, Mux(old < age, old + 1, old)))
        m.d.comb += self.look.victim.eq(oldest)
        for way in reversed(range(ways)):
            with m.If(~valid[way]):
                m.d.comb += self.look.victim.eq(way)
