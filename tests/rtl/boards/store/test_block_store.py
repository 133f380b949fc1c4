"""A host port's blocks on a board: entries, answers, and what reset forgets."""

import random
from typing import Any

import cocotb
import pytest
from cocotb.triggers import FallingEdge
from nicbed.layouts.operations import ANSWER, ANSWER_WORDS, BLOCK, ENTRY_WORDS, Status
from nicbed.rtl.boards.store.block_store import BlockStore

from tests.labs.bench import reset_and_clock, run_bench, seed


@cocotb.test()
async def shows_entries(dut: Any) -> None:
    await reset_and_clock(dut)
    rng = random.Random(seed())
    falling = FallingEdge(dut.clk)
    await falling
    entries = [[0] * ENTRY_WORDS for _ in range(BLOCK)]
    go = index = 0

    async def comes(cycles: int = ENTRY_WORDS) -> None:
        """The entry, after so many more cycles."""
        for _ in range(cycles):
            assert int(dut.pending.value)
            await falling
        assert not int(dut.pending.value)
        assert int(dut.cpu__entry.value) == sum(
            word << 32 * at for at, word in enumerate(entries[index]))

    async def write(slot: int, word: int, value: int) -> None:
        dut.block__slot.value, dut.block__word.value, dut.block__data.value = slot, word, value
        dut.block__write.value = 1
        await falling
        dut.block__write.value = 0
        entries[slot][word] = value

    async def write_any() -> None:
        await write(rng.randrange(BLOCK), rng.randrange(ENTRY_WORDS), rng.getrandbits(32))

    for slot in range(BLOCK):
        for word in range(ENTRY_WORDS):
            await write(slot, word, 0)
    assert not int(dut.pending.value)
    for _ in range(150):
        for _ in range(rng.randrange(20)):
            await write_any()
        count = rng.randrange(1, BLOCK + 1)
        dut.block__give.value, dut.block__count.value = 1, count
        await falling
        dut.block__give.value = 0
        go ^= 1
        assert int(dut.cpu__go.value) == go
        assert int(dut.cpu__count.value) == int(dut.answers__count.value) == count
        if rng.random() < 0.3:
            # Given again while it is on its way, with a word of it changed.
            for _ in range(rng.randrange(ENTRY_WORDS)):
                await falling
            await write_any()
            dut.block__give.value = 1
            await falling
            dut.block__give.value = 0
            go ^= 1
        await comes(ENTRY_WORDS + 1)
        for _ in range(rng.randrange(4)):
            turned = rng.randrange(BLOCK)
            dut.cpu__index.value = turned
            if turned != index:
                index = turned
                await falling
                await comes()
            await comes(0)
        if rng.random() < 0.1:
            dut.reset.value = 1
            await falling
            dut.reset.value = 0
            go = 0
            assert not int(dut.cpu__go.value) and not int(dut.cpu__count.value)
            await comes(0)


@cocotb.test()
async def keeps_answers(dut: Any) -> None:
    await reset_and_clock(dut)
    rng = random.Random(seed() + 1)
    falling = FallingEdge(dut.clk)
    await falling

    async def answers() -> list[tuple[int, ...]]:
        dut.cpu__answers.value = 0
        found = []
        for slot in range(BLOCK):
            words = []
            for word in range(ANSWER_WORDS):
                dut.answers__slot.value, dut.answers__word.value = slot, word
                await falling
                words.append(int(dut.answers__data.value))
            found.append((words[0], words[1], words[2] | words[3] << 32))
        return found

    expected: list[tuple[int, ...]] = [(0, 0, 0)] * BLOCK
    for slot in range(BLOCK):
        expected[slot] = (slot, 1, 2)
        dut.cpu__answer.value = int.from_bytes(ANSWER.pack(*expected[slot]), "little")
        dut.cpu__slot.value, dut.cpu__answers.value, dut.step.value = slot, 1, 1
        await falling
    for _ in range(150):
        answer = (rng.getrandbits(32), rng.getrandbits(32), rng.getrandbits(64))
        slot, discards = rng.randrange(BLOCK), rng.getrandbits(1)
        stores, steps = rng.random() < 0.8, rng.random() < 0.7
        dut.cpu__answer.value = int.from_bytes(ANSWER.pack(*answer), "little")
        dut.cpu__slot.value, dut.cpu__discards.value = slot, discards
        dut.cpu__answers.value, dut.step.value = int(stores), int(steps)
        await falling
        if stores and steps:
            expected[slot] = answer
            if discards:
                expected[slot + 1:] = [(0, Status.DISCARDED.value, 0)] * (BLOCK - slot - 1)
        if rng.random() < 0.3:
            assert await answers() == expected
    assert await answers() == expected
    # Reset discards nothing any more.
    dut.cpu__slot.value, dut.cpu__discards.value = 0, 1
    dut.cpu__answers.value = dut.step.value = 1
    await falling
    dut.cpu__answers.value, dut.reset.value = 0, 1
    await falling
    assert Status.DISCARDED not in [status for _, status, _ in (await answers())[1:]]


@pytest.mark.parametrize("number", [1, 2])
def test_block_store(number: int) -> None:
    run_bench(BlockStore(), __file__, seed=number)
