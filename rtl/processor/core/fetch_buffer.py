"""Buffer of the instructions that a core fetches next."""

from amaranth.hdl import Cat, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ..types import WIDE_ADDRESS_BITS

__all__ = ["FetchBuffer"]


class FetchBuffer(wiring.Component):
    """Two 64-bit words of instructions: the word fetched last, and the next one, read ahead.

    Latency: a fetch that hits is answered in its cycle, another one in the cycle after NIC memory
    has taken the read, 2 cycles at best. After a fetch the next 64-bit word is read as soon as the
    port is free; so code without jumps takes 1 cycle a fetch, and every other cycle of the port at
    most. A word that is written to NIC memory is dropped. Reset, and ``clear``: both words are
    dropped.

    Members
    -------
    fetch : ``In(1)``, address : ``In(32)``
        The core's fetch; holds until a cycle with ``hit``, and may hold on.
    hit : ``Out(1)``, word : ``Out(32)``
        The answer.
    miss : ``Out(1)``
        The requested read is for the fetch of this cycle; otherwise it reads ahead.
    ask : ``Out(1)``, ask_address : ``Out(WIDE_ADDRESS_BITS)``, granted : ``In(1)``
        A requested read, and whether NIC memory takes it in this cycle.
    data : ``In(64)``
        The word read, in the cycle after ``granted``.
    written : ``In(1)``, written_address : ``In(WIDE_ADDRESS_BITS)``, two of each
        Words that are written in this cycle.
    clear : ``In(1)``
        Drop both words.
    """

    fetch: In(1)
    address: In(32)
    hit: Out(1)
    word: Out(32)
    miss: Out(1)
    ask: Out(1)
    ask_address: Out(WIDE_ADDRESS_BITS)
    granted: In(1)
    data: In(64)
    written: In(1).array(2)
    written_address: In(WIDE_ADDRESS_BITS).array(2)
    clear: In(1)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        # The lowest bit of a 64-bit word's address selects its place.
        words = [Signal(64, name=f"word_{parity}") for parity in range(2)]
        tags = [Signal(WIDE_ADDRESS_BITS, name=f"tag_{parity}") for parity in range(2)]
        known = [Signal(name=f"known_{parity}") for parity in range(2)]
        comes, coming = Signal(), Signal(WIDE_ADDRESS_BITS)
        last, fetched = Signal(WIDE_ADDRESS_BITS), Signal()

        wanted = Signal(WIDE_ADDRESS_BITS)
        found = Signal(64)
        behind = Signal(WIDE_ADDRESS_BITS)
        held = Signal()
        m.d.comb += [
            wanted.eq(self.address >> 3),
            behind.eq(last + 1),
            self.word.eq(found.word_select(self.address[2], 32)),
            self.miss.eq(self.fetch & ~self.hit),
        ]
        with m.If(comes & (coming == wanted)):
            m.d.comb += [self.hit.eq(self.fetch), found.eq(self.data)]
        with m.Else():
            for parity in range(2):
                with m.If(wanted[0] == parity):
                    m.d.comb += [
                        self.hit.eq(self.fetch & known[parity] & (tags[parity] == wanted)),
                        found.eq(words[parity]),
                    ]
        for parity in range(2):
            with m.If((behind[0] == parity) & known[parity] & (tags[parity] == behind)):
                m.d.comb += held.eq(1)
        with m.If(comes & (coming == behind)):
            m.d.comb += held.eq(1)
        with m.If(self.miss):
            m.d.comb += [self.ask.eq(1), self.ask_address.eq(wanted)]
        with m.Else():
            m.d.comb += [self.ask.eq(fetched & ~held), self.ask_address.eq(behind)]

        with m.If(self.hit):
            m.d.sync += [last.eq(wanted), fetched.eq(1)]
        m.d.sync += comes.eq(self.granted)
        with m.If(self.granted):
            m.d.sync += coming.eq(self.ask_address)
        for parity in range(2):
            with m.If(comes & (coming[0] == parity)):
                m.d.sync += [words[parity].eq(self.data), tags[parity].eq(coming),
                             known[parity].eq(1)]
            # Also the word that is being stored in this cycle.
            with m.If(Cat(written & (address == tags[parity]) | (
                    written & comes & (coming[0] == parity) & (address == coming))
                    for written, address in zip(self.written, self.written_address, strict=True)
                    ).any()):
                m.d.sync += known[parity].eq(0)
            with m.If(self.clear):
                m.d.sync += known[parity].eq(0)
        with m.If(self.clear):
            m.d.sync += [comes.eq(0), fetched.eq(0)]
        return m
