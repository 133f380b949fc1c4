"""Common base of the four engines of the NIC processor."""

from typing import Any, ClassVar

from amaranth.hdl import Module, Value, ValueLike
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ....layouts.trace import Block, Drop, Kind
from ...bus.burst import Burst
from ...parts.event import EventPort
from ...parts.sizes import check_integer
from ..types import WIDE_ADDRESS_BITS, EnginePort, WidePort
from .command_queue import CommandQueue

__all__ = ["EngineBlock", "HostEngine"]


class EngineBlock(wiring.Component):
    """An engine: commands in order, a port of NIC memory, two events.

    A command that reaches beyond NIC memory (or host memory, or breaks its engine's rules of
    alignment and length) is *refused*: it ends in the cycle of its turn without an access, and
    ``error_address`` has the wrong address.

    Parameters
    ----------
    block : Block
        The block of the events.
    memory_bytes : int
        Size of NIC memory: a multiple of 8, up to 2**20.
    members : dict
        Members of this engine in addition to those below.

    Members
    -------
    port : Out(EnginePort)
        Commands, and their progress.
    clear : In(1)
        While it is high, no command begins and queued commands are dropped; the command under way
        ends. ``port.done`` is 0.
    memory : Out(WidePort)
        To NIC memory.
    error, error_address : Out(1), Out(32)
        High for the cycle in which a command is refused.
    events : Out(EventPort), one for BEGIN and one for END (DROP, arg 5: refused)
        As in :attr:`event_sources`.

    Raises
    ------
    TypeError, ValueError
        ``memory_bytes`` breaks its rule.
    """

    event_sources: ClassVar[tuple[Block, ...]] = ()
    """The block of each of :attr:`events`."""

    def __init__(self, *, block: Block, memory_bytes: int, members: dict[str, Any]) -> None:
        check_integer("memory_bytes", memory_bytes)
        if memory_bytes <= 0 or memory_bytes % 8 or memory_bytes > 8 << WIDE_ADDRESS_BITS:
            raise ValueError(f"memory_bytes must be a multiple of 8, up to "
                             f"{8 << WIDE_ADDRESS_BITS}, not {memory_bytes}")
        self._memory_bytes = memory_bytes
        self.event_sources = (block, block)
        super().__init__({
            "port": Out(EnginePort),
            "clear": In(1),
            "memory": Out(WidePort),
            "error": Out(1),
            "error_address": Out(32),
            "events": Out(EventPort).array(2),
            **members,
        })

    @property
    def memory_bytes(self) -> int:
        """Size of NIC memory, in bytes."""
        return self._memory_bytes

    def _commands(self, m: Module) -> CommandQueue:
        """The queue, connected to the engine's port."""
        m.submodules.queue = queue = CommandQueue()
        wiring.connect(m, wiring.flipped(self.port), queue.port)
        m.d.comb += queue.clear.eq(self.clear)
        return queue

    def _begin(self, m: Module, number: ValueLike) -> None:
        m.d.comb += [self.events[0].valid.eq(1), self.events[0].kind.eq(Kind.BEGIN),
                     self.events[0].number.eq(number)]

    def _end(self, m: Module, queue: CommandQueue, number: ValueLike) -> None:
        """The oldest command ends."""
        m.d.comb += [queue.finish.eq(1), self.events[1].valid.eq(1),
                     self.events[1].kind.eq(Kind.END), self.events[1].number.eq(number)]

    def _refuse(self, m: Module, queue: CommandQueue, address: Value) -> None:
        """The command on offer is refused."""
        m.d.comb += [
            queue.finish.eq(1),
            self.error.eq(1),
            self.error_address.eq(address),
            self.events[1].valid.eq(1),
            self.events[1].kind.eq(Kind.DROP),
            self.events[1].number.eq(queue.o.payload.trace),
            self.events[1].arg.eq(Drop.REFUSED),
        ]


class HostEngine(EngineBlock):
    """An engine between host memory and NIC memory; subclasses set ``BLOCK``.

    Parameters
    ----------
    memory_bytes : int
        Size of NIC memory: a multiple of 8, up to 2**20.
    host_bytes : int
        Size of host memory: a multiple of 8, up to 2**32.

    Members
    -------
    max_beats : In(10)
        Longest burst in beats, at least 1.
    bus : Out(Burst)
        To host memory.

    The others are those of :class:`EngineBlock`.

    Raises
    ------
    TypeError, ValueError
        A size breaks its rule.
    """

    BLOCK: ClassVar[Block]

    def __init__(self, *, memory_bytes: int, host_bytes: int) -> None:
        check_integer("host_bytes", host_bytes)
        if host_bytes <= 0 or host_bytes % 8 or host_bytes > 1 << 32:
            raise ValueError(f"host_bytes must be a multiple of 8, up to 2**32, not {host_bytes}")
        self._host_bytes = host_bytes
        super().__init__(block=self.BLOCK, memory_bytes=memory_bytes, members={
            "max_beats": In(10),
            "bus": Out(Burst()),
        })

    @property
    def host_bytes(self) -> int:
        """Size of host memory, in bytes."""
        return self._host_bytes
