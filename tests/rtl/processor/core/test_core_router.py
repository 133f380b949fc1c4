"""Where a core's accesses go, how long they take, and that a fetch never sees what has been
overwritten."""

import random
from typing import Any

import pytest
from amaranth.hdl import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out, connect, flipped
from nicbed.layouts.processor import HOST_BASE, MMIO_BASE
from nicbed.rtl.processor.core.core_router import CoreRouter
from nicbed.rtl.processor.memory.nic_memory import NicMemory
from nicbed.rtl.processor.types import CoreBus, MmioBus, WidePort

from tests.labs.control_bench import simulate

SIZE = 512


class Joined(wiring.Component):
    """The router on its memory."""

    core: In(CoreBus)
    edge: In(1)
    run: In(1)
    wide: In(WidePort)
    mmio: Out(MmioBus)
    fault: Out(1)

    def __init__(self, *, speculates: bool = False) -> None:
        self._speculates = speculates
        super().__init__()

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.memory = memory = NicMemory(size=SIZE)
        m.submodules.router = router = CoreRouter(size=SIZE, speculates=self._speculates)
        connect(m, flipped(self.core), router.core)
        connect(m, flipped(self.wide), memory.wide)
        connect(m, router.memory, memory.core)
        connect(m, router.mmio, flipped(self.mmio))
        m.d.comb += [
            router.edge.eq(self.edge),
            router.run.eq(self.run),
            router.written.eq(self.wide.valid & self.wide.write),
            router.written_address.eq(self.wide.address),
            self.fault.eq(router.fault),
        ]
        return m


class Host:
    """Drives everything but the core: the wide port's writes, the registers' answers, edges."""

    def __init__(self, ctx: Any, dut: Joined, rng: random.Random, *, divider: int, busy: float
                 ) -> None:
        self.ctx, self.dut, self.rng = ctx, dut, rng
        self.divider, self.busy = divider, busy
        self.words = [0] * (SIZE // 8)
        self.cycle = 0
        self.done: list[tuple[int, int, int]] = []
        """Accesses to registers: write, address, data."""
        self.seen: dict[int, set[int]] = {}
        """What the words watched have been."""

    def begin(self) -> None:
        """The inputs of this cycle. Before the memory's next write, so that what it makes of a
        word is not seen yet."""
        ctx, dut, rng = self.ctx, self.dut, self.rng
        ctx.set(dut.edge, self.cycle % self.divider == self.divider - 1)
        self.write = rng.random() < self.busy
        self.place, self.value = rng.randrange(SIZE // 8), rng.getrandbits(64)
        ctx.set(dut.wide.valid, self.write)
        ctx.set(dut.wide.write, 1)
        ctx.set(dut.wide.address, self.place)
        ctx.set(dut.wide.data, self.value)
        ctx.set(dut.wide.strobe, 0xFF)
        ack = rng.random() < 0.3
        answer = rng.getrandbits(32)
        ctx.set(dut.mmio.ack, 0)
        self.answered = None
        if ctx.get(dut.mmio.valid) and ack:
            ctx.set(dut.mmio.ack, 1)
            ctx.set(dut.mmio.read, answer)
            self.answered = answer
            self.done.append((ctx.get(dut.mmio.write), ctx.get(dut.mmio.address),
                              ctx.get(dut.mmio.data)))

    def stored(self, address: int, data: int, strobe: int) -> None:
        """The core's store has landed."""
        mask = sum(0xFF << 8 * lane for lane in range(4) if strobe >> lane & 1)
        shift = 32 * (address >> 2 & 1)
        word = self.words[address >> 3]
        self._set(address >> 3, word & ~(mask << shift) | (data & mask) << shift)

    def _set(self, place: int, value: int) -> None:
        self.words[place] = value
        if place in self.seen:
            self.seen[place].add(value)

    async def end(self) -> None:
        """This cycle's edge."""
        await self.ctx.tick()
        self.cycle += 1
        if self.write:
            self._set(self.place, self.value)


async def access(host: Host, *, fetch: bool = False, write: bool = False, address: int,
                 data: int = 0, strobe: int = 0) -> tuple[int, int]:
    """One access of the core; the word read, and the cycles it took."""
    ctx, dut = host.ctx, host.dut
    for member, value in {"valid": 1, "fetch": fetch, "write": write, "address": address,
                          "data": data, "strobe": strobe}.items():
        ctx.set(getattr(dut.core, member), value)
    begin = host.cycle
    landed = False
    for _ in range(200):
        host.begin()
        ack, edge = ctx.get(dut.core.ack), ctx.get(dut.edge)
        word = ctx.get(dut.core.read)
        if ack and write and address < SIZE and not landed:
            host.stored(address, data, strobe)
            landed = True
        await host.end()
        if ack and edge:
            ctx.set(dut.core.valid, 0)
            return word, host.cycle - begin
    raise AssertionError(f"no answer at {address:#x}")


@pytest.mark.parametrize("divider, busy, seed",
                         [(1, 0.0, 1), (1, 0.3, 2), (2, 0.3, 3), (5, 0.6, 4)])
def test_random_accesses_read_the_memory(divider: int, busy: float, seed: int) -> None:
    """Fetches (mostly in sequence), loads, stores and registers at random, while others write."""
    rng = random.Random(seed)
    dut = Joined()
    counts = dict.fromkeys(("fetch", "load", "store", "register"), 0)

    async def bench(ctx: Any) -> None:
        ctx.set(dut.run, 1)
        host = Host(ctx, dut, rng, divider=divider, busy=busy)
        pc = 0
        for _ in range(400):
            for _ in range(rng.choice([0, 0, 0, 1, 3]) * divider):
                host.begin()
                await host.end()
            kind = rng.choice(["fetch"] * 5 + ["load", "store", "store", "register"])
            counts[kind] += 1
            address = 4 * rng.randrange(SIZE // 4)
            if kind == "fetch" or (kind == "store" and rng.random() < 0.3):
                pc = (pc + 4) % SIZE if rng.random() < 0.85 else address
                address = (pc + rng.choice([0, 4, 8])) % SIZE if kind == "store" else pc
            place, shift = address >> 3, 32 * (address >> 2 & 1)
            host.seen = {place: {host.words[place]}}
            if kind == "register":
                before = len(host.done)
                write, value = rng.random() < 0.5, rng.getrandbits(32)
                offset = 4 * rng.randrange(1024)
                word, _ = await access(host, address=MMIO_BASE + offset, write=write, data=value,
                                       strobe=0xF)
                # Once, however long the core takes to see the answer.
                assert len(host.done) == before + 1
                assert host.done[-1][:2] == (write, offset) and (not write
                                                                 or host.done[-1][2] == value)
            elif kind == "store":
                await access(host, address=address, write=True, data=rng.getrandbits(32),
                             strobe=rng.choice([1, 2, 4, 8, 3, 12, 15]))
            else:
                word, _ = await access(host, address=address, fetch=kind == "fetch")
                assert word in {value >> shift & 0xFFFF_FFFF for value in host.seen[place]}
        assert all(count > 20 for count in counts.values())

    simulate(dut, bench, limit=200_000)


@pytest.mark.promise("store of a NIC processor", "NIC memory", "1")
@pytest.mark.promise("load of a NIC processor", "NIC memory", "2")
def test_latency() -> None:
    """A store takes 1 cycle, a load 2, a fetch 2 after a jump and 1 in sequence."""
    dut = Joined()

    async def bench(ctx: Any) -> None:
        ctx.set(dut.run, 1)
        host = Host(ctx, dut, random.Random(1), divider=1, busy=0.0)
        assert (await access(host, address=8, write=True, data=5, strobe=15))[1] == 1
        assert await access(host, address=8) == (5, 2)
        for base in (0x40, 0x80, 0x84):
            took = [(await access(host, address=base + 4 * n, fetch=True))[1] for n in range(12)]
            assert took[0] == 2 and max(took[2:]) == 1, took
        # A short loop is in the buffer.
        took = [(await access(host, address=address, fetch=True))[1]
                for address in (0xC0, 0xC4, 0xC8, 0xCC, 0xC8, 0xCC, 0xC8)]
        assert took[4:] == [1, 1, 1]

    simulate(dut, bench)


@pytest.mark.parametrize("speculates", [False, True])
def test_nowhere(speculates: bool) -> None:
    """Beyond memory and registers there is nothing; fetches of a core that speculates read 0."""
    dut = Joined(speculates=speculates)

    async def bench(ctx: Any) -> None:
        host = Host(ctx, dut, random.Random(1), divider=1, busy=0.0)
        for address, fetch in ((SIZE, False), (MMIO_BASE + 0x1000, False), (0x7FFF_FFFC, True),
                               (MMIO_BASE, True), (0xFFFF_FFFC, False)):
            ctx.set(dut.run, 1)
            ctx.set(dut.core.valid, 1)
            ctx.set(dut.core.fetch, fetch)
            ctx.set(dut.core.address, address)
            assert ctx.get(dut.fault) == (not fetch or not speculates)
            assert ctx.get(dut.core.ack) == (fetch and speculates)
            # Held in reset the core's bus is not looked at.
            ctx.set(dut.run, 0)
            assert not ctx.get(dut.fault) and not ctx.get(dut.mmio.valid)
            await host.ctx.tick()

    simulate(dut, bench)


def test_host_memory() -> None:
    """Loads and stores of its addresses, as they are; beyond it there is nothing, and no code in
    it. The answer is held for a slow core."""
    dut = CoreRouter(size=SIZE, host_bytes=1 << 16)

    async def bench(ctx: Any) -> None:
        ctx.set(dut.run, 1)
        for address, fetch, there in ((0, False, True), (0xFFFC, False, True),
                                      (1 << 16, False, False), (0xFFFF_FFFC, False, False),
                                      (8, True, False)):
            ctx.set(dut.core.valid, 1)
            ctx.set(dut.core.fetch, fetch)
            ctx.set(dut.core.address, HOST_BASE + address & 0xFFFF_FFFF)
            assert ctx.get(dut.host.valid) == there and ctx.get(dut.fault) == (not there)
            assert not ctx.get(dut.core.ack) and not ctx.get(dut.mmio.valid)
            assert not there or ctx.get(dut.host.address) == address
        for write in (0, 1):
            ctx.set(dut.core.fetch, 0)
            ctx.set(dut.core.write, write)
            ctx.set(dut.core.address, HOST_BASE + 0x124)
            ctx.set(dut.core.data, 0x1234_5678)
            ctx.set(dut.core.strobe, 0b0110)
            assert (ctx.get(dut.host.write), ctx.get(dut.host.data), ctx.get(dut.host.strobe)) \
                == (write, 0x1234_5678, 0b0110)
            ctx.set(dut.host.ack, 1)
            ctx.set(dut.host.read, 0xCAFE)
            assert ctx.get(dut.core.ack) and ctx.get(dut.core.read) == 0xCAFE
            await ctx.tick()
            ctx.set(dut.host.ack, 0)
            ctx.set(dut.host.read, 0)
            assert not ctx.get(dut.host.valid) and ctx.get(dut.core.ack)
            assert ctx.get(dut.core.read) == 0xCAFE
            ctx.set(dut.edge, 1)
            await ctx.tick()
            ctx.set(dut.edge, 0)
            assert ctx.get(dut.host.valid) and not ctx.get(dut.core.ack)

    simulate(dut, bench)


@pytest.mark.parametrize("host_bytes, error", [(24, "0 or a power of two"), (1 << 31, "up to"),
                                               (-8, "0 or a power of two")])
def test_host_bytes(host_bytes: int, error: str) -> None:
    with pytest.raises(ValueError, match=f"host_bytes must be .*{error}"):
        CoreRouter(size=SIZE, host_bytes=host_bytes)
    with pytest.raises(TypeError, match="host_bytes must be an integer"):
        CoreRouter(size=SIZE, host_bytes=1.5)


def test_a_reset_drops_fetched_words() -> None:
    """What was fetched before a reset of the core is fetched again after it."""
    dut = Joined()

    async def bench(ctx: Any) -> None:
        ctx.set(dut.run, 1)
        host = Host(ctx, dut, random.Random(1), divider=1, busy=0.0)
        assert (await access(host, address=0x40, fetch=True))[1] == 2
        assert (await access(host, address=0x40, fetch=True))[1] == 1
        ctx.set(dut.run, 0)
        await ctx.tick()
        ctx.set(dut.run, 1)
        assert (await access(host, address=0x40, fetch=True))[1] == 2

    simulate(dut, bench)
