"""Composition of the frames that answer the back end."""

from amaranth.hdl import Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from ....layouts.board import (
    HEADER,
    IDENTITY_WORDS,
    MAGIC,
    MEMORY_RECORD,
    RESPONSE_FRAME,
    SECTION,
    STATUS,
    STATUS_WORDS,
    TRACE_RECORD,
    Kind,
    Section,
)
from ....layouts.operations import ANSWER_WORDS, BLOCK
from ....layouts.processor import CRASH_WORDS
from ..line.deframer import WordLayout
from ..line.fields import layout
from ..store.block_store import AnswerSide
from ..store.log import DEPTH
from ..store.trace_log import EventLayout
from ..store.write_log import RecordLayout

__all__ = ["Responses"]

_IDENTITY_ITEMS = 1 + IDENTITY_WORDS + 2


class Responses(wiring.Component):
    """Composes a response, as layouts.board declares it: first the lengths of all its parts, then
    the parts.

    Latency: the header after 2 cycles, of DONE after a cycle a host port and a record more.
    Throughput: a word a cycle, and a few cycles a section. Back-pressure: ``o`` waits. Reset:
    nothing is being composed.

    Parameters
    ----------
    nodes : :class:`int`
        Nodes, each with a host port.
    frames : :class:`int`
        Frames of a node's resident memory, reported in IDENTITY.
    identity : :class:`bytes`
        The configuration's hash: 4 IDENTITY_WORDS bytes.

    Members
    -------
    start : ``In(1)``, done : ``Out(1)``
        Compose; the last word was taken. The following inputs hold in between.
    kind : ``In(Kind)``, sequence : ``In(8)``, argument : ``In(32)``
        Fields of the header; the word of LOST and of REFUSED.
    hello : ``In(1)``, word : ``In(32)``
        Whether there is section IDENTITY, and the word that it repeats.
    needs : ``In(1)``, answers : ``Out(AnswerSide)``, one of each a host port
        Whether the port waits, and its answers.
    expired : ``In(1)``, cycle : ``In(64)``, crash : ``In(32 * CRASH_WORDS)``
        State of the target.
    miss : ``In(1)``, miss_page : ``In(16)``, one of each a node
        Whether a page is needed, and its number.
    crowded : ``In(1)``
        A log has no room: sets ``more`` in any case.
    read : ``In(stream.Signature(32))``, read_level : ``In``
        READ sections, and how many words they have: all of them go into DONE.
    writes, events : ``In(stream)``, writes_level, events_level : ``In``
        Memory and trace records, and how many there are: as many of them as fit go into DONE.
    o : ``Out(stream.Signature(WordLayout))``
        The response, without its CRC.

    Raises
    ------
    TypeError
        ``identity`` is not bytes.
    ValueError
        ``identity`` has a wrong length.
    """

    def __init__(self, *, nodes: int, frames: int, identity: bytes) -> None:
        if not isinstance(identity, bytes):
            raise TypeError(f"identity must be bytes, not {identity!r}")
        if len(identity) != 4 * IDENTITY_WORDS:
            raise ValueError(f"identity must be {4 * IDENTITY_WORDS} bytes, not {len(identity)}")
        self._nodes = nodes
        self._frames = frames
        self._identity = identity
        super().__init__({
            "start": In(1),
            "done": Out(1),
            "kind": In(Kind),
            "sequence": In(8),
            "argument": In(32),
            "hello": In(1),
            "word": In(32),
            "needs": In(nodes),
            "answers": Out(AnswerSide).array(nodes),
            "expired": In(1),
            "cycle": In(64),
            "crash": In(32 * CRASH_WORDS),
            "miss": In(nodes),
            "miss_page": In(16).array(nodes),
            "crowded": In(1),
            "read": In(stream.Signature(32)),
            "read_level": In(range(RESPONSE_FRAME + 1)),
            "writes": In(stream.Signature(RecordLayout)),
            "writes_level": In(range(DEPTH + 1)),
            "events": In(stream.Signature(EventLayout)),
            "events_level": In(range(DEPTH + 1)),
            "o": Out(stream.Signature(WordLayout)),
        })

    @property
    def nodes(self) -> int:
        """Nodes."""
        return self._nodes

    @property
    def frames(self) -> int:
        """Frames of a node's resident memory."""
        return self._frames

    @property
    def identity(self) -> bytes:
        """The configuration's hash."""
        return self._identity

    def elaborate(self, platform: object) -> Module:
        m = Module()
        # Words behind the current one, without the CRC.
        left = Signal(range(RESPONSE_FRAME))
        most = RESPONSE_FRAME - 2
        item = Signal(range(BLOCK * ANSWER_WORDS))
        port = Signal(range(self._nodes + 1))
        writes = Signal.like(self.writes_level)
        events = Signal.like(self.events_level)
        remaining = Signal.like(writes)

        counts = Signal(range(BLOCK + 1))
        answer = Signal(32)
        for number, answers in enumerate(self.answers):
            m.d.comb += [answers.word.eq(item), answers.slot.eq(item >> 2)]
            with m.If(port == number):
                m.d.comb += [answer.eq(answers.data),
                             counts.eq(Mux(self.needs[number], answers.count, 0))]

        sent = Signal()
        m.d.comb += [
            sent.eq(self.o.valid & self.o.ready),
            self.o.payload.last.eq(left == 0),
        ]
        with m.If(sent):
            m.d.sync += left.eq(left - 1)

        def offer(value: Value) -> Value:
            m.d.comb += [self.o.valid.eq(1), self.o.payload.data.eq(value)]
            return sent

        def words(values: list[Value], following: str) -> None:
            with m.Switch(item):
                for number, value in enumerate(values):
                    with m.Case(number):
                        offer(value)
            with m.If(sent):
                m.d.sync += item.eq(item + 1)
                with m.If(item == len(values) - 1):
                    m.d.sync += item.eq(0)
                    m.next = following

        def section(kind: Section, index: Value | int, count: Value | int) -> Value:
            word = Signal(layout(SECTION), name=f"section_{kind.name.lower()}")
            m.d.comb += [word.kind.eq(kind), word.index.eq(index), word.count.eq(count)]
            return word

        def plan(planned: Signal, level: Signal, size: int, following: str) -> None:
            """Plan one more record, if there is one and it fits; the first one with its section."""
            first = planned == 0
            with m.If((planned != level) & (left <= Mux(first, most - size - 1, most - size))):
                m.d.sync += [planned.eq(planned + 1), left.eq(left + size + first)]
            with m.Else():
                m.next = following

        def records(kind: Section, planned: Signal, side: wiring.PureInterface, size: int,
                    following: str) -> None:
            name = kind.name
            with m.State(name):
                m.d.sync += remaining.eq(planned)
                m.next = following
                with m.If(planned != 0):
                    m.next = name
                    with m.If(offer(section(kind, 0, planned))):
                        m.next = f"{name}_RECORD"
            with m.State(f"{name}_RECORD"):
                view = data.View(data.ArrayLayout(32, size), side.payload.as_value())
                last = item == size - 1
                m.d.comb += [self.o.valid.eq(side.valid), self.o.payload.data.eq(view[item]),
                             side.ready.eq(self.o.ready & last)]
                with m.If(sent):
                    m.d.sync += item.eq(item + 1)
                    with m.If(last):
                        m.d.sync += [item.eq(0), remaining.eq(remaining - 1)]
                        with m.If(remaining == 1):
                            m.next = following

        header = Signal(layout(HEADER))
        m.d.comb += [header.sequence.eq(self.sequence), header.kind.eq(self.kind),
                     header.magic.eq(MAGIC)]
        status, page = self._status(m, more=(writes != self.writes_level)
                                    | (events != self.events_level) | self.crowded)
        with m.FSM(name="state"):
            with m.State("IDLE"):
                m.d.sync += [item.eq(0), port.eq(0), writes.eq(0), events.eq(0)]
                with m.If(self.start):
                    m.next = "HEADER"
                    m.d.sync += left.eq(1)
                    with m.If(self.kind == Kind.BUSY):
                        m.d.sync += left.eq(2)
                    with m.If(self.kind == Kind.DONE):
                        m.d.sync += left.eq(STATUS_WORDS
                                            + Mux(self.hello, 1 + _IDENTITY_ITEMS, 0))
                        m.next = "PLAN_ANSWERS"
            with m.State("PLAN_ANSWERS"):
                with m.If(port == self._nodes):
                    m.d.sync += [port.eq(0), left.eq(
                        left + self.read_level + Mux(self.expired, 1 + CRASH_WORDS, 0))]
                    m.next = "PLAN_WRITES"
                with m.Else():
                    m.d.sync += port.eq(port + 1)
                    with m.If(counts != 0):
                        m.d.sync += left.eq(left + (counts << 2) + 1)
            with m.State("PLAN_WRITES"):
                plan(writes, self.writes_level, MEMORY_RECORD, "PLAN_EVENTS")
            with m.State("PLAN_EVENTS"):
                plan(events, self.events_level, TRACE_RECORD, "HEADER")

            with m.State("HEADER"):
                with m.If(offer(header)):
                    m.next = "ARGUMENT"
                    with m.If(self.kind == Kind.BUSY):
                        m.next = "BUSY"
                    with m.If(self.kind == Kind.DONE):
                        m.next = "STATUS"
            with m.State("ARGUMENT"):
                with m.If(offer(self.argument)):
                    m.next = "END"
            with m.State("BUSY"):
                words([self.cycle[:32], self.cycle[32:]], "END")

            with m.State("STATUS"):
                words([status, self.cycle[:32], self.cycle[32:], page], "IDENTITY")
            with m.State("IDENTITY"):
                m.next = "ANSWERS"
                with m.If(self.hello):
                    m.next = "IDENTITY"
                    identity = [int.from_bytes(self._identity[at:at + 4], "little")
                                for at in range(0, len(self._identity), 4)]
                    words([section(Section.IDENTITY, 0, _IDENTITY_ITEMS), self.word, *identity,
                           self._nodes, self._frames], "ANSWERS")
            with m.State("ANSWERS"):
                with m.If(port == self._nodes):
                    m.next = "CRASH"
                with m.Elif(counts == 0):
                    m.d.sync += port.eq(port + 1)
                with m.Else():
                    with m.If(offer(section(Section.ANSWERS, port, counts))):
                        m.next = "ANSWER"
            with m.State("ANSWER"):
                with m.If(offer(answer)):
                    m.d.sync += item.eq(item + 1)
                    with m.If(item == (counts << 2) - 1):
                        m.d.sync += [item.eq(0), port.eq(port + 1)]
                        m.next = "ANSWERS"
            with m.State("CRASH"):
                m.next = "READ"
                with m.If(self.expired):
                    m.next = "CRASH"
                    words([section(Section.CRASH, 0, CRASH_WORDS),
                           *(self.crash.word_select(at, 32) for at in range(CRASH_WORDS))], "READ")
            with m.State("READ"):
                m.d.comb += [self.o.valid.eq(self.read.valid),
                             self.o.payload.data.eq(self.read.payload),
                             self.read.ready.eq(self.o.ready)]
                with m.If(self.read_level == 0):
                    m.next = "MEMORY"
            records(Section.MEMORY, writes, self.writes, MEMORY_RECORD, "TRACE")
            records(Section.TRACE, events, self.events, TRACE_RECORD, "END")
            with m.State("END"):
                m.d.comb += self.done.eq(1)
                m.next = "IDLE"
        return m

    def _status(self, m: Module, *, more: Value) -> tuple[data.View, Signal]:
        """The status word, and the number of the page that is needed."""
        status = Signal(layout(STATUS))
        page = Signal(16)
        m.d.comb += [
            status.attention.eq(self.needs.any()),
            status.expired.eq(self.expired),
            status.miss.eq(self.miss.any()),
            status.more.eq(more),
            status.needs.eq(self.needs),
        ]
        for number, wanted in reversed(list(enumerate(self.miss_page))):
            with m.If(self.miss[number]):
                m.d.comb += [status.node.eq(number), page.eq(wanted)]
        return status, page
