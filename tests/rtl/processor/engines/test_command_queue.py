"""The queue of commands: order, space, ends, clear."""

import random
from collections import deque
from typing import Any

import cocotb
import pytest
from cocotb.triggers import RisingEdge
from nicbed.layouts.processor import ENGINE_QUEUE
from nicbed.rtl.processor.engines.command_queue import CommandQueue
from nicbed.rtl.processor.types import EngineCommand

from tests.labs.bench import pack, parameters, reset_and_clock, run_bench, seed, unpack


@cocotb.test()
async def keeps_order(dut: Any) -> None:
    """Random commands, ends and clears, against a model, cycle by cycle."""
    rng = random.Random(seed())
    clears = parameters()["clears"]
    await reset_and_clock(dut)
    edge = RisingEdge(dut.clk)
    queued: deque[dict[str, int]] = deque()
    running: deque[bool] = deque()
    done = seen = 0
    fullest = 0
    for cycle in range(6000):
        clear = int(rng.random() < clears)
        busy = cycle // 500 % 2
        command = {"host": rng.getrandbits(32), "local": rng.getrandbits(20),
                   "length": rng.getrandbits(16), "trace": rng.getrandbits(24),
                   "flags": rng.getrandbits(2)}
        offers, takes = rng.random() < 0.6, rng.random() < (0.2 if busy else 0.8)
        begins = bool(takes and queued and not clear)
        # A command may end in the cycle in which it begins.
        ends = bool((running or begins) and rng.random() < (0.3 if busy else 0.9))
        dut.port__command__valid.value = int(offers)
        dut.port__command__payload.value = pack(EngineCommand, command)
        dut.o__ready.value = int(takes)
        dut.finish.value, dut.clear.value, dut.idle.value = int(ends), clear, cycle & 1
        await edge
        space = ENGINE_QUEUE - len(queued) - len(running)
        fullest = max(fullest, ENGINE_QUEUE - space)
        assert dut.port__space.value == space
        assert dut.port__command__ready.value == int(space > 0 and not clear)
        assert dut.port__done.value == done
        assert dut.begun.value == int(bool(running))
        assert dut.port__idle.value == (cycle & 1 and not (clear and (queued or done)))
        assert dut.o__valid.value == int(bool(queued) and not clear)
        if queued and not clear:
            assert unpack(EngineCommand, int(dut.o__payload.value)) == queued[0]
        if begins:
            queued.popleft()
            running.append(True)
        counted = bool(ends and running.popleft() and not clear)
        assert dut.port__ended.value == int(counted)
        done += counted
        seen += counted
        if offers and space and not clear:
            queued.append(command)
        if clear:
            queued.clear()
            running = deque([False] * len(running))
            done = 0
    assert seen > 500 and fullest == ENGINE_QUEUE


@pytest.mark.parametrize("clears", [0.0, 0.03])
def test_keeps_order(clears: float) -> None:
    run_bench(CommandQueue(), __file__, testcase="keeps_order", clears=clears, seed=7)
