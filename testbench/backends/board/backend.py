"""The target on a board, or on a board's top in a simulator: operations and answers by frames."""

import struct
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from ....layouts.board import IDENTITY_WORDS
from ....layouts.operations import ANSWER_WORDS, BLOCK, ENTRY
from ....layouts.processor import CRASH_WORDS
from ....layouts.trace import Event
from ..switches import Switches
from . import commands
from .line import LineError
from .memory import PagedMemory
from .responses import Damaged, Response, parse

__all__ = ["BoardBackend", "BoardMailbox", "Transport"]

_NO_ANSWERS = bytes(4 * BLOCK * ANSWER_WORDS)


class Transport(Protocol):
    """A transport of frames: :class:`~.line.Line`."""

    def hello(self) -> list[int]: ...

    def transact(self, words: Sequence[int], *,
                 on_busy: Callable[[int], None] | None = None) -> list[int]: ...


class BoardMailbox:
    """The host ports' blocks and answers, as of the last time at which time stood still."""

    def __init__(self, ports: int) -> None:
        self.ports = ports
        self.now = 0
        self.waiting = 0
        self.ended = False
        self.given: list[tuple[int, ...]] = []
        self.crashed: tuple[int, ...] = (0,) * CRASH_WORDS
        self.answered = [bytearray(_NO_ANSWERS) for _ in range(ports)]
        self._blocks = [bytearray(BLOCK * ENTRY.size) for _ in range(ports)]

    def cycle(self) -> int:
        return self.now

    def look(self) -> tuple[int, int, int]:
        return self.now, self.waiting, self.ended

    def crash(self) -> tuple[int, ...]:
        return self.crashed

    def answers(self, port: int) -> bytearray:
        return self.answered[port]

    def block(self, port: int) -> bytearray:
        return self._blocks[port]

    def give(self, port: int, count: int) -> None:
        self.given.append(commands.give(port, self._blocks[port], count))


class BoardBackend:
    """The part of a board that :class:`~nicbed.testbench.lab.Lab` needs.

    Parameters
    ----------
    line
        The serial line.
    memory_bytes
        Bytes of a node's host memory, as in the description.
    identity
        The configuration's hash that the board must have; it covers nodes and memory.
    advice
        Text for the error if the board has another hash.
    tell
        Called from time to time with the cycle while time runs.

    Raises
    ------
    LineError
        Nothing answers, or the board has another configuration.
    """

    direct = False

    def __init__(self, line: Transport, *, memory_bytes: int, identity: bytes, advice: str = "",
                 tell: Callable[[int], None] = lambda cycle: None) -> None:
        self._line = line
        self._tell = tell
        found = self._parse(line.hello()).identity
        if len(found) != IDENTITY_WORDS + 3:
            raise LineError("the other end is not a board of this version of nicbed")
        has = struct.pack(f"<{IDENTITY_WORDS}I", *found[1:IDENTITY_WORDS + 1])
        if has != identity:
            raise LineError(f"the board carries another configuration ({has.hex()[:16]}, not "
                            f"{identity.hex()[:16]}){advice}")
        ports, frames = found[IDENTITY_WORDS + 1:]
        self.mailbox = BoardMailbox(ports)
        self.memories: list[Any] = [PagedMemory(node, memory_bytes, frames)
                                    for node in range(ports)]
        self._words = memory_bytes // 8
        self._events: list[Event] = []
        self._take(self._send([command for memory in self.memories
                               for command in memory.begin()]))

    async def reset(self, switches: Switches) -> None:
        """Reset the target, with memories and trace empty."""
        box = self.mailbox
        box.given.clear()
        for answered in box.answered:
            answered[:] = _NO_ANSWERS
        for memory in self.memories:
            memory.clear()
        self._events = []
        *held, released = commands.reset(switches)
        self._take(self._send([*held, *self._changes(), released]))

    async def serve(self, attention: Callable[[], bool]) -> None:
        """Call ``attention`` at once and then at each attention, until it returns False."""
        while attention():
            given = self.mailbox.given
            self.mailbox.given = []
            response = self._send([*self._changes(), *given, commands.RUN])
            while True:
                self._take(response)
                stands = response.attention or response.expired or response.miss is not None
                if response.more:
                    response = self._send([] if stands else [commands.RUN])
                elif response.miss is not None:
                    # All writes have arrived, so this copy of the page is up to date.
                    node, page = response.miss
                    response = self._send([*self.memories[node].load(page), commands.RUN])
                elif response.attention or response.expired:
                    break
                else:
                    raise LineError("the board stands still although nothing blocks it")

    async def events(self) -> list[Event]:
        """Events of the run so far."""
        return self._events

    def profile(self, node: int) -> dict[int, int]:
        """A board counts no profile."""
        return {}

    def _changes(self) -> list[tuple[int, ...]]:
        return [command for memory in self.memories for command in memory.changes()]

    def _send(self, wanted: Sequence[tuple[int, ...]]) -> Response:
        """Have ``wanted`` executed; return the response to the last frame."""
        *before, last = commands.frames(wanted)
        for frame in before:
            self._take(self._transact(frame))
        return self._transact(last)

    def _transact(self, frame: Sequence[int]) -> Response:
        return self._parse(self._line.transact(frame, on_busy=self._tell))

    def _parse(self, words: Sequence[int]) -> Response:
        try:
            return parse(words)
        except Damaged as error:
            raise LineError(f"the board sent an invalid response: {error}") from None

    def _take(self, response: Response) -> None:
        """Update the mailbox and the memories from ``response``."""
        box = self.mailbox
        box.now = response.cycle
        box.waiting = response.needs
        box.ended = response.expired
        if response.crash:
            box.crashed = tuple(response.crash)
        for port, words in response.answers.items():
            box.answered[port][:] = struct.pack(f"<{len(words)}I", *words).ljust(
                len(_NO_ANSWERS), b"\0")
        for written in response.written:
            node, place = divmod(written.address, self._words)
            self.memories[node].take(place, written.strobe, written.word)
        self._events += response.events
