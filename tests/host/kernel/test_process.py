"""A process's memory: bytes over pages that lie anywhere in the node's."""

import random
from collections.abc import Iterator
from typing import Any

import pytest
from nicbed.host.kernel.process import Process
from nicbed.host.via import descriptors
from nicbed.host.via.descriptors import Segment
from nicbed.layouts.description import Description
from nicbed.layouts.trace import TICKS
from nicbed.testbench.run.recording import Recording

from tests.models.target import Model
from tests.programs.mpi import describe

PAGE = 4096


@pytest.fixture
def process() -> Iterator[Process]:
    model = Model(describe("via", memory__bytes=1 << 20))
    made = []

    async def program(node: Any) -> None:
        made.append(Process(node))

    model.run([program, None], limit=1000)
    yield made[0]


def test_a_failed_allocation_takes_no_memory(process: Process) -> None:
    before = process.allocate(10)
    for _ in range(2):
        with pytest.raises(MemoryError, match="host memory is full"):
            process.allocate(1 << 20, fresh=True)
    after = process.allocate(700 << 10, fresh=True)
    assert after == before - before % PAGE + PAGE
    assert process.read(after, 700 << 10) == bytes(700 << 10)


def test_bytes_come_back_wherever_they_begin_and_end(process: Process) -> None:
    plan = random.Random(3)
    base = process.allocate(12 * PAGE, 64)
    image = bytearray(12 * PAGE)
    ends = [0, 1, PAGE - 1, PAGE, PAGE + 1, 3 * PAGE, 5 * PAGE + 17, 12 * PAGE]
    spans = [(first, last) for first in ends for last in ends if first < last]
    for first, last in spans + [tuple(sorted(plan.sample(range(12 * PAGE), 2)))
                                for _ in range(50)]:
        data = plan.randbytes(last - first)
        image[first:last] = data
        process.write(base + first, data)
        assert process.read(base, len(image)) == image
        into = memoryview(bytearray(last - first))
        process.read_into(base + first, into)
        assert into == data == process.view(base + first, last - first)


def test_memory_that_it_does_not_have_is_said(process: Process) -> None:
    base = process.allocate(2 * PAGE, PAGE)
    beyond = base + 2 * PAGE
    for call in (lambda: process.write(base + 8, bytes(4 * PAGE)),
                 lambda: process.read_into(base + 8, memoryview(bytearray(4 * PAGE))),
                 lambda: process.view(beyond, 8), lambda: process.write(beyond, b"1")):
        with pytest.raises(ValueError, match=f"no memory at {beyond:#x}"):
            call()


@pytest.mark.parametrize("before", [5, 6, 7])
@pytest.mark.parametrize("call", ["touch", "queue_touch", "send", "build"])
def test_a_descriptor_outside_leaves_the_block_as_it_was(call: str, before: int) -> None:
    """The error comes before a full block is queued, and the program may go on after it."""
    def program(ends: bool) -> Any:
        async def main(node: Any) -> Any:
            process = Process(node)
            va, outside, segments = process.allocate(PAGE), 1 << 50, [Segment(0, 1, 8)]
            for _ in range(before):
                await process.touch(va, 8)
            with pytest.raises(ValueError, match=f"no memory at {outside:#x}"):
                if call == "touch":
                    await process.touch(outside, 8)
                elif call == "queue_touch":
                    process.queue_touch(outside, 8)
                elif call == "send":
                    await descriptors.send(process, outside, segments)
                else:
                    await descriptors.build(process, outside, segments)
            assert not node.port.queued
            mark = node.port.mark(1, 0, 0)
            if not ends:
                await node.port.flush()
            return mark
        return main

    mark, cycles = [], []
    for ends in (True, False):
        model = Model(Description())
        mark += model.run([program(ends), None], limit=1000).results[0][:1]
        cycles.append(model.now)
    assert cycles[0] == 2 * before
    assert mark[0] == mark[1] > 2 * (before - 1) * TICKS


def test_a_recording_has_the_pages_that_are_written(process: Process) -> None:
    recording = Recording(_Mailbox(), [process.memory])
    process.memory, memory = recording.memories[0], process.memory
    base = process.allocate(3 * PAGE, PAGE)
    before = len(recording._notes)
    process.write(base + 16, bytes(range(256)) * 40)
    assert len(recording._notes) - before == 10240 + 3 * 16
    assert memory.read(process.physical(base + 16), 256) == bytes(range(256))


class _Mailbox:
    """Has what a recording looks for."""

    ports = 1
    cycle = look = crash = answers = block = give = None


def test_one_piece_in_one_page_is_near(process: Process) -> None:
    base = process.allocate(2 * PAGE, PAGE)
    physical = process.physical(base + 16)
    assert process.near_piece([(base + 16, 40)], 40) == physical
    assert process.near_piece([(base + 16, 40)], 24) == physical
    assert process.near_piece([(base + PAGE - 8, 8)], 8) == process.physical(base + PAGE - 8)
    for pieces, length in (([], 8), ([(base, 8)], 0), ([(base, 8)], 9), ([(base, 8), (base, 8)], 8),
                           ([(base + PAGE - 8, 16)], 9), ([(base + 2 * PAGE, 8)], 8)):
        assert process.near_piece(pieces, length) == 0
