"""The words that a spinning CPU has read and keeps: one for each watch of a poll."""

from amaranth.hdl import Module, Signal
from amaranth.lib import data, memory, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import ceil_log2

from ...layouts.operations import CACHE_LINE, WATCHES
from ..bus.memory import Snoop
from .address_bus import Stored, covers

__all__ = ["KeptWords"]

_Kept = data.StructLayout({"address": 29, "word": 64})


class KeptWords(wiring.Component):
    """Keeps the last word that each watch read from memory, with its address.

    Latency: ``held`` and ``word`` follow ``number`` and ``address`` at once; a word stored is held
    from the next cycle on. A word is dropped when another initiator's write to its line is snooped,
    in the last cycle of another CPU's store to it, and in a cycle with ``drop`` for the line at
    ``address``; a word stored in that cycle stays.
    Reset: nothing is held.

    Parameters
    ----------
    source : :class:`int`
        This CPU's number among the memory controller's initiators: its own accesses are not
        snooped.
    peers : :class:`int`
        Other CPUs of the node.
    line_bytes : :class:`int`
        Bytes of a line.

    Members
    -------
    number : ``In(2)``, address : ``In(32)``
        The watch, and the address of its word.
    held : ``Out(1)``, word : ``Out(64)``
        Whether the watch still holds that word, and the word.
    store : ``In(1)``, data : ``In(64)``
        Keep ``data`` for the watch and the address.
    drop : ``In(1)``, line : ``In(32)``
        Drop all words of the line that holds byte ``line``.
    snoop : ``In(Snoop)``
        Everybody's accesses to memory.
    news : ``In(Stored)``, one a peer
        The stores of other CPUs that end.

    Raises
    ------
    ValueError
        ``source`` is not 0 to 15.
    """

    def __init__(self, *, source: int = 0, peers: int = 0, line_bytes: int = CACHE_LINE) -> None:
        if not 0 <= source <= 15:
            raise ValueError(f"source must be 0 to 15, not {source}")
        self._source = source
        self._line_bits = ceil_log2(line_bytes)
        super().__init__({
            "number": In(ceil_log2(WATCHES)),
            "address": In(32),
            "held": Out(1),
            "word": Out(64),
            "store": In(1),
            "data": In(64),
            "drop": In(1),
            "line": In(32),
            "snoop": In(Snoop),
            "news": In(Stored).array(peers),
        })

    @property
    def source(self) -> int:
        """Number among the memory controller's initiators."""
        return self._source

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.words = words = memory.Memory(shape=_Kept, depth=WATCHES, init=[])
        kept = Signal(WATCHES)
        write = words.write_port()
        read = words.read_port(domain="comb")
        m.d.comb += [
            read.addr.eq(self.number),
            self.held.eq(kept.bit_select(self.number, 1)
                         & (read.data.address == self.address[3:])),
            self.word.eq(read.data.word),
            write.en.eq(self.store),
            write.addr.eq(self.number),
            write.data.address.eq(self.address[3:]),
            write.data.word.eq(self.data),
        ]

        snoop = self.snoop
        lines = []
        for number in range(WATCHES):
            port = words.read_port(domain="comb")
            m.d.comb += port.addr.eq(number)
            lines.append(port.data.address[self._line_bits - 3:])
        with m.If(snoop.valid & snoop.write):
            with m.If(snoop.source != self._source):
                for number, line in enumerate(lines):
                    with m.If(line == snoop.address[self._line_bits:]):
                        m.d.sync += kept[number].eq(0)
        with m.If(self.drop):
            for number, line in enumerate(lines):
                with m.If(line == self.line[self._line_bits:]):
                    m.d.sync += kept[number].eq(0)
        for stored in self.news:
            with m.If(stored.valid):
                for number, line in enumerate(lines):
                    with m.If(covers(stored, line, self._line_bits)):
                        m.d.sync += kept[number].eq(0)
        with m.If(self.store):
            m.d.sync += kept.bit_select(self.number, 1).eq(1)
        return m
