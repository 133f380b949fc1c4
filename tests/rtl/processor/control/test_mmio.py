"""The processor's register file: every register, once an access, and what waits."""

import random
from typing import Any

import pytest
from nicbed.layouts.processor import (
    DOORBELL_OWNER,
    ENGINE_STRIDE,
    ENGINES_BASE,
    MMIO_REGISTERS,
    Engine,
    EngineRegister,
)
from nicbed.layouts.registers import Access
from nicbed.rtl.processor.control.mmio import Mmio

from tests.labs.control_bench import simulate

MEMORY = 1 << 16
OFFSETS = {register.name: register.offset for register in MMIO_REGISTERS}
WIDTHS = {register.name: register.width for register in MMIO_REGISTERS}
COMMAND = {"host": (EngineRegister.HOST, 32), "local": (EngineRegister.LOCAL, 20),
           "length": (EngineRegister.LENGTH, 16), "trace": (EngineRegister.TRACE, 24)}
STORED = [register.name for register in MMIO_REGISTERS if register.access is Access.RW
          and register.name not in ("wait_mask", "timer")]


def engine_offset(engine: Engine, register: EngineRegister) -> int:
    return ENGINES_BASE + ENGINE_STRIDE * engine + register


MAPPED = {*OFFSETS.values(),
          *(engine_offset(engine, register) for engine in Engine for register in EngineRegister)}


class Bus:
    """Accesses, as the core makes them; all outputs that are pulses are collected in the cycle of
    the access, and must be low in every other one."""

    def __init__(self, ctx: Any, dut: Mmio) -> None:
        self.ctx, self.dut = ctx, dut
        pending, doorbells = dut.pending, dut.doorbells
        self.outputs = {
            "bad": dut.bad, "kick": dut.kick, "irq": dut.asks.irq, "event": dut.event.valid,
            "crash": dut.crash.valid, "clear": pending.clear, "mask_write": pending.mask_write,
            "timer_write": pending.timer_write, "timer_off": pending.timer_off,
            "look": doorbells.look, "pop": doorbells.pop,
        }
        self.levels = {
            "wait": pending.wait, "grant": doorbells.grant.valid,
            **{f"start {engine.name}": dut.engines[engine].command.valid for engine in Engine},
        }
        self.seen: dict[str, int] = {}
        ctx.set(dut.run, 1)

    def high(self, outputs: dict[str, Any]) -> dict[str, int]:
        return {name: self.ctx.get(output) for name, output in outputs.items()
                if self.ctx.get(output)}

    async def access(self, offset: int, data: int | None = None, limit: int = 50,
                     while_waiting: Any = None) -> int:
        """Make it; what was read. ``seen`` has the pulses, and the levels."""
        ctx, bus = self.ctx, self.dut.bus
        ctx.set(bus.valid, 1)
        ctx.set(bus.write, data is not None)
        ctx.set(bus.address, offset)
        ctx.set(bus.data, data or 0)
        for cycle in range(limit):
            levels = self.high(self.levels)
            if ctx.get(bus.ack):
                break
            assert not self.high(self.outputs), "a side effect before the access"
            assert levels, "waits for nothing"
            if while_waiting is not None:
                while_waiting(cycle)
            await ctx.tick()
        else:
            raise AssertionError(f"{offset:#x}: no answer")
        self.seen = self.high(self.outputs) | levels
        value = ctx.get(bus.read)
        await ctx.tick()
        ctx.set(bus.valid, 0)
        assert not self.high(self.outputs) and not self.high(self.levels)
        return value


def run(body: Any, limit: int = 20_000) -> None:
    dut = Mmio(memory_bytes=MEMORY)

    async def bench(ctx: Any) -> None:
        await body(ctx, dut, Bus(ctx, dut))

    simulate(dut, bench, limit=limit)


def test_stored_registers() -> None:
    """Random writes and reads of all that is only stored; reset of the processor clears it."""
    rng = random.Random(1)
    places = {OFFSETS[name]: WIDTHS[name] for name in STORED}
    places |= {engine_offset(engine, register): width
               for engine in Engine for register, width in COMMAND.values()}
    assert len(places) == len(STORED) + 16

    async def body(ctx: Any, dut: Mmio, bus: Bus) -> None:
        values = dict.fromkeys(places, 0)
        for _ in range(600):
            offset = rng.choice(list(places))
            if rng.random() < 0.5:
                word = rng.getrandbits(32)
                await bus.access(offset | rng.randrange(4), word)
                values[offset] = word & ((1 << places[offset]) - 1)
            else:
                assert await bus.access(offset | rng.randrange(4)) == values[offset]
            assert bus.seen == {}
            by_name = {name: values[OFFSETS[name]] for name in STORED}
            assert ctx.get(dut.asks.protocol) == by_name["protocol"]
            assert ctx.get(dut.asks.watch_base) == by_name["watch_base"]
            assert ctx.get(dut.asks.watch_bytes) == by_name["watch_bytes"]
            assert ctx.get(dut.crash.pc) == by_name["crash_pc"]
            assert ctx.get(dut.crash.cause) == by_name["crash_cause"]
            assert ctx.get(dut.event.number) == by_name["event_number"]
            assert ctx.get(dut.event.arg) == by_name["event_arg"]
        assert all(values.values())
        ctx.set(dut.run, 0)
        await ctx.tick()
        ctx.set(dut.run, 1)
        for offset in places:
            assert await bus.access(offset) == 0

    run(body)


def test_read_registers() -> None:
    rng = random.Random(2)

    async def body(ctx: Any, dut: Mmio, bus: Bus) -> None:
        for _ in range(20):
            sources = {
                "node": dut.node, "pending": dut.pending.bits, "wait_mask": dut.pending.mask,
                "timer": dut.pending.timer, "doorbell": dut.doorbells.entry,
            }
            expected = {name: rng.getrandbits(WIDTHS[name]) for name in sources}
            for name, source in sources.items():
                ctx.set(source, expected[name])
            data, cycle = rng.getrandbits(64), rng.getrandbits(64)
            ctx.set(dut.doorbells.data, data)
            ctx.set(dut.cycle, cycle)
            expected |= {"doorbell_low": data & 0xFFFF_FFFF, "doorbell_high": data >> 32,
                         "memory_bytes": MEMORY, "cycle": cycle & 0xFFFF_FFFF}
            for name in rng.sample(list(expected), len(expected)):
                assert await bus.access(OFFSETS[name]) == expected[name], name
                assert bus.seen == ({"look": 1} if name == "doorbell" else {})
            # The high half is that of the last read of the low one.
            ctx.set(dut.cycle, rng.getrandbits(64))
            assert await bus.access(OFFSETS["cycle_high"]) == cycle >> 32
            for engine in Engine:
                space, done = rng.randrange(9), rng.getrandbits(32)
                ctx.set(dut.engines[engine].space, space)
                ctx.set(dut.engines[engine].done, done)
                assert await bus.access(engine_offset(engine, EngineRegister.SPACE)) == space
                assert await bus.access(engine_offset(engine, EngineRegister.DONE)) == done

    run(body)


def test_acts() -> None:
    """Each register that acts does so once, and nothing else does; read, they give 0."""
    pulse = {"pending": {"clear": 0xA5}, "wait_mask": {"mask_write": 1},
             "timer": {"timer_write": 1}, "timer_off": {"timer_off": 1}, "watchdog": {"kick": 1},
             "host_irq": {"irq": 1}, "event": {"event": 1}, "doorbell_pop": {"pop": 1},
             "doorbell_enable": {"grant": 1}, "crash": {"crash": 1}}
    written = {register.name for register in MMIO_REGISTERS
               if register.access in (Access.WO, Access.W1C)}
    assert set(pulse) == written | {"wait_mask", "timer"}

    async def body(ctx: Any, dut: Mmio, bus: Bus) -> None:
        ctx.set(dut.doorbells.grant.ready, 1)
        ctx.set(dut.pending.wake, 1)
        for register in MMIO_REGISTERS:
            # Data that nobody can take for the register's address.
            await bus.access(register.offset, 0xFFFF_00A5)
            assert bus.seen == pulse.get(register.name, {}), register.name
            if register.access is Access.WO:
                assert await bus.access(register.offset) == 0
                assert bus.seen == {}
        for engine in Engine:
            for register in (EngineRegister.SPACE, EngineRegister.DONE):
                await bus.access(engine_offset(engine, register), 5)
                assert bus.seen == {}
            assert await bus.access(engine_offset(engine, EngineRegister.START)) == 0
            assert bus.seen == {}

    run(body)


def test_what_a_write_carries() -> None:
    async def body(ctx: Any, dut: Mmio, bus: Bus) -> None:
        await bus.access(OFFSETS["doorbell_page"], 0x2AB)
        ctx.set(dut.bus.data, 0x1F3)
        assert DOORBELL_OWNER.unpack(ctx.get(dut.doorbells.grant.payload)) == {
            "page": 0x2AB, "reserved": 0, "process": 0xF3, "enable": 1}
        ctx.set(dut.bus.data, 0x1234_5604)
        assert ctx.get(dut.pending.data) == 0x1234_5604
        assert ctx.get(dut.crash.reason) == 4
        assert ctx.get(dut.event.kind) == 4

    run(body)


def test_bad_offsets() -> None:
    """Every word of the 4 KiB is a register or bad."""
    async def body(ctx: Any, dut: Mmio, bus: Bus) -> None:
        ctx.set(dut.pending.wake, 1)
        ctx.set(dut.doorbells.grant.ready, 1)
        for port in dut.engines:
            ctx.set(port.command.ready, 1)
        for offset in range(0, 4096, 4):
            assert (await bus.access(offset) == 0) or offset in MAPPED
            assert ("bad" in bus.seen) == (offset not in MAPPED)
            await bus.access(offset, 0xFF)
            assert ("bad" in bus.seen) == (offset not in MAPPED)
            assert offset in MAPPED or bus.seen == {"bad": 1}

    run(body)


@pytest.mark.parametrize("waits", [0, 1, 9])
def test_wait(waits: int) -> None:
    """A read of wait is answered with what woke it, and that is a look for the watchdog."""
    async def body(ctx: Any, dut: Mmio, bus: Bus) -> None:
        ctx.set(dut.pending.mask, 0x3C)
        ctx.set(dut.pending.wake, waits == 0)

        def wake(cycle: int) -> None:
            assert ctx.get(dut.pending.wait) and not ctx.get(dut.kick)
            ctx.set(dut.pending.wake, cycle + 1 == waits)

        ctx.set(dut.pending.bits, 0xF0)
        assert await bus.access(OFFSETS["wait"], while_waiting=wake) == 0x30
        assert bus.seen == {"kick": 1, "wait": 1}

    run(body)


@pytest.mark.parametrize("seed", range(2))
def test_starts(seed: int) -> None:
    """Commands as written, once each, to their engine, whatever time it takes."""
    rng = random.Random(seed)

    async def body(ctx: Any, dut: Mmio, bus: Bus) -> None:
        for _ in range(60):
            engine = rng.choice(list(Engine))
            command = dut.engines[engine].command
            expected = {name: rng.getrandbits(width) for name, (_, width) in COMMAND.items()}
            for name, (register, _) in COMMAND.items():
                await bus.access(engine_offset(engine, register), expected[name])
            waits = rng.choice([0, 0, 1, 5])
            flags = rng.randrange(4)

            waited = []

            def check(cycle: int, waits: int = waits, command: Any = command,
                      expected: dict[str, int] = expected, flags: int = flags,
                      waited: list[int] = waited) -> None:
                waited.append(cycle)
                payload = ctx.get(command.payload)
                assert {name: payload[name] for name in expected} == expected
                assert payload.flags == flags
                ctx.set(command.ready, cycle + 1 >= waits)

            for port in dut.engines:
                ctx.set(port.command.ready, 1)
            ctx.set(command.ready, not waits)
            await bus.access(engine_offset(engine, EngineRegister.START), flags,
                             while_waiting=check)
            taken = ctx.get(command.payload)
            assert {name: taken[name] for name in expected} == expected
            assert bus.seen == {f"start {engine.name}": 1} and len(waited) == waits

    run(body)


def test_grant_waits_for_the_kernel() -> None:
    async def body(ctx: Any, dut: Mmio, bus: Bus) -> None:
        waited = []

        def wait(cycle: int) -> None:
            waited.append(cycle)
            ctx.set(dut.doorbells.grant.ready, cycle == 3)

        await bus.access(OFFSETS["doorbell_enable"], 0x105, while_waiting=wait)
        assert waited == [0, 1, 2, 3] and bus.seen == {"grant": 1}

    run(body)


@pytest.mark.parametrize("size", [0, 1 << 32])
def test_size_fits_its_register(size: int) -> None:
    with pytest.raises(ValueError, match=f"memory_bytes must be 1 to 4294967295, not {size}"):
        Mmio(memory_bytes=size)


def test_size_is_an_integer() -> None:
    with pytest.raises(TypeError, match="memory_bytes must be an integer, not '64K'"):
        Mmio(memory_bytes="64K")  # type: ignore[arg-type]
