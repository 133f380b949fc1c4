"""The control of a board: executes the back end's frames and answers them."""

from amaranth.hdl import Module, ResetInserter, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from ....layouts.board import HEADER, RESPONSE_FRAME, Kind
from ....layouts.processor import CRASH_WORDS
from ....layouts.timing import TIMING_REGISTERS
from ...parts.queue import Queue
from ..line.deframer import WordLayout
from ..line.fields import layout
from ..store.block_store import AnswerSide, BlockSide
from ..store.log import DEPTH
from ..store.resident_memory import MemorySide
from ..store.trace_log import EventLayout
from ..store.write_log import RecordLayout
from .commands import Commands
from .responses import Responses
from .stepper import Stepper

__all__ = ["Control"]


class Control(wiring.Component):
    """Executes the back end's frames, lets time run, and answers, as layouts.board declares.

    A frame is handled when the previous one was answered, or while time runs. Until the first HELLO
    and after a LOST every other frame is answered by LOST; a HELLO without its word by REFUSED. A
    REFUSED frame counts as executed. Time stands still while a frame is handled. Reset: as after
    power-up.

    Parameters
    ----------
    nodes, words, frames, registers
        As of :class:`Commands`.
    identity
        As of :class:`Responses`.

    Members
    -------
    command : ``In(stream.Signature(WordLayout))``, response : ``Out(stream.Signature(WordLayout))``
        Frames without their CRC, the header first.
    again : ``Out(1)``
        Send the last response again.
    running : ``Out(1)``
        Time runs.
    step, reset, trace, skip : ``Out(1)``, limit : ``Out(64)``
        The target's clock enable (:class:`Stepper`) and registers.
    cfg_we : ``Out(1)``, cfg_index : ``Out(8)``, cfg_data : ``Out(32)``
        Timing registers.
    stall, expired : ``In(1)``, cycle : ``In(64)``, crash : ``In(32 * CRASH_WORDS)``
        Of the target.
    needs : ``In(1)``, block : ``Out(BlockSide)``, answers : ``Out(AnswerSide)``, one a host port
        Host ports.
    memory : ``Out(MemorySide)``, miss : ``In(1)``, miss_page : ``In(16)``, one a node
        Resident memories.
    retry : ``Out(1)``
        Missed pages may be resident now.
    busy : ``In(1)``
        Time is blocked by something other than a missing page, which ends in a few cycles.
    held : ``In(1)``
        Time is blocked: ``busy``, or a page is missing, or a log has no room.
    room : ``In(1)``
        Both logs have room.
    writes, events : ``In(stream)``, writes_level, events_level : ``In``
        Contents of the logs.

    Raises
    ------
    TypeError, ValueError
        As :class:`Commands` and :class:`Responses` do.
    """

    def __init__(self, *, nodes: int, words: int, frames: int, identity: bytes,
                 registers: int = len(TIMING_REGISTERS)) -> None:
        self._commands = Commands(nodes=nodes, words=words, frames=frames, registers=registers)
        self._responses = Responses(nodes=nodes, frames=frames, identity=identity)
        super().__init__({
            "command": In(stream.Signature(WordLayout)),
            "response": Out(stream.Signature(WordLayout)),
            "again": Out(1),
            "running": Out(1),
            "step": Out(1),
            "reset": Out(1),
            "trace": Out(1),
            "skip": Out(1),
            "limit": Out(64),
            "cfg_we": Out(1),
            "cfg_index": Out(8),
            "cfg_data": Out(32),
            "stall": In(1),
            "expired": In(1),
            "cycle": In(64),
            "crash": In(32 * CRASH_WORDS),
            "needs": In(nodes),
            "block": Out(BlockSide).array(nodes),
            "answers": Out(AnswerSide).array(nodes),
            "memory": Out(MemorySide(frames)).array(nodes),
            "miss": In(nodes),
            "miss_page": In(16).array(nodes),
            "retry": Out(1),
            "busy": In(1),
            "held": In(1),
            "room": In(1),
            "writes": In(stream.Signature(RecordLayout)),
            "writes_level": In(range(DEPTH + 1)),
            "events": In(stream.Signature(EventLayout)),
            "events_level": In(range(DEPTH + 1)),
        })

    @property
    def nodes(self) -> int:
        """Nodes."""
        return self._commands.nodes

    @property
    def words(self) -> int:
        """8-byte words of a node's memory."""
        return self._commands.words

    @property
    def frames(self) -> int:
        """Frames of a node's resident memory."""
        return self._commands.frames

    @property
    def identity(self) -> bytes:
        """The configuration's hash."""
        return self._responses.identity

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.commands = commands = self._commands
        m.submodules.responses = responses = self._responses
        m.submodules.stepper = stepper = Stepper()
        read = Queue(shape=32, depth=RESPONSE_FRAME)
        clear = Signal()
        m.submodules.read = ResetInserter(clear)(read)
        self._join(m, commands, responses, stepper, read)
        self._sequence(m, commands, responses, stepper, clear)
        return m

    def _join(self, m: Module, commands: Commands, responses: Responses, stepper: Stepper,
              read: Queue) -> None:
        connect(m, commands.read, read.i)
        connect(m, read.o, responses.read)
        connect(m, flipped(self.writes), responses.writes)
        connect(m, flipped(self.events), responses.events)
        connect(m, responses.o, flipped(self.response))
        for number in range(self.nodes):
            connect(m, commands.block[number], flipped(self.block[number]))
            connect(m, commands.memory[number], flipped(self.memory[number]))
            connect(m, responses.answers[number], flipped(self.answers[number]))
            m.d.comb += responses.miss_page[number].eq(self.miss_page[number])
        m.d.comb += [
            *(getattr(self, name).eq(getattr(commands, name)) for name in (
                "reset", "trace", "skip", "limit", "cfg_we", "cfg_index", "cfg_data")),
            *(getattr(responses, name).eq(getattr(self, name)) for name in (
                "needs", "expired", "cycle", "crash", "miss", "writes_level", "events_level")),
            responses.read_level.eq(read.level),
            commands.read_level.eq(read.level),
            commands.needs.eq(self.needs),
            stepper.start.eq(commands.run),
            stepper.cycles.eq(commands.cycles),
            stepper.run.eq(self.running),
            stepper.stall.eq(self.stall),
            stepper.blocked.eq(self.held),
            stepper.reset.eq(self.reset),
            self.step.eq(stepper.step),
            self.retry.eq(commands.run),
        ]

    def _sequence(self, m: Module, commands: Commands, responses: Responses,
                  stepper: Stepper, clear: Signal) -> None:
        """From a frame's header to its answer; ``clear`` drops the words read by an earlier
        frame."""
        command = self.command
        header = Signal(layout(HEADER))
        ended = Signal()
        session = Signal()
        last = Signal(8)
        expected = Signal(8)
        ran = Signal()      # a RUN is not over
        m.d.comb += [expected.eq(last + 1), responses.sequence.eq(header.sequence)]
        with m.If(command.valid & command.ready):
            m.d.sync += ended.eq(command.payload.last)

        # The next state after the rest of a frame was drained.
        goal = Signal()
        reply, settle = 0, 1

        def answer(kind: Kind, argument: object = 0) -> None:
            m.d.sync += [responses.kind.eq(kind), responses.argument.eq(argument), goal.eq(reply)]
            m.next = "DRAIN"

        with m.FSM(name="state"):
            with m.State("IDLE"):
                m.d.comb += command.ready.eq(1)
                m.d.sync += [header.eq(command.payload.data), responses.hello.eq(0),
                             responses.crowded.eq(0)]
                with m.If(command.valid):
                    m.next = "HEADER"
            with m.State("HEADER"):
                with m.If(header.kind == Kind.HELLO):
                    m.next = "HELLO"
                    with m.If(ended):
                        answer(Kind.REFUSED)
                with m.Elif(session & (header.sequence == last)):
                    with m.If(ran):
                        answer(Kind.BUSY)
                    with m.Else():
                        m.next = "REPEAT"
                with m.Elif(~session | (header.sequence != expected) | ran):
                    # The sender of this frame is not the one of the others, or has lost count. This
                    # answer replaces the stored response.
                    m.d.sync += session.eq(0)
                    answer(Kind.LOST, expected)
                with m.Else():
                    m.d.sync += last.eq(header.sequence)
                    m.d.comb += clear.eq(1)
                    with m.If(header.kind != Kind.COMMAND):
                        answer(Kind.REFUSED)
                    with m.Elif(ended):
                        m.next = "SETTLE"
                    with m.Else():
                        m.d.comb += commands.start.eq(1)
                        m.next = "EXECUTE"
            with m.State("HELLO"):
                m.d.comb += [command.ready.eq(1), clear.eq(1)]
                m.d.sync += [responses.word.eq(command.payload.data), responses.hello.eq(1),
                             session.eq(1), last.eq(header.sequence), ran.eq(0), goal.eq(settle)]
                with m.If(command.valid):
                    m.next = "DRAIN"
            with m.State("REPEAT"):
                m.d.comb += [command.ready.eq(~ended), self.again.eq(ended)]
                with m.If(ended):
                    m.next = "IDLE"
            with m.State("DRAIN"):
                m.d.comb += command.ready.eq(~ended)
                with m.If(ended):
                    m.next = "REPLY"
                    with m.If(goal == settle):
                        m.next = "SETTLE"

            with m.State("EXECUTE"):
                m.d.comb += [commands.i.valid.eq(command.valid),
                             command.ready.eq(commands.i.ready)]
                with m.If(commands.refused):
                    answer(Kind.REFUSED, commands.place)
                with m.If(commands.done):
                    m.next = "SETTLE"
                with m.If(commands.run):
                    m.d.sync += [ran.eq(1), self.running.eq(1)]
                    m.next = "RUN"
            with m.State("RUN"):
                with m.If(command.valid):
                    m.d.sync += self.running.eq(0)
                    m.next = "IDLE"
                with m.If(stepper.over | self.stall | self.reset | self.miss.any() | ~self.room):
                    m.d.sync += [self.running.eq(0), ran.eq(0), responses.crowded.eq(~self.room)]
                    m.next = "SETTLE"
            with m.State("SETTLE"):
                m.d.sync += responses.kind.eq(Kind.DONE)
                with m.If(~self.busy):
                    m.next = "REPLY"
            with m.State("REPLY"):
                m.d.comb += responses.start.eq(~responses.done)
                with m.If(responses.done):
                    m.next = "IDLE"
                    with m.If(ran):
                        m.d.sync += self.running.eq(1)
                        m.next = "RUN"
        m.d.comb += commands.i.payload.eq(command.payload)
