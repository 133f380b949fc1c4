"""The environment of the machine on a board, up to the words of the serial link."""

from amaranth.hdl import Cat, Module
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from ...layouts.processor import CRASH_WORDS
from ...layouts.timing import TIMING_REGISTERS
from ..bus.memory import MemoryPort
from ..node.node import HostSide
from ..parts.trace_sink import TracePort
from .control.control import Control
from .line.deframer import WordLayout
from .store.block_store import BlockStore
from .store.resident_memory import ResidentMemory
from .store.trace_log import TraceLog
from .store.write_log import WriteLog

__all__ = ["Harness"]


class Harness(wiring.Component):
    """Control, blocks, resident memories and logs of a board, around a machine of ``nodes`` nodes
    with a host port each.

    The machine takes an edge only with ``step`` high. With ``reset`` it is in reset, and every edge
    has ``step``. It takes an edge in every cycle without a memory access, an event or a new entry
    of a port. A write costs 2 cycles, a read 3, an event 1, an entry ENTRY_WORDS + 1. Reset: as
    after power-up.

    Parameters
    ----------
    nodes : :class:`int`
        Nodes, 1 to NODES_MAX.
    words : :class:`int`
        8-byte words of a node's memory: a power of two.
    sources : :class:`int`
        Sources of events.
    identity : :class:`bytes`
        The configuration's hash: 4 IDENTITY_WORDS bytes.
    frames : :class:`int`
        Pages of a node's memory that fit into its resident memory.
    registers : :class:`int`
        Timing registers of the machine.

    Members
    -------
    command : ``In(stream.Signature(WordLayout))``, response : ``Out(stream.Signature(WordLayout))``
        Frames without their CRC.
    again : ``Out(1)``
        Send the last response again.
    running : ``Out(1)``
        Time runs.
    step, reset : ``Out(1)``
        Clock enable and reset of the machine.
    cfg_we, cfg_index, cfg_data, trace_enable, skip_enable, limit : ``Out``
        To the machine.
    stall, expired : ``In(1)``, cycle : ``In(64)``, needs : ``In``, crash : ``In``
        From the machine.
    cpu : ``Out(HostSide)``, memory : ``In(MemoryPort)``, one of each a node
        Its host ports and memories.
    trace : ``In(TracePort)``, one a source
        Its events.

    Raises
    ------
    TypeError, ValueError
        As the parts do.
    """

    def __init__(self, *, nodes: int, words: int, sources: int, identity: bytes,
                 frames: int, registers: int = len(TIMING_REGISTERS)) -> None:
        self._control = Control(nodes=nodes, words=words, frames=frames, identity=identity,
                                registers=registers)
        self._memories = [ResidentMemory(words=words, frames=frames) for _ in range(nodes)]
        self._writes = WriteLog(nodes=nodes, words=words)
        self._events = TraceLog(sources=sources)
        super().__init__({
            "command": In(stream.Signature(WordLayout)),
            "response": Out(stream.Signature(WordLayout)),
            "again": Out(1),
            "running": Out(1),
            "step": Out(1),
            "reset": Out(1),
            "cfg_we": Out(1),
            "cfg_index": Out(8),
            "cfg_data": Out(32),
            "trace_enable": Out(1),
            "skip_enable": Out(1),
            "limit": Out(64),
            "stall": In(1),
            "expired": In(1),
            "cycle": In(64),
            "needs": In(nodes),
            "crash": In(32 * CRASH_WORDS),
            "cpu": Out(HostSide).array(nodes),
            "memory": In(MemoryPort(words)).array(nodes),
            "trace": In(TracePort).array(sources),
        })

    @property
    def nodes(self) -> int:
        """Nodes."""
        return self._control.nodes

    @property
    def words(self) -> int:
        """8-byte words of a node's memory."""
        return self._control.words

    @property
    def sources(self) -> int:
        """Sources of events."""
        return self._events.sources

    @property
    def identity(self) -> bytes:
        """The configuration's hash."""
        return self._control.identity

    @property
    def frames(self) -> int:
        """Pages of a node's memory that fit."""
        return self._control.frames

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.control = control = self._control
        m.submodules.writes = writes = self._writes
        m.submodules.events = events = self._events

        connect(m, flipped(self.command), control.command)
        connect(m, control.response, flipped(self.response))
        connect(m, writes.read.records, control.writes)
        connect(m, events.read.records, control.events)
        m.d.comb += [
            *(getattr(self, name).eq(getattr(control, name)) for name in (
                "again", "running", "step", "reset", "cfg_we", "cfg_index", "cfg_data", "limit")),
            *(getattr(control, name).eq(getattr(self, name)) for name in (
                "stall", "expired", "cycle", "needs", "crash")),
            self.trace_enable.eq(control.trace),
            self.skip_enable.eq(control.skip),
            events.enable.eq(control.trace),
            events.cycle.eq(self.cycle),
            events.step.eq(control.step),
            events.read.clear.eq(control.reset),
            writes.read.clear.eq(control.reset),
            control.writes_level.eq(writes.read.level),
            control.events_level.eq(events.read.level),
            control.room.eq(writes.read.room & events.read.room),
        ]
        for source, outside in zip(events.trace, self.trace, strict=True):
            connect(m, source, flipped(outside))

        stores = [BlockStore() for _ in self._memories]
        for number, (memory, blocks) in enumerate(zip(self._memories, stores, strict=True)):
            m.submodules[f"memory_{number}"] = memory
            m.submodules[f"blocks_{number}"] = blocks
            connect(m, memory.port, flipped(self.memory[number]))
            connect(m, memory.log, writes.i[number])
            connect(m, memory.control, control.memory[number])
            connect(m, blocks.cpu, flipped(self.cpu[number]))
            connect(m, blocks.block, control.block[number])
            connect(m, blocks.answers, control.answers[number])
            m.d.comb += [
                memory.retry.eq(control.retry),
                control.miss[number].eq(memory.miss),
                control.miss_page[number].eq(memory.miss_page),
            ]
            for unit in (memory, blocks):
                m.d.comb += [unit.step.eq(control.step), unit.reset.eq(control.reset)]
        accesses = Cat(memory.pending for memory in self._memories)
        others = Cat(*(store.pending for store in stores), events.pending).any()
        m.d.comb += [
            control.busy.eq((accesses & ~control.miss).any() | others),
            control.held.eq(accesses.any() | others | ~control.room),
        ]
        return m
