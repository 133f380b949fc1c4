"""A host port's block of entries and answers, as flat ports of the simulated target."""

from collections.abc import Sequence

from amaranth.hdl import Module, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Member, Out, PureInterface

from ...layouts.operations import ANSWER_WORDS, BLOCK, ENTRY_WORDS, Status
from .port_members import AnswerLayout, EntryLayout

__all__ = ["Mailbox", "add_mailboxes", "mailbox_ports"]


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


def mailbox_ports(count: int) -> dict[str, Member]:
    """Members of a component with ``count`` host ports that has their blocks as flat ports: ``go``,
    one bit for each, and ``port{p}_count``, ``port{p}_entries`` and ``port{p}_answers``."""
    return {"go": In(count),
            **{f"port{port}_{name}": member for port in range(count) for name, member in (
                ("count", In(range(BLOCK + 1))),
                ("entries", In(BLOCK * ENTRY_WORDS * 32)),
                ("answers", Out(BLOCK * ANSWER_WORDS * 32)),
            )}}


def add_mailboxes(m: Module, outside: wiring.Component, hosts: Sequence[PureInterface]) -> None:
    """Give each host port its :class:`Mailbox`, between ``hosts`` (HostSide) and the flat ports of
    ``outside`` (:func:`mailbox_ports`)."""
    for number, host in enumerate(hosts):
        m.submodules[f"mailbox_{number}"] = box = Mailbox()
        m.d.comb += [
            host.go.eq(outside.go[number]),
            host.count.eq(getattr(outside, f"port{number}_count")),
            host.entry.eq(box.entry),
            box.index.eq(host.index),
            box.answer.eq(host.answer),
            box.slot.eq(host.slot),
            box.store.eq(host.answers),
            box.discard.eq(host.discards),
            box.entries.eq(getattr(outside, f"port{number}_entries")),
            getattr(outside, f"port{number}_answers").eq(box.answers),
        ]
