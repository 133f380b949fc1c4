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
    IOPort,
    Module,
    Mux,
    Print,
    ResetInserter,
    Signal,
    Value,
    signed,
    unsigned,
)
from amaranth.lib import data, enum, io, memory, wiring
from amaranth.lib.wiring import In, Out
from amaranth.sim import Simulator
from nicbed.rtl.node.banked import Banked
from nicbed.rtl.parts.block_ram import BlockRam
from nicbed.testbench.simulators.verilog import rtlil

from tests.labs.rows import more

WIDTH = 16


class Mode(enum.Enum, shape=3):
    OFF = 0
    ON = 3
    OVER = 5


class Part(wiring.Component):
    """Registers of each kind, assigned to in each way, and with ``memories`` these with ports of
    each kind; in it another one with its own enable or reset. Drawn by ``seed``."""

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

        def register(name: str) -> Signal:
            width, init = rng.randint(1, 12), rng.randrange(2)
            minus = rng.random() < 0.4
            return Signal(signed(width) if minus else unsigned(width), name=name,
                          init=-init if minus else init, reset_less=rng.random() < 0.3)

        registers = [register(f"r{n}") for n in range(6)]
        fields = Signal(data.StructLayout({"low": 5, "high": signed(6)}), name="fields")
        items = Signal(data.ArrayLayout(4, 3), name="items")
        mode = Signal(Mode, init=Mode.ON)
        array = Array(Signal(7, name=f"a{n}") for n in range(3))
        table = Array(Array(Signal(5, name=f"t{n}_{k}") for k in range(2)) for n in range(3))
        # Between ``low`` and ``high`` it is no register.
        mixed = Signal(10, name="mixed", init=rng.randrange(1024))
        low, high = sorted(rng.sample(range(1, 10), 2))
        m.d.comb += mixed[low:high].eq(self.i)
        values: list[Value] = [
            self.i, *registers, Cat(fields.low, fields.high), Value.cast(items), Value.cast(mode),
            *array, mixed, Value.cast(table[self.i[3:5]][self.i[5]]),
            Cat(one for row in table for one in row)]

        def value() -> Value:
            one, two = rng.choice(values), rng.choice(values)
            return rng.choice([
                lambda: one, lambda: one + two, lambda: one - two, lambda: one ^ two,
                lambda: Mux(one[0], two, ~one), lambda: Cat(two, one), lambda: one == two,
                lambda: one < two, lambda: one.bit_select(two[:2], 1)])()

        def target() -> Any:
            one, index = rng.choice(registers), rng.choice(values)
            cut = rng.randrange(len(one))
            entry = table[index[:2]][rng.choice(values)[0]]
            return rng.choice([
                lambda: one, lambda: one[cut:], lambda: one.as_signed(),
                lambda: one.bit_select(index[:3], 1),
                lambda: one.word_select(index[:2], 2 - len(one) % 2),
                lambda: Cat(one, rng.choice([two for two in registers if two is not one])),
                lambda: fields.low, lambda: fields.high, lambda: items[index[:2]],
                lambda: array[index[:2]], lambda: entry, lambda: entry[1:4],
                lambda: entry.bit_select(index[:2], 2),
                lambda: mixed[:low], lambda: mixed[high:]])()

        def assignment() -> Any:
            if rng.random() < 0.07:
                return mode.eq(Mux(value()[0], rng.choice([*Mode]), rng.choice([*Mode])))
            return target().eq(value())

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
            inner = Part(rng.randrange(1 << 30), self._memories, self._depth - 1)
            inserter = rng.choice([ResetInserter, EnableInserter])
            often = value()[0] | value()[0]
            m.submodules.inner = inserter(
                ~often if inserter is ResetInserter else often)(inner)
            m.d.comb += inner.i.eq(value())
            values.append(inner.o)
        m.d.comb += self.o.eq(sum(one * (2 * n + 1) for n, one in enumerate(values)))
        return m

    def _reads(self, m: Module, rng: random.Random, value: Callable[[], Value]) -> list[Value]:
        rows = rng.choice([3, 4, 5])
        ram = memory.Memory(shape=8, depth=rows, init=[rng.randrange(256) for _ in range(rows)])
        blocks = BlockRam(shape=8, depth=4)
        m.submodules += [ram, blocks]
        first, second = (ram.write_port(granularity=rng.choice([2, 4, 8])) for _ in range(2))
        whole = blocks.write_port()
        reads = [ram.read_port(), ram.read_port(transparent_for=[first]),
                 ram.read_port(transparent_for=[first, second]), ram.read_port(domain="comb"),
                 blocks.read_port()]
        for port in (first, second, whole, *reads):
            m.d.comb += port.addr.eq(value())
            if isinstance(port, memory.WritePort):
                m.d.comb += port.data.eq(value())
            elif port.domain != "comb":
                m.d.comb += port.en.eq(value()[0])
        m.d.comb += [
            first.en.eq(value()),
            # Two writes of a word, or what is read of one being written, mean nothing.
            second.en.eq(Mux(first.addr == second.addr, 0, value())),
            whole.en.eq(value()[0] & ~reads[-1].en),
        ]
        return [port.data for port in reads]


@pytest.mark.parametrize("seed", [*range(2), *map(more, range(2, 60))])
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
        for clock in range(600):
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


class Both(wiring.Component):
    """A :class:`Part` with two banks."""

    bank: In(1)
    edge: In(1)
    i: In(WIDTH)
    o: Out(WIDTH)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        part = Part(0, True)
        m.submodules.both = Banked(bank=self.bank, edge=self.edge)(part)
        m.d.comb += [part.i.eq(self.i), self.o.eq(part.o)]
        return m


def test_no_bit_is_driven_twice() -> None:
    """(The simulator does not mind.)"""
    assert "module \\top.both.inner.inner" in rtlil(Both(), "top")


class Ram(wiring.Component):
    """A :class:`BlockRam` with two banks."""

    bank: In(1)
    edge: In(1)
    en: In(1)
    we: In(1)
    addr: In(2)
    i: In(8)
    o: Out(8)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        block = Module()
        block.submodules.ram = ram = BlockRam(shape=8, depth=4)
        write, read = ram.write_port(), ram.read_port()
        block.d.comb += [write.en.eq(self.we), write.addr.eq(self.addr), write.data.eq(self.i),
                         read.en.eq(self.en), read.addr.eq(self.addr), self.o.eq(read.data)]
        m.submodules.both = Banked(bank=self.bank, edge=self.edge)(block)
        return m


def test_a_banked_memory_is_one_memory_to_synthesis() -> None:
    """It has twice the words and its attributes, and no reset changes what was read."""
    text = rtlil(Ram(), "top")
    assert "  attribute \\no_rw_check 1\n  memory width 8 size 8 " in text
    assert "cell $dff " in text and "cell $adff " not in text


def has_a_port(name: str) -> Any:
    def add(m: Module) -> None:
        m.submodules.ram = ram = memory.Memory(shape=8, depth=4, init=[])
        getattr(ram, name)(domain="other")
    return add


def has_a_clock(m: Module) -> None:
    m.submodules.inner = inner = Module()
    inner.domains.sync = ClockDomain(local=True)
    inner.d.sync += Signal().eq(1)


def has_a_pin(m: Module) -> None:
    m.submodules.buffer = io.Buffer("o", io.SingleEndedPort(IOPort(1, name="pin"), direction="o"))


def says(domain: str, statement: Callable[[], Any]) -> Any:
    def add(m: Module) -> None:
        with m.If(Signal()):
            m.d[domain] += statement()
    return add


@pytest.mark.parametrize("add, what", [
    (says("other", lambda: Signal().eq(1)), "domain 'other'"),
    (has_a_port("read_port"), "domain 'other'"),
    (has_a_port("write_port"), "domain 'other'"),
    (has_a_clock, "domain 'sync'"),
    (lambda m: m.submodules.__iadd__(Instance("core", i_a=Signal())), "an instance of core"),
    (has_a_pin, "a buffer of pins"),
    (says("sync", lambda: Assert(Signal())), "a check"),
    (says("comb", lambda: Assert(Signal())), "a check"),
    (says("sync", lambda: Print("hello")), "a Print"),
    (says("comb", lambda: Print("hello")), "a Print"),
])
def test_blocks_that_cannot_be_banked_are_refused(add: Any, what: str) -> None:
    m = Module()
    add(m)
    banked = DomainRenamer("banks")(Banked(bank=Signal(), edge=Signal())(m))
    with pytest.raises(TypeError, match=f"^there are no two banks of {what}$"):
        banked.elaborate(None)
