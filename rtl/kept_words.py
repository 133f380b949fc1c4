"""The words that a spinning CPU has read and still holds: one for each watch of a poll."""

from amaranth.hdl import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import ceil_log2

from ..layouts.operations import CACHE_LINE, WATCHES
from .memory import Snoop

__all__ = ["KeptWords"]

_LINE_BITS = ceil_log2(CACHE_LINE)


class KeptWords(wiring.Component):
    """Keeps the last word that each watch number read from memory, by its address.

    Latency: ``held`` and ``word`` follow ``number`` and ``address`` at once; a word stored is held
    from the next cycle on. A word is dropped when another initiator's write to its line is snooped,
    and in a cycle with ``drop`` for the line at ``address``; a word stored in that cycle stays.
    Reset: nothing is held.

    Parameters
    ----------
    source : :class:`int`
        This CPU's number among the memory controller's initiators: its own accesses are not
        snooped.

    Members
    -------
    number : ``In(2)``, address : ``In(32)``
        The watch, and the word it looks at.
    held : ``Out(1)``, word : ``Out(64)``
        The watch still holds that word; it is this.
    store : ``In(1)``, data : ``In(64)``
        Keep ``data`` for the watch and the address.
    drop : ``In(1)``, line : ``In(32)``
        Drop all words of the line that holds byte ``line``.
    snoop : ``In(Snoop)``
        Everybody's accesses to memory.

    Raises
    ------
    ValueError
        ``source`` is not 0 to 15.
    """

    number: In(ceil_log2(WATCHES))
    address: In(32)
    held: Out(1)
    word: Out(64)
    store: In(1)
    data: In(64)
    drop: In(1)
    line: In(32)
    snoop: In(Snoop)

    def __init__(self, *, source: int = 0) -> None:
        if not 0 <= source <= 15:
            raise ValueError(f"source must be 0 to 15, not {source}")
        self._source = source
        super().__init__()

    @property
    def source(self) -> int:
        """Number among the memory controller's initiators."""
        return self._source

    def elaborate(self, platform: object) -> Module:
        m = Module()
        strikes = Signal()
        m.d.comb += strikes.eq(self.snoop.valid & self.snoop.write
                               & (self.snoop.source != self._source))
        for number in range(WATCHES):
            kept = Signal(name=f"kept_{number}")
            address = Signal(29, name=f"address_{number}")
            word = Signal(64, name=f"word_{number}")
            line = address[_LINE_BITS - 3:]
            with m.If((strikes & (line == self.snoop.address[_LINE_BITS:]))
                      | (self.drop & (line == self.line[_LINE_BITS:]))):
                m.d.sync += kept.eq(0)
            with m.If(self.number == number):
                m.d.comb += [self.word.eq(word),
                             self.held.eq(kept & (address == self.address[3:]))]
                with m.If(self.store):
                    m.d.sync += [kept.eq(1), address.eq(self.address[3:]), word.eq(self.data)]
        return m
