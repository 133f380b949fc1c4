"""Blocks that a program queues reach the target as those for which it waits, at the same cycles."""

from fractions import Fraction
from types import SimpleNamespace
from typing import Any, cast

import pytest
from nicbed.host.kernel.process import Process
from nicbed.host.mpi.data.copies import BEGIN, COPY, copy
from nicbed.host.port.node import Node
from nicbed.host.port.port import Port, Watch
from nicbed.host.port.words import MAX_WORK
from nicbed.host.runtime import Stuck
from nicbed.host.via.agent.memory_queues import MemoryQueues
from nicbed.host.via.handles import Cq, WorkQueue
from nicbed.layouts.description import Description
from nicbed.layouts.operations import BLOCK
from nicbed.layouts.via import DONE_WORD

from tests.models.spent import cpu_cycles
from tests.models.written import Written

SLOW = Description.model_validate({"cpu": {"clock_mhz": 133}})
"""A CPU cycle is no whole number of ticks."""


def ran(program: Any, tracing: bool = True, description: Description = SLOW,
        limit: int = 1_000_000) -> tuple[tuple[Any, ...], int]:
    """All that is to be the same; and the wake-ups."""
    model = Written(description)
    run = model.run([program, None], limit=limit, tracing=tracing)
    return (model.given, model.now, run.marks,
            [(port.tally(), cpu_cycles(port)) for port in run.ports], run.results), run.wakes


async def waiting(port: Port, address: int) -> None:
    await port.touch(address, 8)


async def queueing(port: Port, address: int) -> None:
    port.put_touch(address, 8)


async def touches(port: Port, touch: Any, count: int) -> None:
    """``count`` touches, with marks and work in between."""
    await touch(port, 64)
    for number in range(count):
        port.mark(1, number % 2, number)
        port.work("alu", number % 7)
        await touch(port, 64 * number + 64)
    port.mark(2, 0, 0)


@pytest.mark.parametrize("tracing", [True, False])
@pytest.mark.parametrize("count", [0, 5, 6, 7, 12, 13, 40])
@pytest.mark.parametrize("wait", ["settle", "room", "poll", "flush", "end"])
def test_the_target_does_not_see_the_difference(wait, count, tracing):
    def program(touch: Any) -> Any:
        async def main(node: Node) -> list[int]:
            port, seen = node.port, []
            await touches(port, touch, count)
            if wait == "settle":
                await port.settle()
                seen += port.cycle, port._block.count, port.ticks
            elif wait == "room":
                await port.room(4)
                seen += port.cycle, port._block.count
            elif wait == "poll":
                await port.poll(Watch(64, 0), 100)
                seen += port.cycle, port.data
            elif wait == "flush":
                seen.append(await port.now())
            if wait != "end":
                await touches(port, touch, count)
                node.memory.write(64, bytes([count]))
                seen += (await port.poll(Watch(64, count))).data, port.cycle, port.ticks
                await touches(port, touch, count)
            return seen
        return main

    found, wakes = ran(program(queueing), tracing)
    wanted, more = ran(program(waiting), tracing)
    assert found == wanted
    assert wakes <= more
    if wait != "end":
        assert wakes <= more - max(0, count // BLOCK - 1)


@pytest.mark.parametrize("pieces", range(2, 24, 3))
@pytest.mark.parametrize("wait", ["settle", "flush", "store", "end"])
def test_an_error_in_a_later_piece_of_a_copy_loses_nothing(wait, pieces):
    """What was queued before it is executed when the program that caught it waits next, for
    whatever it is, and takes as long. Until then the port's cycle is that of the last block."""
    def program(waits: bool) -> Any:
        async def main(node: Node) -> list[int]:
            process, port = Process(node), node.port
            at = process.allocate(64 * pieces)
            outside = at + (1 << 30)
            source = [(at + 64 * one, 24) for one in range(pieces - 1)]
            port.put_touch(64, 8)
            if waits:
                port.mark(COPY, BEGIN, 0)
                port.work("copy_word", 3 * pieces)
                for va, length in source:
                    await process.touch(va, length)
            else:
                with pytest.raises(ValueError, match=f"has no memory at {outside:#x}"):
                    copy(process, [*source, (outside, 24)], [(at, 24 * pieces)])
                assert port.cycle == 0
            if wait == "settle":
                await port.settle()
            elif wait == "store":
                await process.store(at, bytes(8))
            elif wait == "flush":
                await port.flush()
            seen = 0
            if wait != "end":
                seen = port.cycle
                copy(process, source, [(at + 64 * (pieces - 1), 24)])
                await port.settle()
            return [seen, await port.now()]
        return main

    assert ran(program(False))[0] == ran(program(True))[0]


def test_each_cpu_has_its_own_queue():
    def programs(touch: Any) -> list[Any]:
        def program(count: int) -> Any:
            async def main(node: Node) -> tuple[int, int]:
                await touches(node.port, touch, count)
                await node.port.settle()
                cycle = node.port.cycle
                await touches(node.port, touch, 30 - count)
                return cycle, await node.port.now()
            return main
        return [program(20), program(9)]

    two = Description.model_validate({"cpu": {"clock_mhz": 133}, "node": {"cpus": 2}})
    found, _ = ran(programs(queueing), description=two)
    assert found == ran(programs(waiting), description=two)[0]
    assert {port for _, port, _ in found[0]} >= {0, 1}


@pytest.mark.parametrize("limit", range(1, 80, 6))
def test_at_the_limit_the_diagnosis_tells_of_the_block_given(limit):
    def stopped(touch: Any) -> tuple[Any, ...]:
        async def main(node: Node) -> None:
            await touches(node.port, touch, 40)
            await node.port.poll(Watch(64, 1))

        model = Written(SLOW)
        with pytest.raises(Stuck) as info:
            model.run([main, None], limit=limit)
        return str(info.value), model.given

    assert stopped(queueing) == stopped(waiting)


@pytest.mark.parametrize("cycles", [0, 50])
@pytest.mark.parametrize("kind", ["check", "cq_check"])
@pytest.mark.parametrize("count", range(BLOCK + 1))
def test_a_check_behind_a_full_block_is_queued(count, kind, cycles):
    at, full = 128, count == BLOCK
    status = cast(WorkQueue, SimpleNamespace(entries=[SimpleNamespace(status=at)]))
    place = cast(Cq, SimpleNamespace(backlog=[], ring=SimpleNamespace(next=lambda: (at, 1))))

    def program(waits: bool) -> Any:
        async def main(node: Node) -> list[int]:
            port = node.port
            queues = MemoryQueues(node, lambda cq: None)
            node.memory.write(at, ((DONE_WORD | 7 << 32) + 1).to_bytes(8, "little"))
            for _ in range(count):
                port.put_touch(64, 8)
            if full and waits:
                await port.executed
            await (queues.check(status, cycles) if kind == "check" else
                   queues.cq_check(place, cycles))
            return [port.data, port.cycle, port.ticks]
        return main

    found, wakes = ran(program(False))
    wanted, more = ran(program(True))
    assert found == wanted
    assert wakes == more - full
    assert len(found[0]) == 2 + full + 1  # the stops of both nodes


@pytest.mark.parametrize("delays", [1, 2, BLOCK - 1])
@pytest.mark.parametrize("count", range(BLOCK + 1))
def test_a_touch_behind_delays_begins_a_block(count, delays):
    """34 million cycles of the CPU are more than one delay. They are queued, and wake nobody."""
    full = count == BLOCK

    def program(waits: bool) -> Any:
        async def main(node: Node) -> int:
            port = node.port
            for _ in range(count):
                port.put_touch(64, 8)
            if full and waits:
                await port.executed
            port.compute_cycles(Fraction(34_000_000 * delays))
            port.put_touch(64, 8)
            assert port._block.count == 1
            return await port.now()
        return main

    (_, *found), wakes = ran(program(False), limit=1 << 28)
    (_, *wanted), more = ran(program(True), limit=1 << 28)
    assert found == wanted
    assert wakes == more - full


def two_touches(port: Port, first: int, second: int, length: int, other: int) -> None:
    port.put_touch(first, length, True)
    port.put_touch(second, other, True)


def loads_and_stores(port: Port, first: int, second: int, length: int, other: int) -> None:
    port.put_touch(first, length)
    port.put_touch(second, length, True)


@pytest.mark.parametrize("alone, together", [
    (two_touches, lambda port, first, second, length, other:
     port.put_two_touches(first, length, True, second, other)),
    (loads_and_stores, lambda port, first, second, length, other:
     port.put_two_touches(first, length, False, second, length))])
@pytest.mark.parametrize("full", range(BLOCK + 1))
@pytest.mark.parametrize("work", [0, 1, 5, (MAX_WORK >> 8) + 9])
def test_two_entries_at_once_are_two(alone: Any, together: Any, full: int, work: int) -> None:
    """However full the block is, and however much work waits."""
    def program(put: Any) -> Any:
        async def runs(node: Node) -> tuple[int, int]:
            port = node.port
            for number in range(full):
                port.put_touch(8 * number, 8)
            port.work("alu", 1)
            await port.delay(work)
            put(port, 128, 1024, 24, 40)
            state = port.parts, port.rounded
            await port.settle()
            return state
        return runs

    assert ran(program(together), limit=1 << 30) == ran(program(alone), limit=1 << 30)
