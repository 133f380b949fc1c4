"""The first of two levels of a CPU's cache, without data: the lines that loads find at once."""

from amaranth.hdl import Cat, Const, Module, Mux, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import ceil_log2

from ...layouts.operations import CACHE_LINE
from ..parts.sizes import check_count, check_power_of_two
from .cache.tags import Tags

__all__ = ["InnerCache", "TagChange"]


class TagChange(data.Struct):
    """In a cycle with ``valid`` the outer level writes an entry of its tags: from the next cycle on
    it is that of the line at ``address``, and the level has this line if ``held``."""

    valid: 1
    held: 1
    address: 32


class InnerCache(wiring.Component):
    """Direct-mapped cache of ``lines`` lines that keeps only tags, in front of an outer level of
    ``outer_lines``: a :class:`TagCache` or a :class:`CoherentCache`.

    The outer level owns the lines: it has their states, tells other caches and the NIC of them, and
    is the only one that uses memory. Every access goes to it, as without this level, and takes what
    it takes there. Only of a load that the outer level has answered at once is it decided here when
    it ends:

    - the line is here, too: at once, after 1 cycle;
    - it is in the outer level alone: after ``cycles`` cycles. Meanwhile the outer level is asked
      again in each cycle, so if it loses the line (or a poll its word), the line is read from
      memory from that cycle on.

    A store writes through to the outer level, and does not wait for it: it takes there what a store
    takes, and brings no line in here. So do a compare-and-swap and a block store.

    A load brings its line in with its last cycle, also one that has read it from memory; unless the
    outer level has not kept the line, or changes the tag of another one in that cycle. A line that
    the outer level gives up, for whatever reason, leaves in the same cycle. So what is here is in
    the outer level (*inclusion*), and nobody else needs to know of this level.

    Reset: all lines invalid, after one cycle (:class:`Tags`).

    Parameters
    ----------
    lines, outer_lines : :class:`int`
        Lines of this level and of the outer one: powers of two, 2 or more, and more in the outer.
    cycles : :class:`int`
        Cycles of a load that finds its line in the outer level alone, 2 or more.
    line_bytes : :class:`int`
        Bytes of a line, of both levels.

    Members
    -------
    valid : ``In(1)``, address : ``In(32)``, fetch : ``In(1)``
        The access, as the outer level has it.
    load : ``In(1)``
        It is a load: no store and no flush.
    hit : ``In(1)``, done : ``In(1)``, change : ``In(TagChange)``
        What the outer level says of it, and the outer level's tags.
    waits : ``Out(1)``
        The access goes on, although the outer level has ``done``.

    Raises
    ------
    TypeError
        ``lines``, ``outer_lines``, ``cycles`` or ``line_bytes`` is not an integer.
    ValueError
        ``lines``, ``outer_lines`` or ``line_bytes`` is not a power of two, or too small;
        ``outer_lines`` is not more than ``lines``, or ``cycles`` less than 2.
    """

    valid: In(1)
    address: In(32)
    load: In(1)
    fetch: In(1)
    hit: In(1)
    done: In(1)
    change: In(TagChange)
    waits: Out(1)

    def __init__(self, *, lines: int, outer_lines: int, cycles: int,
                 line_bytes: int = CACHE_LINE) -> None:
        check_power_of_two("lines", lines)
        check_power_of_two("outer_lines", outer_lines)
        check_power_of_two("line_bytes", line_bytes, least=16)
        if outer_lines <= lines:
            raise ValueError(f"outer_lines must be more than lines = {lines}, not {outer_lines}")
        check_count("cycles", cycles, least=2)
        self._lines = lines
        self._outer_lines = outer_lines
        self._cycles = cycles
        self._line_bytes = line_bytes
        self._tags = Tags(lines=lines, line_bytes=line_bytes, state=data.StructLayout({"held": 1}),
                          looks=2)
        super().__init__()

    @property
    def lines(self) -> int:
        """Lines."""
        return self._lines

    @property
    def outer_lines(self) -> int:
        """Lines of the outer level."""
        return self._outer_lines

    @property
    def cycles(self) -> int:
        """Cycles of a load that finds its line in the outer level alone."""
        return self._cycles

    @property
    def line_bytes(self) -> int:
        """Bytes of a line."""
        return self._line_bytes

    def elaborate(self, platform: object) -> Module:
        m = Module()
        line_bits = ceil_log2(self._line_bytes)
        tag_from = line_bits + ceil_log2(self._lines)
        outer_from = line_bits + ceil_log2(self._outer_lines)
        change = self.change
        m.submodules.tags = tags = self._tags
        own, changed = tags.look

        near = Signal()
        spent = Signal(range(self._cycles))
        m.d.comb += [
            own.address.eq(self.address),
            near.eq(own.state.held & own.same),
            self.waits.eq(self.load & ~self.fetch & self.hit & ~near
                          & (spent != self._cycles - 1)),
        ]
        m.d.sync += spent.eq(Mux(self.waits, spent + 1, 0))

        # The outer level gives up a line with the entry of its tags. The low bits of a tag here are
        # the high ones of the entry's number.
        goes, enters = Signal(), Signal()
        slot = Mux(enters, self.address, change.address)[line_bits:tag_from]
        m.d.comb += [
            changed.address.eq(change.address),
            goes.eq(change.valid & changed.state.held
                    & (changed.line[tag_from:outer_from] == change.address[tag_from:outer_from])
                    & (~change.held | ~changed.same)),
            enters.eq(self.valid & self.load & self.done & ~self.waits & ~near & Mux(
                change.valid,
                change.held & (change.address[line_bits:] == self.address[line_bits:]), self.hit)),
            tags.change.valid.eq(goes | enters),
            tags.change.address.eq(Cat(Const(0, line_bits), slot, self.address[tag_from:])),
            tags.change.state.held.eq(enters),
        ]
        return m
