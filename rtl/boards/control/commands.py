"""Execution of the commands in a frame from the back end."""

from amaranth.hdl import Cat, Module, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from ....layouts.board import (
    COMMAND,
    COMMAND_FRAME,
    MAP_WORD,
    RESPONSE_FRAME,
    SECTION,
    STATUS_WORDS,
    SWITCHES,
    Operation,
    Register,
    Section,
)
from ....layouts.operations import ANSWER_WORDS, BLOCK, ENTRY_WORDS
from ....layouts.processor import CRASH_WORDS
from ....layouts.timing import TIMING_REGISTERS
from ...parts.sizes import check_integer
from ..line.deframer import WordLayout
from ..line.fields import layout
from ..store.block_store import BlockSide
from ..store.resident_memory import FRAME_WORDS, MemorySide

__all__ = ["NODES_MAX", "READ_ROOM", "Commands"]

NODES_MAX = 8
"""Most nodes, and host ports, of a board's control."""
READ_ROOM = (RESPONSE_FRAME - 2 - STATUS_WORDS - NODES_MAX * (1 + BLOCK * ANSWER_WORDS)
             - (1 + CRASH_WORDS))
"""Most words of READ sections that the commands of a frame may request: the room in a response
besides everything that may come before them, header and CRC included."""


class Commands(wiring.Component):
    """Executes commands, as layouts.board declares them, one after the other.

    Latency and throughput: a word of a frame a cycle at the most, every command at least 3 cycles;
    ZERO 1 cycle a word of memory, READ 4; FORGET 1 a page. Reset: the target is in reset; all else
    is zero.

    A command is refused if it is unknown, if the frame ends inside it, or if its index, its count
    or a place, page or frame of memory is out of range. Also refused are GIVE to a host port that
    does not wait, TIMING outside reset, RUN before the frame's end, and a READ beyond READ_ROOM. No
    command after a refused one is executed.

    Parameters
    ----------
    nodes : :class:`int`
        Nodes, each with a host port, 1 to NODES_MAX.
    words : :class:`int`
        8-byte words of a node's memory.
    frames : :class:`int`
        Pages of it that fit into its resident memory.
    registers : :class:`int`
        Timing registers of the target.

    Members
    -------
    start : ``In(1)``
        A frame's commands come from the next cycle on.
    i : ``In(stream.Signature(WordLayout))``
        The frame's words after its header; ready only between ``start`` and one of the following:
    done, refused, run : ``Out(1)``
        In a cycle of one of these the frame has ended: executed, refused, or executed up to its RUN
        for ``cycles``.
    place : ``Out``
        Position of the current command in its frame; the header has position 0.
    cycles : ``Out(32)``
        Of RUN.
    reset, trace, skip : ``Out(1)``, limit : ``Out(64)``
        Registers.
    cfg_we : ``Out(1)``, cfg_index : ``Out(8)``, cfg_data : ``Out(32)``
        Timing registers of the target.
    needs : ``In(1)``, block : ``Out(BlockSide)``, one of each a host port
        Whether the port waits, and the block for it.
    memory : ``Out(MemorySide)``, one a node
        Resident memories.
    read : ``Out(stream.Signature(32))``, read_level : ``In``
        READ sections, to a queue with room for READ_ROOM words, and how many it holds.

    Raises
    ------
    TypeError
        ``nodes`` is not an integer.
    ValueError
        ``nodes`` is out of range.
    """

    def __init__(self, *, nodes: int, words: int, frames: int,
                 registers: int = len(TIMING_REGISTERS)) -> None:
        check_integer("nodes", nodes)
        if not 1 <= nodes <= NODES_MAX:
            raise ValueError(f"nodes must be 1 to {NODES_MAX}, not {nodes}")
        self._nodes = nodes
        self._words = words
        self._frames = frames
        self._registers = registers
        super().__init__({
            "start": In(1),
            "i": In(stream.Signature(WordLayout)),
            "done": Out(1),
            "refused": Out(1),
            "run": Out(1),
            "place": Out(range(COMMAND_FRAME)),
            "cycles": Out(32),
            "reset": Out(1, init=1),
            "trace": Out(1),
            "skip": Out(1),
            "limit": Out(64),
            "cfg_we": Out(1),
            "cfg_index": Out(8),
            "cfg_data": Out(32),
            "needs": In(nodes),
            "block": Out(BlockSide).array(nodes),
            "memory": Out(MemorySide(frames)).array(nodes),
            "read": Out(stream.Signature(32)),
            "read_level": In(range(RESPONSE_FRAME + 1)),
        })

    @property
    def nodes(self) -> int:
        """Nodes."""
        return self._nodes

    @property
    def words(self) -> int:
        """8-byte words of a node's memory."""
        return self._words

    @property
    def frames(self) -> int:
        """Pages of it that fit."""
        return self._frames

    def elaborate(self, platform: object) -> Module:
        m = Module()
        word = self.i.payload

        # The command, the word after it, and whether the frame ended with the last word taken.
        command = Signal(layout(COMMAND))
        argument = Signal(32)
        ended = Signal()
        following = Signal.like(self.place)
        taken = Signal()
        m.d.comb += taken.eq(self.i.valid & self.i.ready)
        with m.If(taken):
            m.d.sync += [following.eq(following + 1), ended.eq(word.last)]

        def take() -> Value:
            """Wait for a word; a frame without further words is refused."""
            with m.If(ended):
                m.next = "REFUSE"
            with m.Else():
                m.d.comb += self.i.ready.eq(1)
            return taken

        fits = self._fits(m, command, argument, ended)
        operation = command.operation
        last_item = Signal()
        m.d.comb += [last_item.eq(command.count == 1), self.cycles.eq(argument)]
        low = Signal(32)
        mask = Signal(ENTRY_WORDS)
        slot = Signal(range(BLOCK + 1))
        entry_word = Signal(range(ENTRY_WORDS))
        given = Signal(32)
        m.d.comb += given.eq(0)
        writes, gives = Signal(), Signal()
        accesses, stores, maps, forgets = Signal(), Signal(), Signal(), Signal()
        rdata = Signal(64)
        section = Signal(layout(SECTION))
        m.d.comb += [section.kind.eq(Section.READ), section.index.eq(command.index),
                     section.count.eq(command.count)]

        with m.FSM(name="state"):
            with m.State("IDLE"):
                with m.If(self.start):
                    m.d.sync += [following.eq(1), ended.eq(0)]
                    m.next = "COMMAND"
            with m.State("COMMAND"):
                m.d.comb += self.i.ready.eq(1)
                m.d.sync += [command.eq(word.data), self.place.eq(following), slot.eq(0)]
                with m.If(taken):
                    m.next = "ARGUMENT"
            with m.State("ARGUMENT"):
                m.d.sync += argument.eq(word.data)
                with m.If(take()):
                    m.next = "CHECK"
            with m.State("CHECK"):
                m.next = "REFUSE"
                with m.If(fits):
                    with m.Switch(operation):
                        with m.Case(Operation.WRITE):
                            m.next = "WRITE_LOW"
                        with m.Case(Operation.READ):
                            m.next = "READ_SECTION"
                        with m.Case(Operation.GIVE):
                            m.next = "ENTRY"
                        with m.Case(Operation.RUN):
                            m.d.comb += self.run.eq(1)
                            m.next = "IDLE"
                        with m.Default():
                            m.next = "SHORT"
            with m.State("SHORT"):
                m.next = "NEXT"
                with m.Switch(operation):
                    with m.Case(Operation.SET):
                        self._set(m, command.index, argument)
                    with m.Case(Operation.TIMING):
                        m.d.comb += self.cfg_we.eq(1)
                    with m.Case(Operation.MAP):
                        m.d.comb += maps.eq(1)
                    with m.Case(Operation.FORGET):
                        m.d.comb += [maps.eq(1), forgets.eq(1)]
                        with m.If(~last_item):
                            m.next = "SHORT"
                    with m.Default():
                        m.d.comb += [accesses.eq(1), stores.eq(1)]
                        with m.If(~last_item):
                            m.next = "SHORT"

            with m.State("WRITE_LOW"):
                m.d.sync += low.eq(word.data)
                with m.If(take()):
                    m.next = "WRITE_HIGH"
            with m.State("WRITE_HIGH"):
                with m.If(take()):
                    m.d.comb += [accesses.eq(1), stores.eq(1)]
                    m.next = "WRITE_LOW"
                    with m.If(last_item):
                        m.next = "NEXT"

            with m.State("READ_SECTION"):
                m.d.comb += [self.read.valid.eq(1), self.read.payload.eq(section)]
                m.next = "READ"
            with m.State("READ"):
                m.d.comb += accesses.eq(1)
                m.next = "READ_LOW"
            with m.State("READ_LOW"):
                m.d.comb += [self.read.valid.eq(1), self.read.payload.eq(rdata[:32])]
                m.next = "READ_HIGH"
            with m.State("READ_HIGH"):
                m.d.comb += [self.read.valid.eq(1), self.read.payload.eq(rdata[32:])]
                m.next = "READ"
                with m.If(command.count == 0):
                    m.next = "NEXT"

            with m.State("ENTRY"):
                m.d.sync += [mask.eq(argument), entry_word.eq(0)]
                m.next = "ENTRY_WORD"
                with m.If(argument[ENTRY_WORDS:].any()):
                    m.next = "REFUSE"
            with m.State("ENTRY_WORD"):
                with m.If(mask[0]):
                    m.d.comb += [given.eq(word.data), writes.eq(take())]
                with m.Else():
                    m.d.comb += writes.eq(1)
                with m.If(writes):
                    m.d.sync += [mask.eq(mask >> 1), entry_word.eq(entry_word + 1)]
                    with m.If(entry_word == ENTRY_WORDS - 1):
                        m.d.sync += slot.eq(slot + 1)
                        m.next = "MASK"
            with m.State("MASK"):
                with m.If(slot == command.count):
                    m.d.comb += gives.eq(1)
                    m.next = "NEXT"
                with m.Else():
                    m.d.sync += argument.eq(word.data)
                    with m.If(take()):
                        m.next = "ENTRY"

            with m.State("NEXT"):
                m.next = "COMMAND"
                with m.If(ended):
                    m.d.comb += self.done.eq(1)
                    m.next = "IDLE"
            with m.State("REFUSE"):
                m.d.comb += self.i.ready.eq(~ended)
                with m.If(ended):
                    m.d.comb += self.refused.eq(1)
                    m.next = "IDLE"

        with m.If(accesses | forgets):
            m.d.sync += [argument.eq(argument + 1), command.count.eq(command.count - 1)]
        m.d.comb += [self.cfg_index.eq(command.index), self.cfg_data.eq(argument)]
        # The number of a page, of FORGET, is a MAP_WORD without ``valid``.
        mapped = data.View(layout(MAP_WORD), argument)
        for number in range(self._nodes):
            chosen = command.index == number
            block, memory = self.block[number], self.memory[number]
            m.d.comb += [
                block.write.eq(writes & chosen),
                block.slot.eq(slot),
                block.word.eq(entry_word),
                block.data.eq(given),
                block.give.eq(gives & chosen),
                block.count.eq(slot),
                memory.en.eq(accesses & chosen),
                memory.we.eq(stores),
                memory.place.eq(argument),
                memory.map.eq(maps & chosen),
                memory.page.eq(mapped.page),
                memory.frame.eq(mapped.frame),
                memory.valid.eq(mapped.valid),
            ]
            with m.If(operation == Operation.WRITE):
                m.d.comb += memory.wdata.eq(Cat(low, word.data))
            with m.If(chosen):
                m.d.comb += rdata.eq(memory.rdata)
        return m

    def _fits(self, m: Module, command: data.View, argument: Signal, ended: Signal) -> Signal:
        """Whether the command can be executed."""
        count, index = command.count, command.index
        size = self._frames * FRAME_WORDS
        bits = size.bit_length()
        node, inside, room = Signal(), Signal(), Signal()
        mapped = data.View(layout(MAP_WORD), argument)
        m.d.comb += [
            node.eq(index < self._nodes),
            inside.eq(node & (count != 0) & ~argument[bits:].any()
                      & (argument[:bits] + count <= size)),
            room.eq(self.read_level + 1 + (count << 1) <= READ_ROOM),
        ]
        fits = Signal()
        with m.Switch(command.operation):
            with m.Case(Operation.SET):
                m.d.comb += fits.eq(index < len(Register))
            with m.Case(Operation.TIMING):
                m.d.comb += fits.eq(self.reset & (index < self._registers))
            with m.Case(Operation.WRITE, Operation.ZERO):
                m.d.comb += fits.eq(inside)
            with m.Case(Operation.READ):
                m.d.comb += fits.eq(inside & room)
            with m.Case(Operation.MAP):
                m.d.comb += fits.eq(node & (mapped.page < self._words // FRAME_WORDS)
                                    & (~mapped.valid | (mapped.frame < self._frames)))
            with m.Case(Operation.FORGET):
                m.d.comb += fits.eq(node & (count != 0) & ~argument[17:].any()
                                    & (argument[:17] + count <= self._words // FRAME_WORDS))
            with m.Case(Operation.GIVE):
                m.d.comb += fits.eq(node & self.needs.bit_select(index, 1)
                                    & (count != 0) & (count <= BLOCK))
            with m.Case(Operation.RUN):
                m.d.comb += fits.eq(ended)
        return fits

    def _set(self, m: Module, index: Value, value: Signal) -> None:
        switches = data.View(layout(SWITCHES), value)
        with m.Switch(index):
            with m.Case(Register.SWITCHES):
                m.d.sync += [self.reset.eq(switches.reset), self.trace.eq(switches.trace),
                             self.skip.eq(switches.skip)]
            with m.Case(Register.LIMIT_LOW):
                m.d.sync += self.limit[:32].eq(value)
            with m.Case(Register.LIMIT_HIGH):
                m.d.sync += self.limit[32:].eq(value)
