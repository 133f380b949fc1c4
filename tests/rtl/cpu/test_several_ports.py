"""Host ports of several CPUs: exact cycles, atomic and sequentially consistent whatever they do."""

import random
from collections import Counter
from typing import Any

import cocotb
import pytest
from nicbed.layouts.operations import Answer, Flag, Op, Status

from tests.labs.bench import parameters, reset_and_clock, run_bench, seed
from tests.labs.port_system import Engine, entry
from tests.labs.rows import more
from tests.labs.smp_system import Program, SmpDriver, SmpSystem, spans

ALL = (1 << 64) - 1
KNOBS = {"memory__latency": 8, "memory__intervention": 7, "memory__upgrade": 5, "cpu__cas": 9}
_clocked: list[Any] = []


async def start(dut: Any, **knobs: int) -> SmpDriver:
    if not _clocked:
        _clocked.append(dut)
        await reset_and_clock(dut)
    return SmpDriver(dut, parameters()["cpus"], **{**KNOBS, **knobs})


@cocotb.test()
async def takes_the_promised_cycles(dut: Any) -> None:
    x, far = 0x40, 0x40 + 4 * parameters()["line_bytes"]
    beats = parameters()["line_bytes"] // parameters()["beat_bytes"]

    def load(at: int = x) -> bytes:
        return entry(Op.TOUCH, address=at, length=1)

    def store(at: int = x) -> bytes:
        return entry(Op.TOUCH, address=at, length=1, flags=Flag.STORE)

    def poll(value: int) -> bytes:
        return entry(Op.POLL, address=x, data=(value, ALL), flags=Flag.ONCE)

    def cas(old: int, new: int) -> bytes:
        return entry(Op.CAS, address=x, data=(old, new))

    for latency, intervention, upgrade, swap in ((8, 7, 5, 9), (0, 0, 2, 6), (30, 1, 3, 7)):
        driver = await start(dut, memory__latency=latency, memory__intervention=intervention,
                             memory__upgrade=upgrade, cpu__cas=swap)
        miss = latency + 2 + beats
        dirty = miss + intervention
        steps = [
            (0, load(), miss), (0, load(), 1),
            (0, store(), 1),  # alone: no one is asked
            (1, load(), dirty), (1, load(), 1), (0, load(), 1),
            (0, store(), upgrade), (0, store(), 1),
            (1, load(), dirty), (1, store(), upgrade),
            (0, store(), dirty), (1, store(), dirty),
            (0, cas(0, 5), dirty + swap - 1), (0, cas(5, 6), swap), (0, cas(5, 7), swap),
            (1, poll(6), dirty), (1, poll(6), 1), (0, load(), 1), (1, poll(7), 1),
            (1, cas(6, 8), upgrade + swap - 1), (1, poll(8), miss), (1, poll(8), 1),
            # A victim that is dirty, one that another has read, and one never written to.
            (1, load(far), miss + beats + 1), (0, store(), miss), (1, load(), dirty),
            (0, load(far), miss), (0, load(), miss), (1, load(), 1),
        ]
        found = await spans(driver, [step[:2] for step in steps])
        wrong = [(number, span, step[-1]) for number, (span, step) in enumerate(
            zip(found, steps, strict=True)) if span != step[-1]]
        assert not wrong, f"latency {latency}: (step, cycles, expected cycles) {wrong}"


@cocotb.test()
async def block_stores_take_the_promised_cycles(dut: Any) -> None:
    line = parameters()["line_bytes"]
    beats, x, y, far = line // 8, 2 * line, 3 * line, 2 * line + 4 * line

    def touch(at: int, flags: int = 0, length: int = line) -> bytes:
        return entry(Op.TOUCH, address=at, length=length, flags=flags)

    load, store, block = touch(x), touch(x, Flag.STORE), touch(x, Flag.STORE | Flag.BLOCK)
    rest = (0, entry(Op.DELAY, work=60 << 8), 60)
    for latency in (8, 0, 30):
        driver = await start(dut, memory__latency=latency)
        miss = latency + 2 + beats
        steps = [
            (0, load, miss), (1, block, 1), rest, (0, load, miss), (0, load, 1),
            (0, block, 1), rest, (0, load, miss), (1, load, miss), (1, block, 1), rest,
            (0, store, miss), (1, block, 1), rest,
            # Dirty in another cache, and in this one: nothing is written back.
            (0, load, miss), (0, store, 1), (0, block, 1), rest, (0, touch(far), miss),
        ]
        found = await spans(driver, [step[:2] for step in steps])
        assert found == [step[-1] for step in steps], f"latency {latency}: {found}"

        # The write occupies the buffer, and holds its line; what is elsewhere goes on.
        other = touch(y, Flag.STORE | Flag.BLOCK)
        driver = await start(dut, memory__latency=latency)
        ends: dict[str, list[int]] = {}

        def first(driver: SmpDriver = driver, ends: dict[str, list[int]] = ends,
                  other: Any = other) -> Program:
            answers = yield [entry(Op.DELAY, work=10 << 8), block, load, other, other, touch(far)]
            ends["first"] = [answer.cycle for answer in answers]

        def second(driver: SmpDriver = driver, ends: dict[str, list[int]] = ends) -> Program:
            answers = yield [entry(Op.DELAY, work=11 << 8), load]
            ends["second"] = [answer.cycle for answer in answers]

        await driver.run([first(), second(), *(iter_nothing() for _ in range(driver.cpus - 2))])
        begins, free = 10, 10 + beats + 2
        assert ends["first"][:2] == [begins, begins + 1]
        # Two waited for the line, and the one that reads it holds it.
        assert sorted([ends["first"][2], ends["second"][1]]) == [free + miss, free + 2 * miss]
        again = ends["first"][3]
        assert again == ends["first"][2] + 1 and ends["first"][4] == again + beats + 2


@cocotb.test()
async def a_shared_line_is_not_exclusive(dut: Any) -> None:
    """Who reads a line that another holds stores to it by an upgrade, and so does the other."""
    driver = await start(dut)
    load, store = (entry(Op.TOUCH, address=0x80, length=1, flags=flags)
                   for flags in (0, Flag.STORE))
    last = driver.cpus - 1
    assert await spans(driver, [(0, load), (last, load), (last, store), (0, load), (0, store),
                                (0, store)]) == [14, 14, 5, 21, 5, 1]


def value_of(port: int, number: int) -> int:
    """A value that is written once."""
    return (port + 1) << 32 | number


class Checked:
    """Random programs, and what they must have seen."""

    def __init__(self, driver: SmpDriver, words: list[int], rng: random.Random) -> None:
        self.driver = driver
        self.words = words
        self.rng = rng
        self.counts: Counter[str] = Counter()
        self.number = 0

    def unique(self, port: int) -> int:
        self.number += 1
        return value_of(port, self.number)

    def filler(self) -> list[bytes]:
        rng = self.rng
        return [entry(Op.DELAY, work=rng.randrange(3000)) if rng.random() < 0.5 else
                entry(Op.TOUCH, address=rng.choice(self.words), length=rng.choice((1, 40)))
                for _ in range(rng.choice((0, 0, 0, 1, 2)))]

    def program(self, port: int, count: int) -> Program:
        rng, driver = self.rng, self.driver
        for _ in range(count):
            before = self.filler()
            address = rng.choice(self.words)
            begun = driver.cycle
            kind = rng.random()
            if kind < parameters()["blocks"]:
                line = parameters()["line_bytes"]
                first, length = address & -line, line * rng.choice((1, 1, 3))
                yield [*before, entry(Op.TOUCH, address=first, length=length,
                                      flags=Flag.STORE | Flag.BLOCK, work=rng.choice((0, 300)))]
                for word in self.words:
                    if first <= word < first + length:
                        driver.write(word, self.unique(port))
                self.counts["block"] += 1
            elif kind < 0.3:
                length = rng.choice((8, 8, 8, 64, 100))
                yield [*before, entry(Op.TOUCH, address=address, length=length, flags=Flag.STORE,
                                      work=rng.choice((0, 300)))]
                for word in (address, address + length - 8 & ~7):
                    driver.write(word, self.unique(port))
                self.counts["store"] += 1
            elif kind < 0.7:
                expected = driver.memory.get(address, 0) if rng.random() < 0.9 else 1
                new = self.unique(port)
                answers = yield [*before, entry(Op.CAS, address=address, data=(expected, new),
                                                work=rng.choice((0, 300)))]
                self.swapped(answers[-1], address, expected, new, begun)
            else:
                wanted = driver.memory.get(address, 0) if rng.random() < 0.5 else 1
                answers = yield [*before, entry(
                    Op.POLL, address=address, data=(wanted, ALL), length=rng.randrange(1, 120),
                    flags=rng.choice((0, Flag.NOT_EQUAL)), work=rng.choice((0, 0, 200, 600)))]
                self.polled(answers[-1], address)

    def swapped(self, answer: Answer, address: int, expected: int, new: int, begun: int) -> None:
        """A swap that wrote found what it expected in the cycle in which it wrote."""
        driver = self.driver
        if answer.data == expected:
            assert driver.values_in(address, answer.cycle - 1, answer.cycle - 1) == {expected}
            assert (answer.cycle, new) in driver.history[address]
            self.counts["swapped"] += 1
        else:
            assert answer.data in driver.values_in(address, begun, answer.cycle - 1)
            assert all(value != new for _, value in driver.history.get(address, []))
            self.counts["differed"] += 1

    def polled(self, answer: Answer, address: int) -> None:
        """The last check saw a value of its own time."""
        length = answer.status >> Status.CHECK_SHIFT & 0xFFFF
        late = bool(answer.status & Status.TIMEOUT)
        first = answer.cycle - length - (address in self.of_nic)
        assert answer.data in self.driver.values_in(address, first, answer.cycle - 1), \
            f"a check of {length} cycles until {answer.cycle} of {address:#x}"
        self.counts["late" if late else "held"] += 1
        self.counts["polled"] += length == 1

    of_nic: frozenset[int] = frozenset()
    """Words that the NIC writes to: a write is snooped in the cycle after it, as with one CPU."""


@cocotb.test()
async def is_sequentially_consistent(dut: Any) -> None:
    given = parameters()
    counts: Counter[str] = Counter()
    for turn in range(given["turns"]):
        rng = random.Random(f"{seed()} {turn}")
        driver = await start(dut, memory__latency=rng.choice((0, 3, 8)),
                             memory__intervention=rng.choice((0, 1, 9)),
                             memory__upgrade=rng.choice((2, 4)), cpu__cas=rng.choice((6, 7, 11)))
        # Few lines, so that they are fought for; some share a slot.
        line = given["line_bytes"]
        words = [line * place + 8 * rng.randrange(line // 8)
                 for place in rng.sample(range(12), given["shared"])]
        checked = Checked(driver, words, rng)
        engine = Engine(dut, stall=0.3, seed=turn)
        nic = [word ^ 8 for word in words]
        if given["dma"]:
            checked.words = words + nic
            checked.of_nic = frozenset(nic)

            def move(cycle: int, engine: Engine = engine, nic: list[int] = nic,
                     checked: Checked = checked, rng: random.Random = rng) -> None:
                if not engine.busy and rng.random() < 0.05:
                    at = rng.choice(nic)
                    if rng.random() < 0.5:
                        engine.write(at, [checked.unique(40)])
                    else:
                        engine.fetch(at & -64, 8)

            driver.on_cycle.append(move)
            engine.start(dut)
        await driver.run([checked.program(port, given["count"]) for port in range(driver.cpus)])
        if given["dma"]:
            engine.stop()
        counts += checked.counts
    assert len(counts) == 6 + bool(given["blocks"]), counts


@cocotb.test()
async def counts_by_swaps(dut: Any) -> None:
    """Each CPU adds to one counter, without a pause, until it has added as often as it has to: so
    none starves while others swap."""
    each = 12
    for swap in (6, 7, 8, 13):
        driver = await start(dut, cpu__cas=swap)

        def program(rng: random.Random, driver: SmpDriver = driver) -> Program:
            value = 0
            for _ in range(each):
                while True:
                    [answer] = yield [entry(Op.CAS, address=0x48, data=(value, value + 1),
                                            work=rng.choice((0, 0, 90)))]
                    found, value = answer.data == value, answer.data
                    if found:
                        value += 1
                        break

        await driver.run([program(random.Random(port)) for port in range(driver.cpus)])
        assert driver.memory[0x48] == each * driver.cpus


@cocotb.test()
async def a_lock_changes_hands_under_fire(dut: Any) -> None:
    """One CPU holds a lock; the others try to take it, back to back in blocks of six. It can still
    store to the lock's line."""
    driver = await start(dut, cpu__cas=6)
    freed = []

    def holder() -> Program:
        driver.write(0x40, 1)
        yield [entry(Op.DELAY, work=200 << 8)]
        yield [entry(Op.TOUCH, address=0x40, length=8, flags=Flag.STORE)]
        driver.write(0x40, 0)
        freed.append(driver.cycle)

    def taker() -> Program:
        while True:
            answers = yield [entry(Op.CAS, address=0x40, data=(0, 2))] * 6
            if freed:
                return
            assert all(answer.data for answer in answers)

    await driver.run([holder(), *(taker() for _ in range(driver.cpus - 1))])
    assert freed[0] < 200 + 40 * driver.cpus


@cocotb.test()
async def no_wake_up_is_lost(dut: Any) -> None:
    """A store that ends in each cycle around the checks of spinning CPUs, to one line or to several
    of which the others read the first or the second one again meanwhile."""
    line = parameters()["line_bytes"]
    for first, length in ((0x40, 8), (0x40, 8 + 2 * line), (0x40 - line, 8 + 2 * line)):
        for delay in range(30, 30 + parameters()["cycles"]):
            for work in (0, 1, 3):
                driver = await start(dut, memory__latency=4, memory__intervention=3,
                                     memory__upgrade=2)
                ended: list[int] = []

                def writer(driver: SmpDriver = driver, ended: list[int] = ended,
                           delay: int = delay, first: int = first, length: int = length
                           ) -> Program:
                    yield [entry(Op.DELAY, work=delay << 8)]
                    yield [entry(Op.TOUCH, address=first, length=length, flags=Flag.STORE)]
                    driver.write(0x40, 7)
                    ended.append(driver.cycle)

                def spinner(driver: SmpDriver = driver, ended: list[int] = ended,
                            work: int = work) -> Program:
                    [answer] = yield [entry(Op.POLL, address=0x40, data=(7, ALL),
                                            work=work << 8, length=4000)]
                    assert not answer.status & Status.TIMEOUT and answer.data == 7
                    # The check that is under way, and one that reads; others read, too.
                    assert ended and answer.cycle - ended[0] <= 2 * (work + 13 * driver.cpus)

                await driver.run([writer(), *(spinner() for _ in range(driver.cpus - 1))])


@cocotb.test()
async def spinning_costs_no_memory(dut: Any) -> None:
    driver = await start(dut)
    seen: list[int] = []

    def spinner() -> Program:
        yield [entry(Op.POLL, address=0x40, data=(7, ALL), length=60)]
        seen.append(driver.beats)
        yield [entry(Op.POLL, address=0x40, data=(7, ALL), length=300)]
        seen.append(driver.beats)

    def neighbour() -> Program:
        """Stores beside, to another line, in the cache already."""
        yield [entry(Op.TOUCH, address=0x60, length=1, flags=Flag.STORE)]
        for _ in range(20):
            yield [entry(Op.TOUCH, address=0x60, length=1, flags=Flag.STORE)]

    await driver.run([spinner(), neighbour()] + [iter_nothing() for _ in range(driver.cpus - 2)])
    assert seen[0] == seen[1] == 8


def iter_nothing() -> Program:
    yield from ()


TWO_LEVELS: dict[str, Any] = {"cpu__l2_lines": 8, "cpu__l2_hit": 3}


def system(cpus: int, line_bytes: int = 32, block_stores: bool = False, beat_bytes: int = 8,
           two_levels: bool = False) -> SmpSystem:
    return SmpSystem(cpus=cpus, cpu__line_bytes=line_bytes, memory__width=beat_bytes,
                     cpu__copy_by="block" if block_stores else "cache",
                     **(TWO_LEVELS if two_levels else {}))


def bench(testcase: str, cpus: int, line_bytes: int = 32, block_stores: bool = False,
          beat_bytes: int = 8, two_levels: bool = False, **arguments: Any) -> None:
    run_bench(system(cpus, line_bytes, block_stores, beat_bytes, two_levels), __file__,
              testcase=testcase, many_cycles=True, cpus=cpus, line_bytes=line_bytes,
              beat_bytes=beat_bytes, blocks=0.2 * block_stores, **arguments)


@pytest.mark.parametrize("testcase", [
    "takes_the_promised_cycles", "a_shared_line_is_not_exclusive", "counts_by_swaps",
    "a_lock_changes_hands_under_fire", "spinning_costs_no_memory"])
@pytest.mark.parametrize("cpus, line_bytes", [(2, 32), more(8, 32), more(3, 128)])
def test_directed(testcase: str, cpus: int, line_bytes: int) -> None:
    if line_bytes > 32 and testcase in ("a_shared_line_is_not_exclusive",
                                        "spinning_costs_no_memory"):
        pytest.skip("its figures are those of lines of 32 bytes")
    bench(testcase, cpus, line_bytes)


@pytest.mark.parametrize("cpus, line_bytes, shared, dma", [
    more(2, 32, 2, True), (3, 32, 5, True), more(8, 32, 6, True), more(8, 32, 3, False),
    more(4, 256, 4, True), more(2, 64, 1, True),
])
@pytest.mark.parametrize("turns", [3, more(20)])
def test_model(cpus: int, line_bytes: int, shared: int, dma: bool, turns: int) -> None:
    bench("is_sequentially_consistent", cpus, line_bytes, shared=shared, dma=dma, turns=turns,
          count=120)


@pytest.mark.parametrize("cpus, line_bytes, beat_bytes", [
    (2, 128, 32), more(4, 64, 16), more(3, 32, 32)])
def test_wide_beats(cpus: int, line_bytes: int, beat_bytes: int) -> None:
    bench("takes_the_promised_cycles", cpus, line_bytes, beat_bytes=beat_bytes)
    bench("is_sequentially_consistent", cpus, line_bytes, beat_bytes=beat_bytes, shared=4, dma=True,
          turns=3, count=120)


def test_block_stores() -> None:
    """One simulator for both: the cycles, and whatever the CPUs do."""
    bench("block_stores_take_the_promised_cycles", 2, block_stores=True)
    bench("is_sequentially_consistent", 2, block_stores=True, shared=4, dma=True, turns=3,
          count=120)


@pytest.mark.full
@pytest.mark.parametrize("cpus, line_bytes, shared, dma", [
    (2, 64, 2, True), (8, 32, 6, True), (4, 128, 3, False)])
def test_block_stores_of_others(cpus: int, line_bytes: int, shared: int, dma: bool) -> None:
    for testcase in ("block_stores_take_the_promised_cycles", "takes_the_promised_cycles",
                     "counts_by_swaps", "a_lock_changes_hands_under_fire"):
        bench(testcase, cpus, line_bytes, block_stores=True)
    bench("is_sequentially_consistent", cpus, line_bytes, block_stores=True, shared=shared,
          dma=dma, turns=10, count=120)


@pytest.mark.parametrize("cpus, cycles", [(2, 20), more(4, 30)])
def test_wake_ups(cpus: int, cycles: int) -> None:
    bench("no_wake_up_is_lost", cpus, cycles=cycles)


@pytest.mark.parametrize("cpus, line_bytes, turns, block_stores", [
    (3, 32, 3, False), more(2, 64, 20, False), more(8, 32, 20, False), more(4, 128, 10, True)])
def test_model_with_two_levels(cpus: int, line_bytes: int, turns: int, block_stores: bool) -> None:
    bench("is_sequentially_consistent", cpus, line_bytes, block_stores, two_levels=True, shared=5,
          dma=True, turns=turns, count=120)


@pytest.mark.full
@pytest.mark.parametrize("cpus", [2, 4])
def test_two_levels(cpus: int) -> None:
    bench("counts_by_swaps", cpus, two_levels=True)
    bench("a_lock_changes_hands_under_fire", cpus, two_levels=True)
    bench("no_wake_up_is_lost", cpus, two_levels=True, cycles=30)
