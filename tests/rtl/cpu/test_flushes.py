"""The cache on a bus that is not coherent: flushes, stale lines and what is told of them, against a
model, with DMA at any moment."""

import random
from typing import Any

import cocotb
import pytest
from cocotb.triggers import FallingEdge, ReadOnly
from nicbed.layouts.operations import Forgotten
from nicbed.rtl.bus.burst import BurstRequest
from nicbed.rtl.bus.memory import Snoop
from nicbed.rtl.cpu.cache.fault import Fault

from tests.labs.bench import pack, parameters, reset_and_clock, run_bench, seed, unpack
from tests.labs.rows import more
from tests.rtl.cpu.test_tag_cache import OWN, cache

LOAD, STORE, FETCH, FLUSH = "load", "store", "fetch", "flush"


class Bench:
    """Plays the CPU, the memory and DMA; keeps the model's lines: by slot [line, dirty, stale]."""

    def __init__(self, dut: Any, lines: int, stall: float, snoops: float) -> None:
        self.dut, self.lines, self.stall, self.snoops = dut, lines, stall, snoops
        self.rng = random.Random(seed())
        self.slots: dict[int, list[Any]] = {}
        self.faults = dict.fromkeys(Forgotten, 0)

    def held(self, address: int) -> list[Any] | None:
        found = self.slots.get((address >> 5) % self.lines)
        return found if found is not None and found[0] == address >> 5 else None

    def _expected(self, snoop: dict[str, int] | None, address: int, kind: str
                  ) -> tuple[Forgotten, int] | None:
        """What is to be told in this cycle, before anything changes."""
        if snoop and snoop["source"] != OWN:
            seen = self.held(snoop["address"])
            if seen is not None and seen[1]:
                return (Forgotten.LOST_WRITE if snoop["write"] else Forgotten.OLD_READ,
                        snoop["address"])
        own = self.held(address)
        if own is not None and own[2] and kind in (LOAD, STORE):
            return Forgotten.OLD_LOAD, address
        return None

    def _apply(self, snoop: dict[str, int] | None) -> None:
        if snoop and snoop["source"] != OWN and snoop["write"]:
            seen = self.held(snoop["address"])
            if seen is not None:
                seen[2] = True

    def _wanted(self, address: int, kind: str) -> list[tuple[int, int]]:
        """The bursts of an access: whether a write, and the line."""
        own, slot = self.held(address), self.slots.get((address >> 5) % self.lines)
        read, line = (0, address >> 5), address >> 5
        if kind == FLUSH:
            return [(1, line)] if own is not None and own[1] else []
        if own is not None:
            return [] if kind != FETCH else [(1, line), read] if own[1] else [read]
        return [(1, slot[0]), read] if slot is not None and slot[1] else [read]

    async def access(self, address: int, kind: str) -> int:
        """Do it; return its cycles."""
        dut, rng = self.dut, self.rng
        falling = FallingEdge(dut.clk)
        wanted = self._wanted(address, kind)
        reads = (0, address >> 5) in wanted
        dut.valid.value, dut.address.value = 1, address
        dut.store.value, dut.fetch.value = int(kind == STORE), int(kind == FETCH)
        dut.flush.value = int(kind == FLUSH)
        burst: dict[str, int] | None = None
        left, struck = 0, False
        for cycle in range(1, 2000):
            snoop = {"valid": 1, "write": rng.randrange(2), "source": rng.randrange(3),
                     "address": 8 * rng.randrange(16 * self.lines)} \
                if rng.random() < self.snoops else None
            dut.snoop.value = pack(Snoop, snoop) if snoop else 0
            go = rng.random() >= self.stall
            writes = burst is not None and bool(burst["write"])
            dut.memory__request__ready.value = int(go and burst is None)
            dut.memory__write__ready.value = int(go and writes)
            dut.memory__read__valid.value = int(go and burst is not None and not writes)
            await ReadOnly()
            assert int(dut.hit.value) == int(self.held(address) is not None)
            told = unpack(Fault, int(dut.fault.value))
            expected = self._expected(snoop, address, kind)
            assert bool(told["valid"]) == (expected is not None), f"cycle {cycle}"
            if expected is not None:
                assert (told["what"], told["address"]) == expected
                self.faults[expected[0]] += 1
            done = int(dut.done.value)
            # A word that is written before its beat is read is read.
            struck |= bool(burst is not None and not writes and snoop and snoop["write"]
                           and snoop["source"] != OWN and snoop["address"] >> 5 == address >> 5
                           and (snoop["address"] >> 3 & 3) < burst["beats"] - left)
            if go and burst is not None and int((dut.memory__write__valid if writes
                                                 else dut.memory__read__ready).value):
                left -= 1
                if not left and writes:
                    burst = None
            elif go and burst is None and int(dut.memory__request__valid.value):
                burst = unpack(BurstRequest, int(dut.memory__request__payload.value))
                assert wanted and (burst["write"], burst["address"] >> 5) == wanted.pop(0)
                left, struck = burst["beats"], False
            self._apply(snoop)
            if done:
                assert not wanted and not left
                self._finish(address, kind, reads, struck)
                await falling
                dut.valid.value = 0
                return cycle
            await falling
        raise AssertionError("no end after 2000 cycles")

    def _finish(self, address: int, kind: str, reads: bool, struck: bool) -> None:
        slot, own = (address >> 5) % self.lines, self.held(address)
        if kind == FLUSH:
            if own is not None:
                del self.slots[slot]
        elif reads:
            if not struck:
                self.slots[slot] = [address >> 5, kind == STORE, False]
        elif kind == STORE and own is not None and not own[1]:
            own[1:] = [True, False]


@cocotb.test()
async def agrees_with_the_model(dut: Any) -> None:
    await reset_and_clock(dut)
    await FallingEdge(dut.clk)
    p = parameters()
    bench = Bench(dut, p["lines"], p["stall"], p["snoops"])
    rng = random.Random(seed() + 1)
    for _ in range(2000):
        address = rng.randrange(4 * p["lines"] * 32)
        await bench.access(address, rng.choice([LOAD, STORE, FETCH, FLUSH]))
    assert all(bench.faults.values()) == bool(p["snoops"])


@cocotb.test()
async def takes_the_promised_cycles(dut: Any) -> None:
    """The bench's memory has its first word in the cycle after the request, so a miss takes 5."""
    await reset_and_clock(dut)
    await FallingEdge(dut.clk)
    bench = Bench(dut, 8, 0.0, 0.0)
    for kind, expected in ((FLUSH, 1), (LOAD, 5), (LOAD, 1), (FETCH, 5), (FLUSH, 1), (LOAD, 5),
                           (STORE, 1), (FLUSH, 6), (STORE, 5), (FETCH, 10), (FLUSH, 1)):
        assert await bench.access(0x40, kind) == expected, kind


@pytest.mark.parametrize("lines, stall, snoops", [
    (2, 0.3, 0.9), more(8, 0.0, 0.0), more(4, 0.3, 0.4), more(16, 0.0, 0.3)])
def test_model(lines: int, stall: float, snoops: float) -> None:
    run_bench(cache(lines=lines, flushes=True), __file__,
              testcase="agrees_with_the_model", lines=lines, stall=stall, snoops=snoops)


def test_cycles() -> None:
    run_bench(cache(lines=8, flushes=True), __file__, testcase="takes_the_promised_cycles")


@pytest.mark.parametrize("make, text", [
    (lambda: cache(lines=8, flushes=True, coherent=True),
     "bus.coherent = false needs nic.attachment = 'io_bus' or 'local_bus', not 'memory_bus'"),
    (lambda: cache(lines=8, flushes=True, block_stores=True),
     "bus.coherent = false needs cpu.copy_by = 'cache', not 'block'"),
])
def test_errors(make: Any, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        make()
