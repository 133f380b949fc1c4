"""The order of address phases, and which lines a store is to, against a plain model."""

import random
from typing import Any

import pytest
from amaranth.hdl import Elaboratable, Module, Signal
from amaranth.sim import Simulator
from nicbed.rtl.cpu.address_bus import AddressBus, Stored, covers

LINES = 3
"""Few, so that caches often want the same one."""


class Covers(Elaboratable):
    """Its inputs, and its answer."""

    def __init__(self) -> None:
        self.stored, self.line, self.o = Signal(Stored), Signal(27), Signal()

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.d.comb += self.o.eq(covers(self.stored, self.line, 5))
        return m


def test_a_store_is_to_every_line_from_its_first_byte_to_its_last():
    dut = Covers()

    async def bench(ctx: Any) -> None:
        for first, last in [(0, 0), (31, 31), (64, 71), (64, 95), (60, 64), (95, 160), (96, 96)]:
            for line in range(7):
                for valid in (0, 1):
                    ctx.set(dut.stored, {"valid": valid, "first": first, "last": last})
                    ctx.set(dut.line, line)
                    lines = {byte // 32 for byte in range(first, last + 1)}
                    assert ctx.get(dut.o) == (valid and line in lines), (first, last, line)

    simulator = Simulator(dut)
    simulator.add_testbench(bench)
    simulator.run()


class Model:
    """What the bus does in a cycle, from what the caches say in it."""

    def __init__(self, caches: int) -> None:
        self.caches = caches
        self.line: list[int] = []
        """The caches that want a phase, the one that has wanted it longest first."""

    def check(self, said: list[dict[str, int]], posted: list[tuple[int, int]],
              seen: list[dict[str, int]]) -> int | None:
        """``seen`` is right after ``said``; the cache that was granted a phase."""
        everyone = range(self.caches)

        def waits(cache: int) -> bool:
            line = said[cache]["address"] // 32
            return any(other != cache and (
                said[other]["held"] and said[other]["address"] // 32 == line
                or posted and posted[other][0] and posted[other][1] // 32 == line)
                for other in everyone)

        self.line += [cache for cache in everyone
                      if said[cache]["request"] and cache not in self.line]
        ready = [cache for cache in self.line if not waits(cache)]
        busy = any(one["busy"] for one in said)
        granted = [cache for cache in everyone if seen[cache]["grant"]]
        assert len(granted) == (bool(ready) and not busy) and granted == ready[:len(granted)]
        heard = [cache for cache in everyone if seen[cache]["valid"]]
        assert len(heard) == (self.caches - 1 if ready else 0)
        for cache in everyone:
            others = [said[other] for other in everyone if other != cache]
            assert seen[cache]["shared"] == any(one["has"] for one in others)
            assert seen[cache]["dirty"] == any(one["has_dirty"] for one in others)
            assert seen[cache]["commits"] == (cache in heard and not busy)
        for cache in heard:
            [chosen] = set(everyone) - set(heard)
            assert chosen == ready[0]
            assert seen[cache]["address"] == said[chosen]["address"]
            assert seen[cache]["exclusive"] == said[chosen]["exclusive"]
        for cache in granted:
            self.line.remove(cache)
        return granted[0] if granted else None


@pytest.mark.parametrize("caches, block_stores", [(2, False), (3, False), (3, True), (5, True)])
def test_phases_against_the_model(caches, block_stores):
    rng = random.Random(caches)
    dut = AddressBus(caches=caches, block_stores=block_stores)
    model = Model(caches)
    counts = [0] * caches

    async def bench(ctx: Any) -> None:
        said = [dict.fromkeys(("request", "exclusive", "address", "held", "has", "has_dirty",
                               "busy"), 0) for _ in range(caches)]
        for _ in range(400):
            for one in said:
                if not one["request"]:  # what is asked for stays until it is granted
                    one |= {"address": rng.randrange(LINES * 32), "exclusive": rng.randrange(2),
                            "request": rng.random() < 0.6}
                one |= {"held": rng.random() < 0.2, "has": rng.random() < 0.3,
                        "has_dirty": rng.random() < 0.3, "busy": rng.random() < 0.1}
            for one, cache in zip(said, dut.cache, strict=True):
                for name, value in one.items():
                    ctx.set(getattr(cache, name), int(value))
            posted = [(rng.random() < 0.15, rng.randrange(LINES * 32)) for _ in range(caches)
                      ] if block_stores else []
            for place, (valid, address) in enumerate(posted):
                ctx.set(dut.posted[place].valid, int(valid))
                ctx.set(dut.posted[place].address, address)
            seen = [{"grant": ctx.get(cache.grant), "shared": ctx.get(cache.shared),
                     "dirty": ctx.get(cache.dirty), "commits": ctx.get(cache.commits),
                     "valid": ctx.get(cache.phase.valid), "address": ctx.get(cache.phase.address),
                     "exclusive": ctx.get(cache.phase.exclusive)} for cache in dut.cache]
            granted = model.check(said, posted, seen)
            if granted is not None:
                counts[granted] += 1
                said[granted]["request"] = 0
            await ctx.tick()

    simulator = Simulator(dut)
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    simulator.run()
    assert min(counts) > 20


def test_refuses_bad_parameters():
    with pytest.raises(TypeError, match="caches"):
        AddressBus(caches="2")
    with pytest.raises(ValueError, match="caches"):
        AddressBus(caches=1)
    assert AddressBus(caches=3).caches == 3
