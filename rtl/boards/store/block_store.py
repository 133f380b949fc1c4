"""A host port's block of entries and answers on a board."""

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import data, memory, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import ceil_log2

from ....layouts.operations import ANSWER_WORDS, BLOCK, ENTRY_WORDS, Status
from ...cpu.port_members import AnswerLayout
from ...node.node import HostSide
from ...parts.block_ram import BlockRam

__all__ = ["AnswerSide", "BlockSide", "BlockStore"]

_WORD_BITS = ceil_log2(ENTRY_WORDS)

BlockSide = wiring.Signature({
    "write": Out(1),
    "slot": Out(range(BLOCK)),
    "word": Out(range(ENTRY_WORDS)),
    "data": Out(32),
    "give": Out(1),
    "count": Out(range(BLOCK + 1)),
})
"""A :class:`BlockStore` from the side that gives blocks. ``write``: ``data`` becomes word ``word``
of entry ``slot``. ``give``: the port gets the first ``count`` entries."""

AnswerSide = wiring.Signature({
    "count": In(range(BLOCK + 1)),
    "slot": Out(range(BLOCK)),
    "word": Out(range(ANSWER_WORDS)),
    "data": In(32),
})
"""A :class:`BlockStore` from the side that reads answers: the number of answers, and word ``word``
of the answer in slot ``slot``, in the same cycle."""


class BlockStore(wiring.Component):
    """Shows a host port the entry it requests, and keeps its answers, as :class:`Mailbox` does.

    Entries are in a block of RAM, and the shown entry is in flip-flops, into which it is shifted
    word by word while time stands still. Entries in LUT RAM, read at once, would take 624 LUTs.

    Latency: after ``block.give``, or a change of ``cpu.index``, ``pending`` holds for ENTRY_WORDS +
    1 cycles, in which ``cpu.entry`` is undefined. An answer is available from the next target cycle
    on. Reset: no block. Answers are valid when the port waits again.

    Members
    -------
    cpu : ``Out(HostSide)``
        The port.
    block : ``In(BlockSide)``, answers : ``In(AnswerSide)``
        The side that gives blocks and reads their answers. To be used only while the port waits.
    step : ``In(1)``
        The next edge is one of the target's: outside ``reset`` not while ``pending``.
    pending : ``Out(1)``
        The entry is on its way.
    reset : ``In(1)``
        The target is in reset: drops the block.
    """

    cpu: Out(HostSide)
    block: In(BlockSide)
    answers: In(AnswerSide)
    step: In(1)
    pending: Out(1)
    reset: In(1)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        cpu, block = self.cpu, self.block

        m.submodules.entries = entries = BlockRam(shape=32, depth=BLOCK << _WORD_BITS)
        write, read = entries.write_port(), entries.read_port()
        entry = cpu.entry.as_value()
        given = Signal()
        shown = Signal.like(cpu.index)
        # The next word to request; the previous one arrives.
        word = Signal(range(ENTRY_WORDS + 1))
        m.d.comb += [
            write.addr.eq(Cat(block.word, block.slot)),
            write.data.eq(block.data),
            write.en.eq(block.write),
            read.addr.eq(Cat(word, cpu.index)),
            read.en.eq(self.pending),
            self.pending.eq(given | (shown != cpu.index)),
        ]
        with m.If(self.pending):
            m.d.sync += word.eq(word + 1)
            with m.If(word != 0):
                m.d.sync += entry.eq(Cat(entry, read.data)[32:])
            with m.If(word == ENTRY_WORDS):
                m.d.sync += [word.eq(0), given.eq(0), shown.eq(cpu.index)]
        with m.If(block.give):
            m.d.sync += [given.eq(1), word.eq(0),
                         cpu.go.eq(~cpu.go), cpu.count.eq(block.count)]
        m.d.comb += self.answers.count.eq(cpu.count)

        # An asynchronous read keeps them in LUT RAM: a block RAM would be nearly empty.
        m.submodules.answers = answers = memory.Memory(shape=32 * ANSWER_WORDS, depth=BLOCK,
                                                       init=[])
        answer_write = answers.write_port()
        answer_read = answers.read_port(domain="comb")
        discarded = Signal(BLOCK)
        stored = Signal()
        m.d.comb += [
            stored.eq(cpu.answers & self.step),
            answer_write.addr.eq(cpu.slot),
            answer_write.data.eq(cpu.answer),
            answer_write.en.eq(stored),
            answer_read.addr.eq(self.answers.slot),
        ]
        with m.If(stored):
            for number in range(BLOCK):
                with m.If(cpu.slot == number):
                    m.d.sync += discarded[number].eq(0)
                with m.Elif(cpu.discards & (cpu.slot < number)):
                    m.d.sync += discarded[number].eq(1)
        gone = Signal(AnswerLayout)
        shown = data.View(data.ArrayLayout(32, ANSWER_WORDS), Signal(32 * ANSWER_WORDS))
        m.d.comb += [
            gone.status.eq(Status.DISCARDED),
            shown.as_value().eq(Mux(discarded.bit_select(self.answers.slot, 1),
                                    gone.as_value(), answer_read.data)),
            self.answers.data.eq(shown[self.answers.word]),
        ]

        with m.If(self.reset):
            m.d.sync += Cat(cpu.go, cpu.count, discarded).eq(0)
        return m
