"""A block with two banks against two blocks: whatever is in it, whoever takes an edge."""

import random
from collections.abc import Callable
from typing import Any

import pytest
from amaranth.hdl import (
    Array,
    Assert,
    Cat,
    ClockDomain,
    DomainRenamer,
    EnableInserter,
    Instance,
    Module,
    Mux,
    Signal,
    Value,
)
from amaranth.lib import data, memory, wiring
from amaranth.lib.wiring import In, Out
from amaranth.sim import Simulator
from nicbed.rtl.banked import Banked
from nicbed.rtl.block_ram import BlockRam
from rows import more

WIDTH = 16


class Part(wiring.Component):
    """Some of all that a block may be made of, drawn by ``seed``."""

    i: In(WIDTH)
    o: Out(WIDTH)

    def __init__(self, seed: int, memories: bool, depth: int = 2) -> None:
        self._seed = seed
        self._memories = memories
        self._depth = depth
        super().__init__()

    def elaborate(self, platform: object) -> Module:
        m = Module()
        rng = random.Random(self._seed)
        registers = [Signal(rng.randint(1, 12), name=f"r{n}", init=rng.randrange(2),
                            reset_less=rng.random() < 0.3) for n in range(6)]
        fields = Signal(data.StructLayout({"low": 5, "high": 6}), name="fields")
        array = Array(Signal(7, name=f"a{n}") for n in range(3))
        values: list[Value] = [self.i, *registers, Cat(fields.low, fields.high), *array]

        def value() -> Value:
            one, two = rng.choice(values), rng.choice(values)
            return rng.choice([one, one + two, one ^ two, Mux(one[0], two, ~one), Cat(two, one),
                               one.bit_select(two[:2], 1), one == two])

        def assignment() -> Any:
            one = rng.choice(registers)
            cut = rng.randrange(len(one))
            return rng.choice([
                one.eq(value()), one[cut:].eq(value()),
                one.bit_select(rng.choice(values)[:3], 1).eq(value()),
                Cat(one, rng.choice([two for two in registers if two is not one])).eq(value()),
                fields.low.eq(value()), fields.high.eq(value()),
                array[rng.choice(values)[:2]].eq(value()), one.as_signed().eq(value())])

        def statements(depth: int) -> None:
            for _ in range(rng.randint(1, 3)):
                m.d.sync += assignment()
            if depth:
                with m.If(value().any()):
                    statements(depth - 1)
                with m.Elif(value().all()):
                    statements(depth - 1)
                with m.Switch(self.i[:2]):
                    with m.Case(1, 2):
                        statements(depth - 1)
                    with m.Default():
                        m.d.sync += assignment()

        if self._memories:
            values += self._reads(m, rng, value)
        statements(2)
        with m.FSM(name="fsm"):
            for state in range(3):
                with m.State(str(state)):
                    with m.If(value().any()):
                        m.next = str((state + 1) % 3)
                        m.d.sync += assignment()

        if self._depth:
            m.submodules.inner = inner = Part(
                rng.randrange(1 << 30), self._memories, self._depth - 1)
            m.d.comb += inner.i.eq(value())
            values.append(inner.o)
        m.d.comb += self.o.eq(sum(one * (2 * n + 1) for n, one in enumerate(values)))
        return m

    def _reads(self, m: Module, rng: random.Random, value: Callable[[], Value]) -> list[Value]:
        rows = rng.choice([3, 4, 5])
        ram = memory.Memory(shape=8, depth=rows, init=[rng.randrange(256) for _ in range(rows)])
        blocks = BlockRam(shape=8, depth=4)
        m.submodules += [ram, blocks]
        written = ram.write_port(granularity=rng.choice([4, 8]))
        whole = blocks.write_port()
        reads = [ram.read_port(), ram.read_port(transparent_for=[written]), blocks.read_port(),
                 ram.read_port(domain="comb")]
        for port in (written, whole, *reads):
            m.d.comb += port.addr.eq(value())
            if not isinstance(port, memory.WritePort):
                if port.domain != "comb":
                    m.d.comb += port.en.eq(value()[0])
        m.d.comb += [written.en.eq(value()), written.data.eq(value()), whole.data.eq(value()),
                     # What is read of a word being written means nothing.
                     whole.en.eq(value()[0] & ~reads[2].en)]
        return [port.data for port in reads]


@pytest.mark.parametrize("seed", [*range(8), *(more(n) for n in range(8, 60))])
@pytest.mark.parametrize("memories", [False, True])
def test_two_banks_are_two_blocks(seed: int, memories: bool) -> None:
    """With resets where there is no memory: Amaranth's simulator resets what was read, which RTLIL
    and devices do not."""
    m = Module()
    m.domains.sync = domain = ClockDomain()
    bank, edge, reset = Signal(reset_less=True), Signal(), Signal()
    steps = Signal(2)
    pair = [Part(seed, memories) for _ in range(2)]
    m.submodules += [EnableInserter(step)(part) for step, part in zip(steps, pair, strict=True)]
    both = Part(seed, memories)
    m.submodules.both = Banked(bank=bank, edge=edge)(both)
    m.d.comb += domain.rst.eq(reset)
    m.d.sync += bank.eq(~bank)
    rng = random.Random(seed)

    async def check(sim: Any) -> None:
        seen = set()
        for clock in range(1200):
            number = clock % 2
            value = rng.randrange(1 << WIDTH)
            sim.set(pair[number].i, value)
            sim.set(both.i, value)
            await sim.delay(1e-9)
            want = sim.get(pair[number].o)
            assert sim.get(bank) == number and sim.get(both.o) == want
            seen.add(want)
            takes = rng.random() < 0.6
            sim.set(edge, takes)
            sim.set(steps, takes << number)
            sim.set(reset, not memories and rng.random() < 0.05)
            await sim.tick()
        assert len(seen) > 30

    simulator = Simulator(m)
    simulator.add_clock(1e-6)
    simulator.add_testbench(check)
    simulator.run()


@pytest.mark.parametrize("statement, what", [
    (lambda m: m.d.other.__iadd__(Signal().eq(1)), "domain 'other'"),
    (lambda m: m.submodules.__iadd__(Instance("core", i_a=Signal())), "an instance of core"),
    (lambda m: m.d.sync.__iadd__(Assert(Signal())), "a check"),
])
def test_what_there_are_no_two_of(statement: Any, what: str) -> None:
    m = Module()
    statement(m)
    banked = DomainRenamer("banks")(Banked(bank=Signal(), edge=Signal())(m))
    with pytest.raises(TypeError, match=f"^there are no two banks of {what}$"):
        banked.elaborate(None)
