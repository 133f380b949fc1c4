"""A host port's block of entries and answers, as flat ports of the simulated target."""

from amaranth.hdl import Module, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from ...layouts.operations import ANSWER_WORDS, BLOCK, ENTRY_WORDS, Status
from .host_port import AnswerLayout, EntryLayout

__all__ = ["Mailbox"]


class Mailbox(wiring.Component):
    """Shows a host port the entry it requests, and keeps its answers.

    Latency: ``entry`` follows ``index`` and ``entries`` at once; an answer is in ``answers`` from
    the next cycle on, until its slot is answered again. Reset: all answers zero.

    Members
    -------
    entries : ``In``, answers : ``Out``
        BLOCK entries of ENTRY_WORDS and BLOCK answers of ANSWER_WORDS 32-bit words, slot 0 lowest.
    index : ``In(3)``, entry : ``Out(EntryLayout)``
        To the port.
    answer : ``In(AnswerLayout)``, slot : ``In(3)``, store : ``In(1)``, discard : ``In(1)``
        From the port: keep ``answer`` in ``slot``; mark the slots behind it as discarded, too.
    """

    entries: In(BLOCK * ENTRY_WORDS * 32)
    answers: Out(BLOCK * ANSWER_WORDS * 32)
    index: In(3)
    entry: Out(EntryLayout)
    answer: In(AnswerLayout)
    slot: In(3)
    store: In(1)
    discard: In(1)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        entries = data.View(data.ArrayLayout(EntryLayout, BLOCK), self.entries)
        answers = data.View(data.ArrayLayout(AnswerLayout, BLOCK), self.answers)
        discarded = Signal(AnswerLayout)
        m.d.comb += discarded.status.eq(Status.DISCARDED)
        with m.Switch(self.index):
            for number in range(BLOCK):
                with m.Case(number):
                    m.d.comb += self.entry.eq(entries[number])
        with m.If(self.store):
            for number in range(BLOCK):
                with m.If(self.slot == number):
                    m.d.sync += answers[number].eq(self.answer)
                with m.Elif(self.discard & (self.slot < number)):
                    m.d.sync += answers[number].eq(discarded)
        return m
