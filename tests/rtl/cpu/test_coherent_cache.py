"""The tag cache of a coherent bus, against a model: upgrades, reads for ownership, who is told."""

import random
from typing import Any

import cocotb
import pytest
from cocotb.triggers import FallingEdge, ReadOnly
from nicbed.rtl.bus.burst import BurstRequest, BurstWord
from nicbed.rtl.bus.memory import Snoop

from tests.labs.bench import pack, parameters, reset_and_clock, run_bench, seed, unpack
from tests.labs.rows import more
from tests.rtl.cpu.test_tag_cache import OWN, Cache, cache


class CoherentCache(Cache):
    """The same, for ``coherent``; counts what the accesses were."""

    def __init__(self, dut: Any, lines: int, stall: float) -> None:
        super().__init__(dut, lines, stall)
        self.counts = {"hit": 0, "upgrade": 0, "lost": 0, "miss": 0, "late": 0, "waited": 0}
        self.stored: int | None = None

    def told(self, done: bool, line: int) -> None:
        """Hold ``owns`` of this cycle against the model; ``done``: of an access that took a line.
        To be called before the cycle's snoop is applied."""
        snoop = self.now
        late = (self.stored is not None and self.tags.get(self.stored % self.lines)
                == (self.stored, True) and snoop is not None and snoop["source"] != OWN
                and snoop["address"] >> 5 == self.stored)
        self.counts["late"] += late
        assert int(self.dut.taken__valid.value) == int(late or done)
        if late or done:
            assert int(self.dut.taken__address.value) == 32 * (self.stored if late else line)
        assert not (late and done)

    async def access(self, address: int, store: bool, fetch: bool) -> tuple[int, int | None, bool]:
        dut, rng, tags = self.dut, self.rng, self.tags
        falling = FallingEdge(dut.clk)
        line, slot = address >> 5, (address >> 5) % self.lines
        dut.valid.value, dut.address.value = 1, address
        dut.store.value, dut.fetch.value = int(store), int(fetch)
        phase, wanted, left, taken = "look", [], 0, 0
        burst: dict[str, int] | None = None
        struck = fills = False
        words = [rng.getrandbits(64) for _ in range(4)]
        for cycle in range(1, 2000):
            self.now = snoop = self.snoop()
            dut.snoop.value = pack(Snoop, snoop) if snoop else 0
            go = rng.random() >= self.stall
            dut.memory__request__ready.value = int(go and burst is None)
            dut.memory__write__ready.value = int(go and bool(left) and burst["write"])
            dut.memory__read__valid.value = int(go and bool(left) and not burst["write"])
            dut.memory__read__payload.value = words[taken] if taken < 4 else 0
            await ReadOnly()
            held = tags.get(slot)
            mine = held is not None and held[0] == line
            others = snoop is not None and snoop["source"] != OWN and snoop["address"] >> 5 == line
            strikes = others and bool(snoop["write"])
            if phase == "look":
                if mine and not fetch and not (store and not held[1]):
                    wanted = []
                elif mine and not fetch:
                    phase, wanted = "up", [(1, line << 5, 1)]
                else:
                    phase, fills = "miss", not mine
                    wanted = [(0, line << 5, 4)]
                    if held is not None and not mine and held[1]:
                        wanted.insert(0, (1, held[0] << 5, 4))
            done = bool(dut.done.value)
            moved = bool(go and left and (
                burst["write"] and int(dut.memory__write__valid.value)
                or not burst["write"] and int(dut.memory__read__ready.value)))
            if moved and burst["write"]:
                assert unpack(BurstWord, int(dut.memory__write__payload.value))["strobe"] == 0
            requested = go and burst is None and int(dut.memory__request__valid.value)
            if burst is not None and not burst["write"] and strikes:
                struck = True
            self.told(done and store and phase != "look", line)
            before = dict(tags)
            changed = bool(snoop) and self.apply(snoop)
            if moved:
                left -= 1
                taken += not burst["write"]
                if not left and burst["write"]:
                    burst = None
            if phase == "look":
                # A dirty line that somebody reads right now is no longer there for the taking.
                waits = mine and store and others and changed
                self.counts["waited"] += waits
                assert done == (mine and not fetch and not waits)
                self.counts["hit"] += done
            elif phase == "up" and not wanted and burst is None and not left and not requested:
                if not mine or strikes:
                    phase, fills, wanted = "miss", True, [(0, line << 5, 4)]
                    self.counts["lost"] += 1
                    assert not done
                else:
                    assert done == (not changed), f"upgrade, cycle {cycle}"
                    if done:
                        tags[slot] = (line, True)
                        self.counts["upgrade"] += 1
            elif phase == "miss" and done:
                assert not wanted and not left
                stale = bool(dut.stale.value)
                assert int(dut.word.value) == words[address >> 3 & 3] and stale == struck
                if fills and not struck:
                    assert tags == before
                    tags[slot] = (line, store)
                self.counts["miss"] += 1
            else:
                assert not done
            if requested:
                burst = unpack(BurstRequest, int(dut.memory__request__payload.value))
                kind = (burst["write"], burst["address"], burst["beats"])
                if kind != wanted[0]:  # the victim was read by another: clean
                    wanted.pop(0)
                assert kind == wanted.pop(0)
                left, taken, struck = burst["beats"], 0, False
            self.stored = line if done and store else None
            await falling
            if done:
                dut.valid.value = 0
                return cycle, None, False
        raise AssertionError("no end after 2000 cycles")


@cocotb.test()
async def takes_the_promised_cycles(dut: Any) -> None:
    await reset_and_clock(dut)
    await FallingEdge(dut.clk)
    cache = CoherentCache(dut, 8, 0.0)
    for address, store, fetch, expected in (
            (0x40, 0, 0, 5), (0x44, 0, 0, 1), (0x40, 1, 0, 2), (0x40, 1, 0, 1), (0x40, 0, 1, 5),
            (0x140, 0, 0, 10), (0x40, 1, 0, 5), (0x48, 1, 0, 1)):
        assert (await cache.access(address, bool(store), bool(fetch)))[0] == expected
    assert cache.counts["upgrade"] == 1


@cocotb.test()
async def agrees_with_the_model(dut: Any) -> None:
    await reset_and_clock(dut)
    await FallingEdge(dut.clk)
    values = parameters()
    lines = values["lines"]
    cache = CoherentCache(dut, lines, values["stall"])
    cache.snoops = values["snoops"]
    rng = random.Random(seed() + 1)
    for _ in range(values["accesses"]):
        # Few addresses, so that snoops find what they look for.
        address = rng.randrange(2 * lines * 32)
        store = rng.random() < 0.7
        await cache.access(address, store, not store and rng.random() < 0.3)
    counts = cache.counts
    cocotb.log.info("%s", counts)
    assert counts["hit"] and counts["miss"] and counts["upgrade"]
    if values["snoops"]:
        assert counts["lost"] and counts["late"] and counts["waited"], counts


@pytest.mark.parametrize("lines, stall, snoops", [
    (2, 0.5, 0.8), (8, 0.3, 0.9), more(4, 0.0, 0.0), more(2, 0.0, 0.5)])
def test_model(lines: int, stall: float, snoops: float) -> None:
    run_bench(cache(lines=lines, coherent=True), __file__, testcase="agrees_with_the_model",
              lines=lines, stall=stall, snoops=snoops, accesses=1500)


@pytest.mark.promise("store", "a line that other CPUs share, memory.upgrade = 2", "2")
def test_cycles() -> None:
    run_bench(cache(lines=8, coherent=True), __file__, testcase="takes_the_promised_cycles")
