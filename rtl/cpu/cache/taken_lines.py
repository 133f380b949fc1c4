"""Tells a NIC on the memory bus of the lines that stores take."""

from typing import Any

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ...bus.watch import LineTaken
from ..cache_shape import CacheShape

__all__ = ["TakenLines", "tell_taken"]


class TakenLines(wiring.Component):
    """Tells of a line in the last cycle of the store that took it.

    The NIC may read a dirty line in the very cycle of a store to it, of which a snoop tells in the
    next one. Then the store comes behind the read, and its line is told of then. Reset: no store
    has ended.

    Parameters
    ----------
    shape : :class:`CacheShape`
        Gives the size of a line.

    Members
    -------
    stores : ``In(1)``, takes : ``In(1)``, address : ``In(32)``
        Last cycle of a store to the line at ``address``; the store has taken the line.
    changes : ``In(1)``, snooped : ``In(32)``
        An access of the NIC to memory changes the state of the line at ``snooped``. No store to
        that line ends in this cycle.
    taken : ``Out(LineTaken)``
        The line that is told of.
    """

    def __init__(self, *, shape: CacheShape) -> None:
        self._shape = shape
        super().__init__({
            "stores": In(1),
            "takes": In(1),
            "address": In(32),
            "changes": In(1),
            "snooped": In(32),
            "taken": Out(LineTaken),
        })

    @property
    def shape(self) -> CacheShape:
        """The size of a line."""
        return self._shape

    def elaborate(self, platform: object) -> Module:
        m = Module()
        line_bits = self._shape.line_bits
        stored, late = Signal(), Signal()
        line = Signal(32 - line_bits)
        m.d.sync += [stored.eq(self.stores), line.eq(self.address[line_bits:])]
        m.d.comb += [
            late.eq(stored & self.changes & (self.snooped[line_bits:] == line)),
            self.taken.valid.eq(late | (self.stores & self.takes)),
            self.taken.address.eq(Cat(Const(0, line_bits),
                                      Mux(late, line, self.address[line_bits:]))),
        ]
        return m


def tell_taken(m: Module, cache: Any, *, takes: Value, changes: Value) -> TakenLines:
    """Let ``cache``, which ``m`` is of, tell of the lines that its stores take, on ``cache.taken``:
    return what does so. ``takes``, ``changes``: as of :class:`TakenLines`."""
    m.submodules.taken_lines = lines = TakenLines(shape=cache.shape)
    m.d.comb += [
        lines.stores.eq(cache.done & cache.store),
        lines.takes.eq(takes),
        lines.address.eq(cache.address),
        lines.changes.eq(changes),
        lines.snooped.eq(cache.snoop.address),
    ]
    wiring.connect(m, lines.taken, wiring.flipped(cache.taken))
    return lines
