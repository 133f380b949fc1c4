"""Labs on boards' tops, and what tests put between a back end and its board: ports that count or
hurt what they carry, a cable that can be pulled."""

import os
import select
import socket
import subprocess
import time
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest
from nicbed.layouts.board import BAUD, FLAG
from nicbed.layouts.description import Description
from nicbed.testbench.backends.board.backend import BoardBackend
from nicbed.testbench.backends.board.line import Line
from nicbed.testbench.backends.board.memory import PagedMemory
from nicbed.testbench.backends.board.ports import simulated_port
from nicbed.testbench.lab import Lab
from nicbed.testbench.simulators.board import build_board
from nicbed.testbench.synth.identity import identity

from tests.labs.board.frames import words_of
from tests.labs.board.ports import Noise

__all__ = ["Cable", "CountingPort", "NoisyPort", "Traffic", "board_at_a_port", "lab",
           "loads_counted"]

SLOTS = 10
"""Bits of a byte on the line."""
LATENCY = 0.001
"""Seconds of a round trip over USB."""


def patient(port: Any) -> Line:
    """A simulated byte takes its time, however loaded the machine is."""
    return Line(port, 60.0, resend=30.0)


def lab(change: Callable[[Any], Any] = lambda port: port, *,
        description: Description | None = None,
        board: Callable[[Description], Path] = build_board,
        line: Callable[[Any], Line] = patient) -> tuple[Lab, Any]:
    """A lab of this process's own on a board, and its port as ``change`` makes it."""
    description = description or Description()
    port = change(simulated_port(board(description)))
    backend = BoardBackend(line(port), memory_bytes=description.memory.bytes,
                           identity=identity(description))
    return Lab(description, "uart", backend), port


class _Port:
    """A port around another one."""

    def __init__(self, port: Any) -> None:
        self._port = port

    timeout = property(lambda self: self._port.timeout,
                       lambda self, value: setattr(self._port, "timeout", value))
    in_waiting = property(lambda self: self._port.in_waiting)

    def read(self, size: int) -> bytes:
        return self._port.read(size)

    def write(self, data: bytes) -> int:
        return self._port.write(data)

    def reset_input_buffer(self) -> None:
        self._port.reset_input_buffer()


class CountingPort(_Port):
    """Counts the bytes of both ways."""

    sent = received = 0

    def read(self, size: int) -> bytes:
        found = super().read(size)
        self.received += len(found)
        return found

    def write(self, data: bytes) -> int:
        self.sent += len(data)
        return super().write(data)


class NoisyPort(_Port):
    """Hurts both ways, and has a time of its own (``now``), which passes only while the board owes
    no response: the same happens each time, however busy the machine is."""

    WAIT = 60.0
    """Seconds within which a board in a simulator has answered."""

    def __init__(self, port: Any, rate: float, seed: int) -> None:
        super().__init__(port)
        self.noise = [Noise(rate, seed), Noise(rate, seed + 1)]
        self.now = 0.0
        self.sent = 0
        """A checksum of all that was written."""
        self._due = 0
        self._rest = self._held = b""

    in_waiting = property(lambda self: len(self._held))

    def read(self, size: int) -> bytes:
        if not self._held:
            self._held = self._response()
        found, self._held = self._held[:size], self._held[size:]
        return found

    def _response(self) -> bytes:
        if not self._due:
            self.now += self.timeout
            return b""
        came = b""
        end = time.monotonic() + self.WAIT
        while self._due:
            assert time.monotonic() < end, "the board does not answer a good frame"
            came += self._port.read(max(1, self._port.in_waiting))
            if sum(map(_good, came.split(bytes([FLAG])))) == self._due:
                self._due = 0
        return self.noise[0].through(came)

    def write(self, data: bytes) -> int:
        self.sent = zlib.crc32(data, self.sent)
        came = self.noise[1].through(data)
        *bodies, self._rest = (self._rest + came).split(bytes([FLAG]))
        self._due += sum(map(_good, bodies))
        self._port.write(came)
        return len(data)

    def reset_input_buffer(self) -> None:
        self._held = b""


def _good(body: bytes) -> bool:
    return words_of(body) is not None


class Cable(Thread):
    """What is between a terminal and a socket: carries bytes both ways, and counts frames to the
    board.

    With ``doubled``, a frame goes there twice, so that a board says where time is while it runs.
    After ``pulled_after`` frames there is no line any more, at either end.
    """

    def __init__(self, terminal: int, board: socket.socket, *, doubled: bool = False,
                 pulled_after: int | None = None) -> None:
        super().__init__(daemon=True)
        self.frames = 0
        self.pulled = False
        self._terminal = terminal
        self._board = board
        self._doubled = doubled
        self._pulled_after = pulled_after
        self._over = Event()

    def run(self) -> None:
        ends = [self._terminal, self._board]
        rest = b""
        while not self._over.is_set() and not self.pulled:
            ready = select.select(ends, [], [], 0.1)[0]
            if self._board in ready:
                came = self._board.recv(4096)
                if not came:
                    break
                os.write(self._terminal, came)
            if self._terminal in ready:
                *bodies, rest = (rest + os.read(self._terminal, 4096)).split(bytes([FLAG]))
                for body in filter(None, bodies):
                    self._frame(body)
        self._board.close()
        os.close(self._terminal)

    def _frame(self, body: bytes) -> None:
        if self.pulled:
            return
        self.frames += 1
        self._board.sendall((bytes([FLAG]) + body + bytes([FLAG])) * (1 + self._doubled))
        self.pulled = self.frames == self._pulled_after

    def close(self) -> None:
        self._over.set()
        self.join()


@contextmanager
def board_at_a_port(**cable: Any) -> Iterator[tuple[str, Cable | None]]:
    """The path of a serial port with the default NIC's board at its other end, and the
    :class:`Cable` between them, if it is to have ``cable``."""
    try:
        master, slave = os.openpty()
    except OSError:
        pytest.skip("no pseudo-terminals on this machine")
    between, theirs = None, master
    if cable:
        ours, other = socket.socketpair()
        theirs = other.detach()
        between = Cable(master, ours, **cable)
    executable = build_board(Description())
    board = subprocess.Popen([executable], pass_fds=[theirs],
                             env={**os.environ, "NICBED_UART_FD": str(theirs)})
    os.close(theirs)
    if between is not None:
        between.start()
    try:
        yield os.ttyname(slave), between
    finally:
        if between is not None:
            between.close()
        board.kill()
        board.wait()
        os.close(slave)


def loads_counted(patch: pytest.MonkeyPatch) -> Counter[int]:
    """How many pages were loaded, by node, from now on."""
    loads: Counter[int] = Counter()
    load = PagedMemory.load

    def loading(memory: PagedMemory, page: int) -> Any:
        loads[memory.node] += 1
        return load(memory, page)

    patch.setattr(PagedMemory, "load", loading)
    return loads


class Traffic:
    """A lab on a board's top whose frames, attentions and pages are counted, resets left out."""

    def __init__(self, patch: pytest.MonkeyPatch, description: Description | None = None) -> None:
        self.lab, self.port = lab(CountingPort, description=description)
        self.frames = self.attentions = 0
        self._begin = time.process_time()
        self.loads = loads_counted(patch)
        transact, serve, reset = Line.transact, BoardBackend.serve, BoardBackend.reset

        def transacting(line: Line, words: Any, **more: Any) -> Any:
            self.frames += 1
            return transact(line, words, **more)

        async def serving(backend: BoardBackend, attention: Any) -> None:
            def one() -> bool:
                self.attentions += 1
                return attention()
            await serve(backend, one)

        async def resetting(backend: BoardBackend, switches: Any) -> None:
            before = self.frames, self.port.sent, self.port.received
            await reset(backend, switches)
            self.frames, self.port.sent, self.port.received = before

        patch.setattr(Line, "transact", transacting)
        patch.setattr(BoardBackend, "serve", serving)
        patch.setattr(BoardBackend, "reset", resetting)

    @property
    def pages(self) -> int:
        return self.loads.total()

    def seconds(self) -> float:
        """At BAUD and LATENCY."""
        return (self.port.sent + self.port.received) * SLOTS / BAUD + self.frames * LATENCY

    def __str__(self) -> str:
        return (f"{self.attentions:,} attentions, {self.frames:,} frames, {self.pages:,} pages, "
                f"{self.port.sent:,} bytes to the board, {self.port.received:,} from it: "
                f"{self.seconds():.2f} s on the line, {3600 / self.seconds():,.0f} an hour; "
                f"{time.process_time() - self._begin:.2f} s of Python")
