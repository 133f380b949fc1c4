"""Nobody uses what a BlockRam reads of a word that is being written: tests with memories that give
it inverted."""

import random
from collections import deque
from typing import Any

import pytest
import test_via_random
from am_scenarios import describe
from amaranth.hdl import Module
from amaranth.sim import Simulator
from nicbed.rtl.block_ram import BlockRam
from nicbed.rtl.queue import Queue
from nicbed.testbench.session import run_job
from rows import more
from unkind_memory import unkindly
from vipl_programs import SMALL

TARGET = "unkind_memory:UnkindTarget"
FAULTS = {"faults.drop": 0.02, "faults.corrupt": 0.02, "faults.duplicate": 0.05,
          "faults.delay": 0.05, "am.retry_timeout": 3000}


def test_ports_that_there_are_not():
    ram = BlockRam(shape=8, depth=4)
    ram.write_port()
    for wrong in (ram.write_port, lambda: ram.read_port(domain="comb"),
                  lambda: ram.read_port(transparent_for=ram.write_ports)):
        with pytest.raises(ValueError, match="a BlockRam has"):
            wrong()


@pytest.mark.parametrize("kind", [True, False])
def test_what_is_read_where_a_write_is(kind: bool) -> None:
    ram = BlockRam(shape=8, depth=4)
    write, read = ram.write_port(), ram.read_port()

    async def play(ctx: Any) -> None:
        for cycle, (value, wanted) in enumerate([(3, None), (5, 3), (9, 5)]):
            ctx.set(write.en, 1)
            ctx.set(write.data, value)
            await ctx.tick()
            if cycle:
                assert ctx.get(read.data) == (wanted if kind else wanted ^ 0xFF)
        ctx.set(write.addr, 1)
        await ctx.tick()
        assert ctx.get(read.data) == 9

    simulator = Simulator(ram if kind else unkindly(ram))
    simulator.add_clock(1e-6)
    simulator.add_testbench(play)
    simulator.run()


def am(target: str, changes: dict[str, Any]) -> Any:
    return run_job(describe(FAULTS | changes), function="target_jobs:exchanges", target=target,
                   arguments={"requests": 60, "words": 4, "step": 0, "trace": True})


@pytest.mark.parametrize("changes", [
    {}, more({"nic.send_fifo": 128, "nic.mtu": 64, "nic.receive_fifo": 128, "link.buffer": 64}),
    more({"nic.processor": "picorv32", "nic.send_ring": 0})], ids=str)
def test_active_messages_are_the_same(changes: dict[str, Any]) -> None:
    """Every event of a run with faults."""
    assert am(TARGET, changes) == am("nicbed.rtl.target:Target", changes)


@pytest.mark.parametrize("programs", [60, more(2000)])
def test_random_via_programs(programs: int) -> None:
    """Against their model, on a NIC without a send ring."""
    assert not run_job(describe(SMALL, {"via.design": "engine", "nic.send_ring": 0}),
                       function=f"{test_via_random.__file__}:run_programs", target=TARGET,
                       arguments={"seeds": list(range(7000, 7000 + programs))})[0]


class EarlyQueue(Queue):
    """Reads an item in the cycle in which it is written."""

    def elaborate(self, platform: object) -> Module:
        m = super().elaborate(platform)
        with m.If(self.i.valid & self.i.ready & (self.level == 0)):
            m.d.sync += self.o.valid.eq(1)
        return m


def play_queue(queue: Queue, seed: int) -> list[tuple[int, int]]:
    """What a queue with unkind memory gave, with what it was to give; both sides stall."""
    draw = random.Random(seed)
    inside: deque[int] = deque()
    found = []

    async def play(ctx: Any) -> None:
        offered = False
        for _ in range(400):
            offered = offered or draw.random() < 0.6
            ctx.set(queue.i.valid, offered)
            ctx.set(queue.i.payload, payload := draw.randrange(256))
            ctx.set(queue.o.ready, draw.random() < 0.6)
            given = ctx.get(queue.o.valid & queue.o.ready)
            if given:
                found.append((ctx.get(queue.o.payload), inside.popleft() if inside else -1))
            if ctx.get(queue.i.valid & queue.i.ready):
                inside.append(payload)
                offered = False
            await ctx.tick()

    simulator = Simulator(unkindly(queue))
    simulator.add_clock(1e-6)
    simulator.add_testbench(play)
    simulator.run()
    return found


@pytest.mark.parametrize("depth", [2, 4, 16])
def test_a_queue(depth: int) -> None:
    found = [pair for seed in range(5) for pair in play_queue(Queue(shape=8, depth=depth), seed)]
    assert len(found) > 200
    assert all(given == wanted for given, wanted in found)


def test_a_queue_that_reads_early() -> None:
    found = play_queue(EarlyQueue(shape=8, depth=4), 0)
    assert any(given != wanted for given, wanted in found)
