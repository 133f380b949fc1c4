"""The board's end of the line: good frames pass, others are dropped and counted, none is lost."""

import random
from collections.abc import Iterable
from typing import Any

import cocotb
import pytest
from cocotb.triggers import RisingEdge
from nicbed.layouts.board import COMMAND_FRAME, ESCAPE, FLAG, RESPONSE_FRAME
from nicbed.rtl.boards.line.deframer import Deframer, WordLayout
from nicbed.rtl.boards.line.framer import Framer
from nicbed.rtl.boards.line.serial_link import SerialLink

from tests.labs.bench import (
    Sink,
    Source,
    cycles,
    parameters,
    reset_and_clock,
    run_bench,
    seed,
    within,
)
from tests.labs.board.frames import crc32, frame, header, random_words, stuffed, words_of
from tests.labs.rows import more

LOST = -1
"""In place of a byte: a byte that was broken."""


def items(words: list[int]) -> list[dict[str, int]]:
    """The transfers of a stream of WordLayout that carry ``words``."""
    return [{"data": word, "last": int(place == len(words) - 1)}
            for place, word in enumerate(words)]


def sealed(body: bytes) -> bytes:
    return stuffed(body + crc32(body))


def spoil(rng: random.Random, words: list[int], kind: str) -> list[int]:
    """``words`` as a frame that must be dropped, byte by byte."""
    good = frame(words)
    body = b"".join(word.to_bytes(4, "little") for word in words)
    if kind == "long by bytes":
        return list(sealed(body + rng.randbytes(rng.randrange(1, 4))))
    if kind == "short by bytes":
        return list(sealed(body[:-rng.randrange(1, 4)]))
    if kind == "too long":
        return list(frame((words * COMMAND_FRAME)[:COMMAND_FRAME]))
    if kind == "one word":
        return list(sealed(b""))
    if kind == "crc":
        check = int.from_bytes(crc32(body), "little") ^ 1 << rng.randrange(32)
        return list(stuffed(body + check.to_bytes(4, "little")))
    if kind == "data":
        place = rng.randrange(8 * len(body))
        flipped = int.from_bytes(body, "little") ^ 1 << place
        return list(stuffed(flipped.to_bytes(len(body), "little") + crc32(body)))
    if kind == "magic":
        return list(frame([words[0] ^ 1 << rng.randrange(16, 32), *words[1:]]))
    if kind == "escape":
        return list(good[:-1]) + [ESCAPE, FLAG]
    assert kind == "broken"
    place = rng.randrange(1, len(good))
    return [*good[:place], LOST, *good[place:]]


SPOILS = ["long by bytes", "short by bytes", "too long", "one word", "crc", "data", "magic",
          "escape", "broken"]


class Bytes:
    """Drives a Deframer's bytes, ``gap`` cycles and up to ``jitter`` more between them."""

    def __init__(self, dut: Any, *, gap: int = 0, jitter: int = 0, seed: int = 0) -> None:
        self._dut = dut
        self._gap = gap
        self._jitter = jitter
        self._rng = random.Random(seed)
        self._edge = RisingEdge(dut.clk)

    async def send(self, sent: Iterable[int]) -> None:
        dut = self._dut
        for byte in sent:
            dut.broken.value = int(byte == LOST)
            dut.i__valid.value = int(byte != LOST)
            dut.i__payload.value = byte & 0xFF
            await self._edge
            rest = self._gap + (self._rng.randrange(self._jitter + 1) if self._jitter else 0)
            if rest:
                dut.broken.value = dut.i__valid.value = 0
                for _ in range(rest):
                    await self._edge
        dut.broken.value = dut.i__valid.value = 0

    async def settle(self) -> None:
        """Wait until the frame sent last is consumed, if it was good."""
        await cycles(self._dut, 2)
        for _ in range(100_000):
            if not self._dut.held.value:
                return
            await self._edge
        raise AssertionError("a frame is held for ever")


@cocotb.test()
async def deframes(dut: Any) -> None:
    """Good frames between bad ones, each bad one of a kind."""
    values = parameters()
    rng = random.Random(seed())
    await reset_and_clock(dut)
    line = Bytes(dut, gap=values["gap"], jitter=values["gap"], seed=seed())
    sink = Sink(dut, "o", shape=WordLayout, stall=values["stall"], seed=seed() + 1)
    bad = 0
    spoils = [kind for kind in SPOILS if kind != "too long" or not values["gap"]]
    plan = ["good", *spoils, *rng.choices(["good", *SPOILS[:2], *SPOILS[3:]], k=20)]
    for kind in plan:
        words = random_words(rng, rng.choice([1, 2, 3, rng.randrange(1, 30)]))
        if kind == "good":
            await line.send(frame(words))
        else:
            await line.send(spoil(rng, words, kind))
            bad += 1
            await cycles(dut, 3)
            assert dut.bad.value == bad and not dut.held.value, kind
            words = random_words(rng, rng.randrange(1, 20))
            # One FLAG may end a frame and begin the next.
            await line.send(frame(words)[rng.randrange(2):])
        await line.settle()
        assert sink.taken == items(words), f"after {kind}"
        assert dut.bad.value == bad
        sink.taken.clear()
    await line.send(b"\x7e" * 10)
    await cycles(dut, 3)
    assert dut.bad.value == bad, "nothing between FLAGs is no frame"


@cocotb.test()
async def longest(dut: Any) -> None:
    """COMMAND_FRAME words with the CRC, and then a short one: nothing is left of the long."""
    rng = random.Random(seed())
    await reset_and_clock(dut)
    line = Bytes(dut)
    sink = Sink(dut, "o", shape=WordLayout, stall=0.1, seed=seed())
    for count in (COMMAND_FRAME - 1, 1):
        words = random_words(rng, count)
        await line.send(frame(words))
        await line.settle()
        assert sink.taken == items(words)
        sink.taken.clear()
    assert dut.bad.value == 0


@cocotb.test()
async def one_at_a_time(dut: Any) -> None:
    """What comes, even in part, while a frame is consumed is dropped; that frame stays whole."""
    rng = random.Random(seed())
    await reset_and_clock(dut)
    line = Bytes(dut)
    sink = Sink(dut, "o", shape=WordLayout, stall=1.0)
    held = random_words(rng, 20)
    await line.send(frame(held))
    for count in range(1, 4):
        await line.send(frame(random_words(rng, 25)))
        await cycles(dut, 2)
        assert dut.held.value == 1 and dut.bad.value == count
    # Released at every place of the next frame: all that was sent before is missing.
    dropped = 3
    for place in range(20):
        # An escape that begins a frame is no part of it that could be missing.
        next_words = [header(place), *random_words(rng, 6)]
        sent = frame(next_words)
        await line.send(sent[:place])
        sink.stall = 0.0
        await within(500, sink.receive(len(held)))
        await cycles(dut, 2)
        assert not dut.held.value
        sink.stall = 1.0
        await cycles(dut, 2)
        await line.send(sent[place:])
        await cycles(dut, 3)
        # The FLAG that begins a frame may come while the one before is consumed.
        if place <= 1:
            assert dut.held.value == 1 and dut.bad.value == dropped, place
            held = next_words
        else:
            dropped += 1
            assert dut.held.value == 0 and dut.bad.value == dropped, place
            held = random_words(rng, 3)
            await line.send(frame(held))
            await cycles(dut, 2)
    sink.stall = 0.0
    assert await within(500, sink.receive(len(held))) == items(held)


@cocotb.test()
async def frames(dut: Any) -> None:
    """Every frame leaves as it must, once and as often again as asked."""
    values = parameters()
    rng = random.Random(seed())
    await reset_and_clock(dut)
    source = Source(dut, "i", shape=WordLayout, stall=values["i_stall"], seed=seed())
    sink = Sink(dut, "o", stall=values["o_stall"], seed=seed() + 1)

    async def again() -> None:
        dut.again.value = 1
        await RisingEdge(dut.clk)
        dut.again.value = 0

    async def settle() -> None:
        for _ in range(60_000):
            await cycles(dut, 1)
            if dut.idle.value == 1:
                return
        raise AssertionError("never idle")

    await again()
    await cycles(dut, 20)
    assert sink.taken == [] and dut.idle.value == 1, "nothing is kept yet"
    lengths = [RESPONSE_FRAME - 1, 1, 2, 1, *(rng.randrange(1, 20) for _ in range(8))]
    if values["o_stall"]:
        lengths.remove(RESPONSE_FRAME - 1)
    for place, length in enumerate(lengths):
        words = random_words(rng, length)
        source.send(*items(words))
        await cycles(dut, 4)
        if length > 4 and not values["i_stall"]:
            assert dut.idle.value == 0
            await again()
        await source.drain()
        if place % 3 == 0:
            await again()
        await settle()
        assert bytes(sink.taken) == frame(words), "sent once"
        sink.taken.clear()
        for _ in range(place % 3):
            await again()
            assert bytes(await within(60_000, sink.receive(len(frame(words))))) == frame(words)
            await settle()
        assert sink.taken == []
    first, second = random_words(rng, 9), random_words(rng, 8)
    source.send(*items(first), *items(second))
    both = frame(first) + frame(second)
    assert bytes(await within(5000, sink.receive(len(both)))) == both


@cocotb.test()
async def both_ways(dut: Any) -> None:
    """The whole link, both ways at once; responses leave without a pause on the line."""
    divisor = parameters()["divisor"]
    rng = random.Random(seed())
    await reset_and_clock(dut, rx=1)
    sink = Sink(dut, "command", shape=WordLayout, stall=0.3, seed=seed())
    source = Source(dut, "response", shape=WordLayout, seed=seed() + 1)
    edge = RisingEdge(dut.clk)
    levels: list[int] = []

    async def watch() -> None:
        while True:
            await edge
            levels.append(int(dut.tx.value))

    async def level(value: int, clocks: int) -> None:
        dut.rx.value = value
        for _ in range(clocks):
            await edge

    async def send(sent: bytes) -> None:
        for byte in sent:
            await level(0, divisor)
            for place in range(8):
                await level(byte >> place & 1, divisor)
            await level(1, divisor)

    await cycles(dut, 4)
    assert dut.idle.value == 1
    watching = cocotb.start_soon(watch())
    responses = [random_words(rng, 12), random_words(rng, 4)]
    for response in responses:
        source.send(*items(response))
    # A consumer that keeps up gets frames that follow each other without a pause.
    commands = [random_words(rng, rng.randrange(2, 6)) for _ in range(4)]
    await send(b"\x00\x7d" + b"".join(frame(words)[bool(place):]
                                      for place, words in enumerate(commands)))
    await level(1, 60 + 30 * divisor)
    assert sink.taken == [item for words in commands for item in items(words)]
    assert dut.bad.value == 1
    sink.taken.clear()

    # A stop bit that is low spoils its frame.
    await send(frame(commands[0])[:9])
    await level(0, 10 * divisor)
    await level(1, 2 * divisor)
    await send(frame(commands[0])[9:])
    await send(frame(commands[1])[1:])
    await level(1, 60 + 30 * divisor)
    assert sink.taken == items(commands[1]) and dut.bad.value == 2
    sink.taken.clear()

    for _ in range(20_000):
        await edge
        if dut.idle.value == 1:
            break
    dut.again.value = 1
    await edge
    dut.again.value = 0
    await edge
    assert dut.idle.value == 0
    for _ in range(20_000):
        await edge
        if dut.idle.value == 1:
            break
    watching.cancel()
    # idle: neither a byte on the line nor a frame that is held.
    await level(1, 2 * divisor)
    sink.stall = 1.0
    await send(frame(commands[2]))
    await level(1, 8 + divisor)
    assert dut.idle.value == 0
    sink.stall = 0.0
    await within(500, sink.receive(len(commands[2])))
    await cycles(dut, 2)
    assert dut.idle.value == 1

    got, starts, at = bytearray(), [], 0
    while 0 in levels[at:]:
        at = levels.index(0, at)
        starts.append(at)
        got.append(sum(levels[at + divisor * (place + 1)] << place for place in range(8)))
        at += 10 * divisor
    wanted = [*responses, responses[-1]]
    assert bytes(got) == b"".join(frame(words) for words in wanted)
    assert [words_of(piece) for piece in bytes(got).split(b"\x7e") if piece] == wanted
    first = len(frame(responses[0]) + frame(responses[1]))
    pauses = [b - a - 10 * divisor for a, b in zip(starts, starts[1:first], strict=False)]
    between = len(frame(responses[0])) - 1
    assert not any(pauses[:between]) and not any(pauses[between + 1:]), "no pause within a frame"
    assert pauses[between] <= max(0, 28 - 10 * divisor), "what a frame costs beside its bytes"


@pytest.mark.parametrize("gap, stall", [(0, 0.5), more(
    2, 0.0)])
def test_deframes(gap: int, stall: float) -> None:
    run_bench(Deframer(), __file__, testcase="deframes", seed=gap + 1, gap=gap, stall=stall)


@pytest.mark.parametrize("testcase", ["longest", "one_at_a_time"])
def test_one_frame_is_kept(testcase: str) -> None:
    run_bench(Deframer(), __file__, testcase=testcase)


@pytest.mark.parametrize("i_stall, o_stall", [(0.0, 0.0), (0.5, 0.3)])
def test_frames(i_stall: float, o_stall: float) -> None:
    run_bench(Framer(), __file__, testcase="frames", i_stall=i_stall, o_stall=o_stall)


@pytest.mark.parametrize("divisor", [
    2, *(more(divisor) for divisor in (3, 17))])
def test_both_ways(divisor: int) -> None:
    run_bench(SerialLink(divisor=divisor), __file__, testcase="both_ways", divisor=divisor)


def test_divisor_is_an_integer_of_at_least_2() -> None:
    with pytest.raises(TypeError, match="divisor must be an integer, not '2'"):
        SerialLink(divisor="2")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="divisor must be at least 2, not 0"):
        SerialLink(divisor=0)
    assert SerialLink(divisor=5).divisor == 5


def test_reference_of_these_tests() -> None:
    """The frames that are sent here are those of layouts.board."""
    import zlib
    rng = random.Random(1)
    for _ in range(50):
        words = random_words(rng, rng.randrange(1, 30))
        body = b"".join(word.to_bytes(4, "little") for word in words)
        assert crc32(body) == zlib.crc32(body).to_bytes(4, "little")
        assert words_of(frame(words)[1:-1]) == words
    assert frame([header(0)]) == bytes.fromhex("7e0000626e") + crc32(b"\0\0bn") + b"\x7e"
