"""The tag cache and the kept words, against models, under snoops at any moment."""

import random
from typing import Any

import cocotb
import pytest
from cocotb.triggers import FallingEdge, ReadOnly, RisingEdge
from nicbed.rtl.bus.burst import BurstRequest, BurstWord
from nicbed.rtl.bus.memory import Snoop
from nicbed.rtl.cpu.cache_shape import CacheShape
from nicbed.rtl.cpu.kept_words import KeptWords
from nicbed.rtl.cpu.tag_cache import TagCache

from tests.labs.bench import pack, parameters, reset_and_clock, run_bench, seed, unpack
from tests.labs.rows import more

OWN = 1


def cache(**shape: Any) -> TagCache:
    """A cache that is number OWN among the initiators."""
    return TagCache(shape=CacheShape(**shape), source=OWN)


class Cache:
    """Plays the CPU, the memory and the snoops; keeps the model's tags. A line is so many
    ``beats``."""

    def __init__(self, dut: Any, lines: int, stall: float, beats: int = 4) -> None:
        self.dut = dut
        self.beats = beats
        self.lines = lines
        self.stall = stall
        self.rng = random.Random(seed())
        self.tags: dict[int, tuple[int, bool]] = {}
        self.snoops = 0.0
        self.bursts: list[tuple[int, int]] = []
        self.waited = 0

    def holds(self, address: int) -> bool:
        held = self.tags.get((address >> 5) % self.lines)
        return held is not None and held[0] == address >> 5

    def snoop(self) -> dict[str, int] | None:
        """A snoop for this cycle, perhaps."""
        if self.rng.random() >= self.snoops:
            return None
        return {"valid": 1, "write": self.rng.randrange(2), "source": self.rng.randrange(3),
                "address": 8 * self.rng.randrange(4 * self.lines * 4)}

    def apply(self, snoop: dict[str, int]) -> bool:
        """The snoop's effect on the model's tags; whether it changed them."""
        slot = (snoop["address"] >> 5) % self.lines
        held = self.tags.get(slot)
        if snoop["source"] == OWN or held is None or held[0] != snoop["address"] >> 5:
            return False
        if snoop["write"]:
            del self.tags[slot]
            return True
        self.tags[slot] = (held[0], False)
        return held[1]

    async def access(self, address: int, store: bool, fetch: bool) -> tuple[int, int | None, bool]:
        """Cycles, the word read from memory if any, and whether it was stale."""
        dut, rng = self.dut, self.rng
        falling = FallingEdge(dut.clk)
        line = address >> 5
        slot = line % self.lines
        hit = self.holds(address)
        victim = self.tags.get(slot)
        dut.valid.value, dut.address.value = 1, address
        dut.store.value, dut.fetch.value = int(store), int(fetch)
        wanted = []
        if not hit or fetch:
            if victim is not None and not hit and victim[1]:
                wanted.append((1, victim[0] << 5))
            wanted.append((0, line << 5))
        burst: dict[str, int] | None = None
        left = 0
        words = [rng.getrandbits(64) for _ in range(4)]
        at = taken = 0
        struck = False
        for cycle in range(1, 2000):
            if hit and not fetch and not self.holds(address):
                # A snoop took the line in the cycle in which it was to become dirty.
                hit, wanted = False, [(0, line << 5)]
            snoop = self.snoop()
            dut.snoop.value = pack(Snoop, snoop) if snoop else 0
            go = rng.random() >= self.stall
            dut.memory__request__ready.value = int(go and burst is None)
            dut.memory__write__ready.value = int(go and bool(left) and burst["write"])
            dut.memory__read__valid.value = int(go and bool(left) and not burst["write"])
            dut.memory__read__payload.value = words[at + taken] if taken < self.beats else 0
            await ReadOnly()
            assert int(dut.hit.value) == int(self.holds(address)), f"hit in cycle {cycle}"
            done = int(dut.done.value)
            if burst is not None and not burst["write"] and snoop and snoop["write"] \
                    and snoop["source"] != OWN and snoop["address"] >> 5 == line:
                struck = True
            word, stale = int(dut.word.value), int(dut.stale.value)
            moved = go and left and (burst["write"] and int(dut.memory__write__valid.value)
                                     or not burst["write"] and int(dut.memory__read__ready.value))
            if moved and burst["write"]:
                assert unpack(BurstWord, int(dut.memory__write__payload.value))["strobe"] == 0
            requested = go and burst is None and int(dut.memory__request__valid.value)
            # What this cycle does, in the order of the hardware: snoop, then the access's own.
            changed = bool(snoop) and self.apply(snoop)
            if moved:
                left -= 1
                taken += not burst["write"]
                if not left and burst["write"]:
                    burst = None
            if requested:
                burst = unpack(BurstRequest, int(dut.memory__request__payload.value))
                assert burst["beats"] == self.beats
                at = burst["address"] >> 3 & 3
                assert not at or self.beats < 4 and not burst["write"]
                kind = (burst["write"], burst["address"] & ~31)
                # A snoop that read the victim may have made it clean before it was written back.
                if kind != wanted[0]:
                    wanted.pop(0)
                assert kind == wanted.pop(0)
                left = self.beats
                struck = False
            if done:
                assert not wanted and not left
                if not hit or fetch:
                    assert word == words[address >> 3 & 3] and stale == struck
                if hit and not fetch:
                    if store and self.tags.get(slot, (line, True))[1] is False:
                        self.tags[slot] = (line, True)
                elif not hit and not struck:
                    assert not changed
                    self.tags[slot] = (line, store)
                await falling
                dut.valid.value = 0
                return cycle, None if hit and not fetch else word, bool(stale)
            await falling
        raise AssertionError("no end after 2000 cycles")

    async def block_store(self, address: int) -> int:
        """Cycles of a block store, which takes the line out of the cache and reads nothing."""
        dut = self.dut
        falling = FallingEdge(dut.clk)
        dut.valid.value, dut.address.value = 1, address
        dut.store.value, dut.fetch.value, dut.block.value = 1, 0, 1
        for cycle in range(1, 2000):
            snoop = self.snoop()
            dut.snoop.value = pack(Snoop, snoop) if snoop else 0
            await ReadOnly()
            held = self.holds(address)
            changed = bool(snoop) and self.apply(snoop)
            done = int(dut.done.value)
            self.waited += held and changed
            assert done == int(not (held and changed))
            assert not int(dut.memory__request__valid.value)
            if done and held:
                del self.tags[(address >> 5) % self.lines]
            await falling
            if done:
                dut.valid.value = dut.block.value = 0
                return cycle
        raise AssertionError("no end after 2000 cycles")


@cocotb.test()
async def takes_the_promised_cycles(dut: Any) -> None:
    await reset_and_clock(dut)
    await FallingEdge(dut.clk)
    cache = Cache(dut, 8, 0.0)
    # The bench's memory has its first word in the cycle after the request.
    for address, store, fetch, expected in (
            (0x40, 0, 0, 5), (0x44, 0, 0, 1), (0x40, 1, 0, 1), (0x40, 1, 0, 1), (0x40, 0, 1, 5),
            (0x140, 0, 0, 10), (0x40, 0, 0, 5), (0x60, 1, 0, 5), (0x160, 1, 0, 10)):
        assert (await cache.access(address, bool(store), bool(fetch)))[0] == expected


@cocotb.test()
async def agrees_with_the_model(dut: Any) -> None:
    await reset_and_clock(dut)
    await FallingEdge(dut.clk)
    lines = parameters()["lines"]
    beats = parameters()["beats"]
    cache = Cache(dut, lines, parameters()["stall"], beats)
    cache.snoops = parameters()["snoops"]
    rng = random.Random(seed() + 1)
    for _ in range(parameters()["accesses"]):
        address = rng.randrange(4 * lines * 32)
        hit = cache.holds(address)
        fetch = rng.random() < 0.3
        if rng.random() < parameters()["blocks"]:
            there = [line for line, _ in cache.tags.values()]
            await cache.block_store(32 * rng.choice(there) if there else address)
            continue
        took, word, _ = await cache.access(address, rng.random() < 0.5, fetch)
        if not cache.snoops and not cache.stall:
            assert took == 1 if hit and not fetch else took in (1 + beats, 2 + 2 * beats)
        if not cache.snoops:
            assert (word is None) == (hit and not fetch)
    assert bool(cache.waited) == bool(parameters()["blocks"])


@cocotb.test()
async def is_empty_after_each_reset(dut: Any) -> None:
    """For many resets of one cycle, so that the epochs come round."""
    await reset_and_clock(dut)
    falling = FallingEdge(dut.clk)
    lines = parameters()["lines"]
    rng = random.Random(seed())
    for turn in range(4 * lines):
        await falling
        dut.rst.value = 1
        for _ in range(rng.choice([1, 1, 1, 3])):
            await falling
        dut.rst.value = 0
        cache = Cache(dut, lines, 0.0)
        for address in rng.sample(range(0, lines * 32, 32), 3):
            assert (await cache.access(address, True, False))[0] == 5, f"reset {turn}"
            assert (await cache.access(address, True, False))[0] == 1


@pytest.mark.parametrize("lines", [8, 2])
@pytest.mark.parametrize("stall, snoops", [(0.0, 0.0), (0.5, 0.0), (0.0, 0.4), (0.4, 0.9)])
@pytest.mark.parametrize("accesses", [150, more(600)])
def test_model(lines: int, stall: float, snoops: float, accesses: int) -> None:
    run_bench(cache(lines=lines), __file__, testcase="agrees_with_the_model",
              lines=lines, stall=stall, snoops=snoops, accesses=accesses, blocks=0, beats=4)


@pytest.mark.parametrize("beat_bytes, stall, snoops", [
    (16, 0.0, 0.0), (16, 0.4, 0.5), more(32, 0.0, 0.0), more(32, 0.4, 0.5)])
def test_wide_beats(beat_bytes: int, stall: float, snoops: float) -> None:
    run_bench(cache(lines=8, beat_bytes=beat_bytes), __file__,
              testcase="agrees_with_the_model", lines=8, stall=stall, snoops=snoops, accesses=300,
              blocks=0, beats=32 // beat_bytes)


def test_block_stores() -> None:
    run_bench(cache(lines=2, block_stores=True), __file__,
              testcase="agrees_with_the_model", lines=2, stall=0.0, snoops=0.8, accesses=300,
              blocks=0.4, beats=4)


def test_cycles() -> None:
    run_bench(cache(lines=8), __file__, testcase="takes_the_promised_cycles")


@pytest.mark.parametrize("lines", [4, 16])
def test_reset(lines: int) -> None:
    run_bench(cache(lines=lines), __file__, testcase="is_empty_after_each_reset",
              lines=lines)


@cocotb.test()
async def keeps_words(dut: Any) -> None:
    await reset_and_clock(dut)
    rng = random.Random(seed())
    falling, rising = FallingEdge(dut.clk), RisingEdge(dut.clk)
    kept: dict[int, tuple[int, int]] = {}
    for _ in range(3000):
        await falling
        number, address = rng.randrange(4), 8 * rng.randrange(12)
        store, drop = rng.random() < 0.3, rng.random() < 0.1
        data, line = rng.getrandbits(64), rng.randrange(96)
        snoop = {"valid": int(rng.random() < 0.3), "write": rng.randrange(2),
                 "source": rng.randrange(3), "address": 8 * rng.randrange(12)}
        dut.number.value, dut.address.value = number, address
        dut.store.value, dut.data.value = int(store), data
        dut.drop.value, dut.line.value = int(drop), line
        dut.snoop.value = pack(Snoop, snoop)
        await rising
        held = kept.get(number)
        assert int(dut.held.value) == int(held is not None and held[0] == address)
        if held is not None and held[0] == address:
            assert int(dut.word.value) == held[1]
        struck = {line >> 5} if drop else set()
        if snoop["valid"] and snoop["write"] and snoop["source"] != OWN:
            struck.add(snoop["address"] >> 5)
        kept = {key: item for key, item in kept.items() if item[0] >> 5 not in struck}
        if store:
            kept[number] = (address, data)


def test_kept_words() -> None:
    run_bench(KeptWords(source=OWN), __file__, testcase="keeps_words")


@pytest.mark.parametrize("make, error, text", [
    (lambda: TagCache(shape=8), TypeError, "shape must be a CacheShape, not 8"),
    (lambda: TagCache(shape=CacheShape(lines=8), source="1"), TypeError,
     "source must be an integer, not '1'"),
    (lambda: TagCache(shape=CacheShape(lines=8), source=16), ValueError,
     "source must be 0 to 15, not 16"),
    (lambda: cache(lines=8, peers=1), ValueError, "shape.peers must be 0, not 1"),
    (lambda: KeptWords(source=-1), ValueError, "source must be 0 to 15, not -1"),
])
def test_refuses(make: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        make()


def test_parameters_are_readable() -> None:
    assert (cache(lines=8).shape, cache(lines=8).source) == (CacheShape(lines=8), OWN)
    assert KeptWords(source=2).source == 2
