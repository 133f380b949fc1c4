"""Boards at the other end of a serial line: in Python, and behind a SerialLink; and noise."""

import random
import secrets
from collections import deque
from collections.abc import Callable
from typing import Any

import pytest
from amaranth.sim import Simulator
from nicbed.layouts.board import (
    FLAG,
    HEADER,
    IDENTITY_WORDS,
    SECTION,
    STATUS_WORDS,
    Kind,
    Section,
)
from nicbed.rtl.boards.line.serial_link import SerialLink

from tests.labs.board.frames import TRICKY, frame, header, words_of

__all__ = ["IDENTITY", "REFUSED_WORD", "RUN_WORD", "FakePort", "ModelBoard", "Noise",
           "SimulatedPort", "seed_nonces"]

IDENTITY = [0x1000 + word for word in range(IDENTITY_WORDS)] + [2, 64]
REFUSED_WORD, RUN_WORD = 0xBAD, 0x10000


def seed_nonces(patch: pytest.MonkeyPatch, seed: int) -> None:
    """From now on, sessions have the nonces and numbers that ``seed`` gives."""
    patch.setattr(secrets, "randbits", random.Random(seed).getrandbits)


class ModelBoard:
    """Does what layouts.board says: a command's words are added up, ever since HELLO, and the
    response has the sum, and the words backwards."""

    def __init__(self, *, busy: int = 0) -> None:
        self.executed: list[list[int]] = []
        self._sum = 0
        self._last: int | None = None
        self._response: list[int] = []
        self._busy = busy
        self._running = 0

    def lose(self) -> None:
        """As after power-up."""
        self._last = None

    def take(self, words: list[int]) -> list[int]:
        """The response to a good frame."""
        head = HEADER.unpack(words[0])
        sequence, kind = head["sequence"], head["kind"]
        if kind == Kind.HELLO:
            self._sum = self._running = 0
            section = [words[1], *IDENTITY]
            body = [0] * STATUS_WORDS + [
                SECTION.pack(kind=Section.IDENTITY, count=len(section)), *section]
            return self._done(sequence, Kind.DONE, body)
        if sequence == self._last:
            if self._running:
                self._running -= 1
                return [header(sequence, Kind.BUSY), 7, self._running]
            return self._response
        if self._last is None or sequence != (self._last + 1) & 0xFF:
            return [header(sequence, Kind.LOST), self._last or 0]
        if REFUSED_WORD in words:
            return self._done(sequence, Kind.REFUSED, [words.index(REFUSED_WORD)])
        self.executed.append(words[1:])
        self._sum += sum(words[1:])
        response = self._done(sequence, Kind.DONE, [self._sum & 0xFFFF_FFFF, *words[:0:-1]])
        if RUN_WORD in words:
            self._running = self._busy
            return []
        return response

    def _done(self, sequence: int, kind: Kind, body: list[int]) -> list[int]:
        self._last = sequence
        self._response = [header(sequence, kind), *body]
        return self._response


class Noise:
    """Hurts one byte in ``1 / rate``: drops, flips, doubles, or puts others beside it."""

    def __init__(self, rate: float, seed: int) -> None:
        self._rate = rate
        self._rng = random.Random(seed)
        self.hurt = 0

    def through(self, sent: bytes) -> bytes:
        rng, out = self._rng, bytearray()
        for byte in sent:
            if rng.random() >= self._rate:
                out.append(byte)
                continue
            self.hurt += 1
            out += rng.choice([
                b"", bytes([byte ^ 1 << rng.randrange(8)]), bytes([byte, byte]),
                bytes([rng.choice(TRICKY), byte]), bytes([byte]) + rng.randbytes(rng.randrange(9)),
                bytes([FLAG])])
        return bytes(out)


class FakePort:
    """A serial port with a board at its other end, and a time of its own."""

    name = "/dev/fake"

    def __init__(self, board: Callable[[list[int]], list[int]] | None, *,
                 there: Noise | None = None, back: Noise | None = None, lag: float = 0.001,
                 doubled: float = 0.0, seed: int = 1) -> None:
        self.now = 0.0
        self.timeout: float = 0.0
        self.writes = 0
        self.pending: deque[tuple[float, bytes]] = deque()
        self._board = board
        self._there = there
        self._back = back
        self._lag = lag
        self._doubled = doubled
        self._rng = random.Random(seed)
        self._rest = b""
        self._ready = b""

    def write(self, sent: bytes) -> int:
        self.writes += 1
        came = self._there.through(sent) if self._there else sent
        *bodies, self._rest = (self._rest + came).split(bytes([FLAG]))
        for body in bodies:
            words = words_of(body)
            if words is None or self._board is None:
                continue
            response = self._board(words)
            for _ in range(1 + (self._rng.random() < self._doubled)):
                if response:
                    self.say(frame(response))
        return len(sent)

    def say(self, sent: bytes) -> None:
        """The board sends this, in pieces."""
        came = self._back.through(sent) if self._back else sent
        when = max([self.now + self._lag] + [then for then, _ in self.pending])
        while came:
            size = self._rng.randrange(1, 65)
            self.pending.append((when, came[:size]))
            came = came[size:]

    def _arrive(self) -> None:
        while self.pending and self.pending[0][0] <= self.now:
            self._ready += self.pending.popleft()[1]

    @property
    def in_waiting(self) -> int:
        self._arrive()
        return len(self._ready)

    def read(self, size: int) -> bytes:
        assert size > 0, "a read of nothing turns for ever"
        assert self.timeout > 0
        assert self.now < 10_000, "a wait without end"
        if self.in_waiting < size:
            self.now += self.timeout
            self._arrive()
        got, self._ready = self._ready[:size], self._ready[size:]
        return got

    def reset_input_buffer(self) -> None:
        self._arrive()
        self._ready = b""


class SimulatedPort:
    """A serial port whose wires go to a SerialLink; a model board is behind that. Time passes in
    ``read`` alone: 1 second is a million cycles."""

    def __init__(self, divisor: int, noise: Noise | None = None) -> None:
        self.timeout = 0.0
        self.cycle = 0
        self._noise = noise
        self._out: deque[int] = deque()
        self._in = bytearray()
        self._divisor = divisor
        self._board = ModelBoard(busy=1)
        link = SerialLink(divisor=divisor)
        self._simulator = Simulator(link)
        self._simulator.add_clock(1e-6)
        self._simulator.add_testbench(self._rx(link), background=True)
        self._simulator.add_testbench(self._tx(link), background=True)
        self._simulator.add_testbench(self._control(link), background=True)
        self._simulator.add_testbench(self._time)

    @property
    def now(self) -> float:
        return self.cycle / 1e6

    async def _time(self, ctx: Any) -> None:
        while True:
            await ctx.tick()
            self.cycle += 1

    def _rx(self, link: SerialLink) -> Any:
        async def run(ctx: Any) -> None:
            ctx.set(link.rx, 1)
            while True:
                if not self._out:
                    await ctx.tick()
                    continue
                bits = 0x200 | self._out.popleft() << 1
                for place in range(10):
                    ctx.set(link.rx, bits >> place & 1)
                    await ctx.tick().repeat(self._divisor)
        return run

    def _tx(self, link: SerialLink) -> Any:
        async def run(ctx: Any) -> None:
            while True:
                await ctx.tick()
                if ctx.get(link.tx):
                    continue
                byte = 0
                for place in range(8):
                    await ctx.tick().repeat(self._divisor)
                    byte |= ctx.get(link.tx) << place
                await ctx.tick().repeat(self._divisor)
                assert ctx.get(link.tx) == 1
                self._in += self._noise.through(bytes([byte])) if self._noise else bytes([byte])
        return run

    def _control(self, link: SerialLink) -> Any:
        async def run(ctx: Any) -> None:
            words: list[int] = []
            sent: list[int] = []
            ctx.set(link.command.ready, 1)
            while True:
                _, _, valid, item = await ctx.tick().sample(
                    link.command.valid, link.command.payload)
                if not valid:
                    continue
                words.append(item.data)
                if not item.last:
                    continue
                response, words = self._board.take(words), []
                ctx.set(link.command.ready, 0)
                if response and response == sent:
                    ctx.set(link.again, 1)
                    await ctx.tick()
                    ctx.set(link.again, 0)
                elif response:
                    ctx.set(link.response.valid, 1)
                    for place, word in enumerate(response):
                        ctx.set(link.response.payload.data, word)
                        ctx.set(link.response.payload.last, place == len(response) - 1)
                        await ctx.tick().until(link.response.ready)
                    ctx.set(link.response.valid, 0)
                    sent = response
                ctx.set(link.command.ready, 1)
        return run

    @property
    def in_waiting(self) -> int:
        return len(self._in)

    def read(self, size: int) -> bytes:
        end = self.cycle + self.timeout * 1e6
        while len(self._in) < size and self.cycle < end:
            self._simulator.advance()
        got = bytes(self._in[:size])
        del self._in[:size]
        return got

    def write(self, sent: bytes) -> int:
        self._out += self._noise.through(sent) if self._noise else sent
        return len(sent)

    def reset_input_buffer(self) -> None:
        self._in.clear()
