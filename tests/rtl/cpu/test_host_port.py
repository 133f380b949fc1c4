"""The host port with its bus, cache and memory: exact cycles, held against a model of them."""

import random
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import cocotb
import pytest
from nicbed.layouts.operations import NIC_BASE, Answer, Flag, Op, Status
from nicbed.layouts.rate import fixed_point
from nicbed.rtl.cpu.host_port import HostPort
from nicbed.rtl.cpu.port_shape import PortShape

from tests.labs.bench import cycles, parameters, reset_and_clock, run_bench, seed
from tests.labs.port_system import Driver, Engine, PortSystem, entry
from tests.labs.rows import more
from tests.models.host_port import PortModel

ALL = (1 << 64) - 1
DEFAULTS = {"bus.pio_write": 4, "bus.pio_read": 12, "bus.burst_beat": 1, "memory.latency": 8,
            "memory.bytes_per_cycle": 8}


def listed(blocks: list[list[bytes]]) -> Iterator[list[bytes]]:
    """A program of the given blocks."""
    for block in blocks:
        _ = yield block


def work(whole: float) -> int:
    """Cycles as a work field."""
    return round(whole * 256)


_clocked: list[Any] = []


async def start(dut: Any, **knobs: Any) -> Driver:
    """A driver with the given knobs; the clock is started once in a simulation."""
    if not _clocked:
        _clocked.append(dut)
        await reset_and_clock(dut)
    dut.calm.value = 1
    return Driver(dut, {**DEFAULTS, **{name.replace("__", "."): value
                                       for name, value in knobs.items()}})


async def spans(driver: Driver, *blocks: list[bytes]) -> list[int]:
    """Cycles that each operation took."""
    answers = await driver.run(listed(list(blocks)))
    ends = [0, *(answer.cycle for answer in answers)]
    return [end - begin for begin, end in zip(ends, ends[1:], strict=False)]


@cocotb.test()
async def takes_the_promised_cycles(dut: Any) -> None:
    driver = await start(dut)
    nic = NIC_BASE + 0x100
    posted, store = Flag.POSTED, Flag.STORE
    one = (5, 6, 7, 8)
    cases: list[tuple[bytes, int]] = [
        (entry(Op.DELAY, work=work(5)), 5),
        (entry(Op.DELAY, work=work(1)), 1),
        (entry(Op.DELAY, work=work(1)), 1),
        (entry(Op.DELAY, work=work(1.5)), 1),
        (entry(Op.DELAY, work=work(1.5)), 2),
        (entry(Op.DELAY), 1),
        (entry(Op.PIO_READ, address=nic), 13),
        (entry(Op.PIO_READ, address=nic, work=work(3)), 16),
        (entry(Op.PIO_WRITE, address=nic, count=1, data=one), 5),
        (entry(Op.PIO_WRITE, address=nic, count=4, data=one), 8),
        (entry(Op.PIO_WRITE, address=nic, count=4, data=one, flags=posted), 4),
        (entry(Op.PIO_WRITE, address=nic, count=1, data=one, flags=posted, work=work(2)), 3),
        (entry(Op.DELAY, work=work(50)), 50),
        (entry(Op.PIO_WRITE, address=nic, count=2, data=one, flags=posted), 2),
        # Taken at 0 and 1, on the bus from 1 to 5; the read from 6 to 17.
        (entry(Op.PIO_READ, address=nic), 16),
        (entry(Op.TOUCH, address=0x40, length=1), 14),
        (entry(Op.TOUCH, address=0x40, length=32), 1),
        (entry(Op.TOUCH, address=0x5F, length=2), 1 + 14),
        (entry(Op.TOUCH, address=0x40, length=64, flags=store), 2),
        # The other line of the same set, over a dirty victim; then it is clean.
        (entry(Op.TOUCH, address=0x40 + 16 * 32, length=8), 19),
        (entry(Op.TOUCH, address=0x40, length=8), 14),
        (entry(Op.CAS, address=0x80, data=(0, 9)), 13),
        (entry(Op.CAS, address=0x80, data=(0, 10)), 11),
        (entry(Op.POLL, address=0x80, data=(9, ALL)), 14),
        (entry(Op.POLL, address=0x80, data=(9, ALL)), 1),
        (entry(Op.POLL, address=0x80, data=(9, ALL), work=work(2)), 3),
        (entry(Op.POLL, address=0x80, data=(9, ALL, work(4)), work=work(2)), 7),
        (entry(Op.POLL, address=nic, data=(0, 0)), 13),
        (entry(Op.STOP, work=work(2)), 3),
    ]
    blocks = [[case] for case, _ in cases]
    driver_spans = await spans(driver, *blocks[:-1])
    assert driver_spans == [span for _, span in cases[:-1]]
    answers = await driver.run(listed([[case for case, _ in cases[at:at + 6]]
                                       for at in range(0, len(cases) - 1, 6)][:4]))
    # In blocks of six the same cycles; the CAS sees what the first run left.
    upto = 21
    assert [answer.cycle for answer in answers[:upto]] == \
        [sum(driver_spans[:at + 1]) for at in range(upto)]


@cocotb.test()
async def ends_a_program(dut: Any) -> None:
    driver = await start(dut)
    await driver.reset()
    dut.port0_entries.value = int.from_bytes(entry(Op.STOP), "little")
    dut.port0_count.value = 1
    dut.go.value = 1 - int(dut.go.value)
    before = int(dut.attention.value)
    await cycles(dut, 3)
    assert int(dut.stopped.value) == 1 and int(dut.stall.value) == 0
    assert int(dut.attention.value) == before


@cocotb.test()
async def answers_with_fractions(dut: Any) -> None:
    driver = await start(dut)
    answers = await driver.run(listed([
        [entry(Op.DELAY, work=work(2.75)), entry(Op.DELAY, work=work(0.5))],
        [entry(Op.PIO_WRITE, address=NIC_BASE, count=1, flags=Flag.POSTED, work=work(1.75))]]))
    assert answers == [Answer(2, 0xC0 << 24, 0), Answer(3, 0x40 << 24, 0), Answer(6, 0, 0)]


@cocotb.test()
async def times_out(dut: Any) -> None:
    driver = await start(dut)
    later = entry(Op.DELAY, work=work(3))
    discarded = Answer(0, Status.DISCARDED, 0)
    wait = [entry(Op.WAIT_IRQ, length=30), later, later]
    assert await driver.run(listed([wait, [later]])) == [
        Answer(30, Status.TIMEOUT, 0), discarded, discarded, Answer(33, 0, 0)]
    # Checks of 2 cycles after one of 15: ends with the check in which the time ran out.
    poll = [entry(Op.POLL, address=0x200, length=20, data=(1, ALL), work=work(1)), later]
    first, second = await driver.run(listed([poll]))
    assert first == Answer(21, Status.TIMEOUT | 2 << 8, 0) and second == discarded
    # One round only, and the block goes on.
    once = entry(Op.POLL, address=0x200, data=(1, ALL), work=work(1), flags=Flag.ONCE)
    watch = entry(Op.WATCH, address=0x220, data=(1, ALL), work=work(1))
    assert (await driver.run(listed([[once, later], [watch, once, later]])))[-3:] == [
        Answer(19, 0, 0), Answer(50, Status.TIMEOUT | 15 << 8, 0), Answer(53, 0, 0)]


@cocotb.test()
async def sees_interrupts(dut: Any) -> None:
    for latency, rise, end in ((20, 10, 30), (1, 10, 11), (0, 10, 11), (5, 2, 7)):
        driver = await start(dut, nic__irq_latency=latency)
        driver.on_cycle.append(lambda cycle, at=rise: setattr(dut.irq, "value", int(cycle >= at)))
        wait = entry(Op.WAIT_IRQ)
        seen = Status.IRQ
        assert await driver.run(listed([[wait, wait]])) == [Answer(end, seen, 0),
                                                            Answer(end + 1, seen, 0)]
        # A wait that begins later, and one whose time runs out just before and just at it.
        delay = entry(Op.DELAY, work=work(40))
        assert (await driver.run(listed([[delay, wait]])))[1] == Answer(41, seen, 0)
        assert (await driver.run(listed([[entry(Op.WAIT_IRQ, length=end)]]))) == [
            Answer(end, seen, 0)]
        assert (await driver.run(listed([[entry(Op.WAIT_IRQ, length=end - 1)]]))) == [
            Answer(end - 1, Status.TIMEOUT, 0)]
        # What is left of a delay comes back, and the rest of its block is discarded.
        work_left = work(50.5) - work(end)
        answers = await driver.run(listed([
            [entry(Op.DELAY, work=work(50.5), flags=Flag.INTERRUPTIBLE), wait]]))
        assert answers == [Answer(end, seen | Status.INTERRUPTED | 0x80 << 24, work_left & ~255),
                           Answer(0, Status.DISCARDED, 0)]
        # A delay that an interrupt may not end, and one that it meets in its last cycle.
        for length, flags in ((50, 0), (end, Flag.INTERRUPTIBLE)):
            assert await driver.run(listed([
                [entry(Op.DELAY, work=work(length), flags=flags)]])) == [Answer(length, seen, 0)]
        # The line counts as it is when an operation ends, and not as it was before.
        short = entry(Op.DELAY, work=work(end - 1))
        assert await driver.run(listed([[short, entry(Op.DELAY)]])) == [
            Answer(end - 1, 0, 0), Answer(end, seen, 0)]


@cocotb.test()
async def forgets_an_interrupt_that_fell(dut: Any) -> None:
    driver = await start(dut, nic__irq_latency=20)
    driver.on_cycle.append(
        lambda cycle: setattr(dut.irq, "value", int(5 <= cycle < 20 or cycle >= 60)))
    assert await driver.run(listed([[entry(Op.WAIT_IRQ)]])) == [Answer(80, Status.IRQ, 0)]


@cocotb.test()
async def says_which_process_it_is(dut: Any) -> None:
    driver = await start(dut)
    await driver.run(listed([
        [entry(Op.PIO_WRITE, address=NIC_BASE + 0x100_0000, data=(1, 2), count=2, process=200,
               flags=Flag.POSTED),
         entry(Op.PIO_READ, address=NIC_BASE, process=3),
         entry(Op.PIO_WRITE, address=NIC_BASE + 0x1FF_FFF8, count=1)]]))
    assert driver.processes == [200, 200, 3, 0]
    assert [address for _, address, _, _ in driver.writes] == [0x100_0000, 0x100_0008, 0x1FF_FFF8]


def random_blocks(rng: random.Random, count: int, timeouts: bool = True) -> list[list[bytes]]:
    """Operations in groups that must stay in one block, with all kinds of operands; without
    ``timeouts`` none discards the rest of its block."""
    groups = []
    words = [8 * rng.randrange(64) + 0x200 * rng.randrange(3) for _ in range(6)]
    addresses = [NIC_BASE + 8 * rng.randrange(32) for _ in range(4)]
    for _ in range(count):
        kind = rng.choice(["delay", "read", "write", "write", "touch", "touch", "poll", "polls",
                           "cas", *(["wait"] if timeouts else [])])
        spent = rng.choice([0, 0, work(1), rng.randrange(1000), rng.randrange(5000)])
        if kind == "delay":
            groups.append([entry(Op.DELAY, work=spent)])
        elif kind == "read":
            groups.append([entry(Op.PIO_READ, work=spent, address=rng.choice(addresses))])
        elif kind == "write":
            groups.append([entry(Op.PIO_WRITE, work=spent, address=rng.choice(addresses),
                                 count=rng.randint(1, 4), trace=rng.getrandbits(24),
                                 data=tuple(rng.getrandbits(64) for _ in range(4)),
                                 flags=rng.choice([0, Flag.POSTED, Flag.POSTED]))])
        elif kind == "touch":
            groups.append([entry(Op.TOUCH, work=spent, address=rng.randrange(0x1000),
                                 length=rng.choice([1, 8, 32, rng.randrange(200)]),
                                 flags=rng.choice([0, Flag.STORE]))])
        elif kind == "cas":
            groups.append([entry(Op.CAS, work=spent, address=rng.choice(words),
                                 data=(rng.randrange(3), rng.randrange(3)))])
        elif kind == "wait":
            groups.append([entry(Op.WAIT_IRQ, work=spent, length=rng.randint(1, 40))])
        else:
            watches = rng.randint(2, 4) if kind == "polls" else 1
            groups.append([
                entry(Op.POLL if number == watches - 1 else Op.WATCH,
                      work=rng.choice([0, work(1), rng.randrange(900)]),
                      address=rng.choice([*words, addresses[0]]),
                      length=rng.choice([1, 30, 100]) if timeouts else 0,
                      data=(rng.randrange(3), rng.choice([3, ALL]), rng.choice([0, 0, spent])),
                      flags=rng.choice([0, Flag.NOT_EQUAL])
                      | (rng.choice([0, Flag.ONCE] if timeouts else [Flag.ONCE])
                         if number == watches - 1 else 0))
                for number in range(watches)])
    return groups


def blocks_of(rng: random.Random, groups: list[list[bytes]], largest: int) -> list[list[bytes]]:
    """The same groups in blocks of random sizes."""
    blocks: list[list[bytes]] = []
    for group in groups:
        if blocks and len(blocks[-1]) + len(group) <= min(6, rng.randint(1, max(largest, 1))):
            blocks[-1] = blocks[-1] + group
        else:
            blocks.append(group)
    return blocks


@cocotb.test()
async def agrees_with_the_model(dut: Any) -> None:
    given = parameters()
    for turn in range(given["turns"]):
        rng = random.Random(seed() * 1000 + turn)
        rate = rng.choice([Fraction(8), Fraction(8), Fraction(3), Fraction(160, 33),
                           Fraction(1, 2)])
        timing = {"bus.pio_write": rng.choice([1, 2, 4, 9]), "bus.pio_read": rng.choice([2, 3, 12]),
                  "bus.burst_beat": rng.choice([1, 2, 5]),
                  "memory.latency": rng.choice([0, 1, 8, 20])}
        driver = await start(dut, memory__bytes_per_cycle=rate,
                             **{name.replace(".", "__"): value for name, value in timing.items()})
        driver.skip = rng.random() < 0.5
        blocks = blocks_of(rng, random_blocks(rng, 60), rng.choice([1, 3, 6]))
        # Words that a former turn left in memory.
        memory = given.setdefault("memory", {})
        model = PortModel({**timing, "rate": fixed_point(rate)},
                          posted_writes=given["posted_writes"], cache_lines=given["cache_lines"],
                          memory=memory, pio_width=given.get("pio_width", 8),
                          l2_lines=given.get("l2_lines", 0), l2_hit=given.get("l2_hit", 0))
        answers = await driver.run(listed(blocks), limit=100000)
        expected = [answer for block in blocks for answer in model.run(block)]
        for number, (got, wanted) in enumerate(zip(answers, expected, strict=True)):
            assert wanted is None or tuple(got) == wanted, \
                f"turn {turn}, answer {number}: {got}, not {wanted}"
        # The last posted writes may be on their way when the program ends.
        assert driver.writes == [write for write in model.writes if write[0] < model.now]


def noisy(rng: random.Random, engine: Engine) -> Any:
    """Keeps the engine at it: bursts over the words that polls watch."""
    def call(cycle: int) -> None:
        if cycle == 0 and not engine.busy:
            engine.write(0, [0] * 400)
        if not engine.busy and rng.random() < 0.3:
            beats = rng.randint(1, 12)
            address = 8 * rng.randrange(200 - beats)
            if rng.random() < 0.6:
                engine.write(address, [rng.randrange(3) for _ in range(beats)],
                             jump=rng.choice([None, 8 * rng.randrange(200)]))
            else:
                engine.fetch(address, beats)
    return call


@cocotb.test()
async def is_the_same_in_blocks_of_any_size(dut: Any) -> None:
    """Under DMA and interrupts, too: same cycles, whatever the blocks."""
    for turn in range(parameters()["turns"]):
        logs = []
        for largest in (1, 6, 3):
            rng = random.Random(seed() * 77 + turn)
            groups = random_blocks(rng, 40, timeouts=False)
            driver = await start(dut, memory__latency=rng.choice([0, 8]),
                                 bus__bytes_per_cycle=rng.choice([Fraction(8), Fraction(3)]))
            # The same memory at the beginning of each run: written by DMA while the port delays.
            engine = Engine(dut, stall=0.2, seed=turn)
            noise = noisy(random.Random(turn), engine)
            driver.on_cycle.append(lambda cycle, noise=noise: noise(cycle))
            driver.on_cycle.append(lambda cycle: setattr(dut.irq, "value", cycle >> 6 & 1))
            engine.start(dut)
            answers = await driver.run(listed(blocks_of(
                random.Random(largest), [[entry(Op.DELAY, work=work(2500))], *groups], largest)))
            engine.stop()
            assert len(engine.done) > 20
            logs.append([answer for answer, group in zip(
                answers, [item for group in [[b"\0"], *groups] for item in group], strict=True)
                if group[0] & 15 != Op.WATCH])
        assert logs[0] == logs[1] == logs[2], turn


@cocotb.test()
async def never_reads_what_is_old(dut: Any) -> None:
    """A word that DMA wrote is seen by the next check, however the line was cached before."""
    driver = await start(dut)
    rng = random.Random(seed())
    engine = Engine(dut, stall=0.3, seed=seed())
    engine.start(dut)
    landed: dict[int, int] = {}

    def program() -> Iterator[list[bytes]]:
        for value in range(1, 80):
            address = 8 * rng.randrange(16)
            beats = rng.randint(1, 3)
            engine.write(address, [value] * beats, jump=0x100)
            landed[address if beats > 1 else 0x100] = value
            yield [entry(Op.TOUCH, address=rng.randrange(0x200), length=rng.randrange(64),
                         flags=rng.choice([0, Flag.STORE]))]
            answers = yield [entry(Op.POLL, address=0x100, data=(value, ALL), length=500,
                                   work=rng.choice([0, work(1)]))]
            assert answers[0].data == value and not answers[0].status & Status.TIMEOUT, \
                f"write {value} was not seen"

    await driver.run(program())
    engine.stop()


@cocotb.test()
async def swaps_atomically(dut: Any) -> None:
    """A DMA write at any moment of a swap outlasts it: else the swap sees it and does nothing."""
    driver = await start(dut, memory__latency=4)
    engine = Engine(dut, seed=seed())
    engine.start(dut)
    seen = set()

    def program() -> Iterator[list[bytes]]:
        for wait in range(1, 40):
            _ = yield [entry(Op.CAS, address=0x40, data=(5 if wait > 1 else 0, 7))]
            engine.write(0x40, [5])
            answers = yield [entry(Op.DELAY, work=work(wait)),
                             entry(Op.CAS, address=0x40, data=(7, 9)),
                             entry(Op.DELAY, work=work(80)),
                             entry(Op.CAS, address=0x40, data=(1, 1))]
            seen.add(answers[1].data)
            assert answers[3].data == 5, wait

    await driver.run(program())
    assert seen == {5, 7}
    engine.stop()


@cocotb.test()
async def skipping_changes_nothing(dut: Any) -> None:
    rng = random.Random(seed())
    groups = [[entry(Op.DELAY, work=rng.randrange(300000), flags=Flag.INTERRUPTIBLE)]
              if rng.random() < 0.4 else group for group in random_blocks(rng, 60)
              if group[0][0] & 15 != Op.CAS]
    logs, edges = [], []
    for skip in (False, True):
        driver = await start(dut)
        driver.skip = skip
        logs.append(await driver.run(listed(groups), limit=200000))
        edges.append(driver.edges)
    assert logs[0] == logs[1]
    assert edges[1] < edges[0] / 3


@cocotb.test()
async def expires(dut: Any) -> None:
    for skip in (False, True):
        driver = await start(dut)
        driver.skip = skip
        driver.limit = 300
        with pytest.raises(TimeoutError, match="expired at cycle 300"):
            await driver.run(listed([[entry(Op.DELAY, work=work(100))], [entry(Op.WAIT_IRQ)]]))


@pytest.mark.promise("PIO write", "1 beat, not posted, bus.pio_write = 4", "5")
@pytest.mark.promise("PIO write", "4 beats, not posted, bus.burst_beat = 1", "8")
@pytest.mark.promise("PIO write", "posted, room in the buffer", "1 a beat")
@pytest.mark.promise("PIO read", "bus.pio_read = 12, no posted write before it", "13")
@pytest.mark.promise("load", "a miss on a clean line, memory.latency = 8", "14")
@pytest.mark.promise("load", "a miss over a dirty line", "19")
@pytest.mark.promise("load or store", "a hit", "1 a line")
@pytest.mark.promise("check of a poll", "a word that the port keeps", "1")
@pytest.mark.parametrize("testcase", [
    "takes_the_promised_cycles", "ends_a_program", "answers_with_fractions", "times_out",
    "sees_interrupts", "forgets_an_interrupt_that_fell", "says_which_process_it_is",
    "never_reads_what_is_old", "swaps_atomically", "skipping_changes_nothing", "expires"])
def test_port(testcase: str) -> None:
    run_bench(PortSystem(), __file__, testcase=testcase)


@cocotb.test()
async def takes_two_transfers(dut: Any) -> None:
    """On a bus of 4 bytes: its first and its further beats at lengths that no other sum has."""
    driver = await start(dut, bus__pio_write=9, bus__pio_read=50, bus__burst_beat=3)
    nic, one = NIC_BASE + 0x100, (5, 6, 7, 8)
    cases = [
        (entry(Op.PIO_READ, address=nic), 1 + 2 * 50),
        (entry(Op.PIO_WRITE, address=nic, count=1, data=one), 1 + 9 + 3),
        (entry(Op.PIO_WRITE, address=nic, count=4, data=one), 1 + 9 + 7 * 3),
        (entry(Op.PIO_WRITE, address=nic, count=4, data=one, flags=Flag.POSTED), 4),
        (entry(Op.DELAY, work=work(100)), 100),
        (entry(Op.POLL, address=nic, data=(0, 0)), 1 + 2 * 50),
    ]
    assert await spans(driver, *([case] for case, _ in cases)) == [span for _, span in cases]
    assert [value for _, _, value, _ in driver.writes] == [5, *one, *one]
    # The longest read, too.
    driver = await start(dut, bus__pio_read=4095)
    assert await spans(driver, [entry(Op.PIO_READ, address=nic)]) == [1 + 2 * 4095]


def test_on_a_bus_of_4_bytes() -> None:
    run_bench(PortSystem(bus__pio_width=4), __file__, testcase="takes_two_transfers")


def test_agrees_with_the_model_on_a_bus_of_4_bytes() -> None:
    run_bench(PortSystem(bus__pio_width=4), __file__, testcase="agrees_with_the_model", turns=4,
              posted_writes=16, cache_lines=16, pio_width=4)


@cocotb.test()
async def swaps_in_the_cache(dut: Any) -> None:
    """A CAS takes its line as a store does, and leaves it dirty."""
    driver = await start(dut, cpu__cas=9)
    cases = [
        (entry(Op.CAS, address=0x80, data=(0, 9)), 14 + 8),
        (entry(Op.CAS, address=0x88, data=(1, 2)), 9),
        (entry(Op.CAS, address=0x80, data=(9, 7)), 9),
        (entry(Op.TOUCH, address=0x80 + 16 * 32, length=8), 19),
        (entry(Op.CAS, address=0x80, data=(7, 5), work=work(3)), 3 + 14 + 8),
        (entry(Op.POLL, address=0x80, data=(5, ALL)), 14),
    ]
    assert await spans(driver, *([case] for case, _ in cases)) == [span for _, span in cases]


@pytest.mark.parametrize("testcase", ["swaps_in_the_cache", "swaps_atomically"])
def test_owned_swaps(testcase: str) -> None:
    run_bench(PortSystem(cpu__cas_place="cache"), __file__, testcase=testcase)


MANY = more(True, id="many")


@pytest.mark.parametrize("many", [pytest.param(False, id="few"), MANY])
@pytest.mark.parametrize("posted_writes, cache_lines", [more(16, 16), (2, 4), (5, 64)])
def test_agrees_with_the_model(posted_writes: int, cache_lines: int, many: bool) -> None:
    run_bench(PortSystem(bus__posted_writes=posted_writes, cpu__cache_lines=cache_lines), __file__,
              testcase="agrees_with_the_model", turns=12 if many else 6,
              posted_writes=posted_writes, cache_lines=cache_lines)


@pytest.mark.parametrize("cache_lines, l2_lines, l2_hit", [(4, 8, 5), more(8, 64, 2),
                                                           more(16, 32, 40)])
def test_agrees_with_the_model_of_two_levels(cache_lines: int, l2_lines: int, l2_hit: int) -> None:
    levels: dict[str, Any] = {"cache_lines": cache_lines, "l2_lines": l2_lines, "l2_hit": l2_hit}
    system = PortSystem(bus__posted_writes=2, **{f"cpu__{name}": value
                                                 for name, value in levels.items()})
    run_bench(system, __file__, testcase="agrees_with_the_model", turns=8, posted_writes=2,
              **levels)


@pytest.mark.parametrize("many", [pytest.param(False, id="few"), MANY])
@pytest.mark.parametrize("posted_writes, cache_lines", [more(16, 16), (3, 8)])
def test_same_in_blocks(posted_writes: int, cache_lines: int, many: bool) -> None:
    run_bench(PortSystem(bus__posted_writes=posted_writes, cpu__cache_lines=cache_lines), __file__,
              testcase="is_the_same_in_blocks_of_any_size", turns=4 if many else 1)


def port(source: int = 0, **shape: Any) -> HostPort:
    return HostPort(shape=PortShape(**{"posted_writes": 2, "cache_lines": 16, **shape}),
                    source=source)


def test_refuses_bad_parameters() -> None:
    with pytest.raises(ValueError, match="depth must be at least 2, not 1"):
        port(posted_writes=1)
    with pytest.raises(ValueError, match="lines must be a power of two, at least 2, not 12"):
        port(cache_lines=12)
    with pytest.raises(TypeError, match="depth must be an integer, not 2.0"):
        port(posted_writes=2.0)
    with pytest.raises(ValueError, match="source must be 0 to 15, not 16"):
        port(source=16)
    with pytest.raises(TypeError, match="shape must be a PortShape, not 16"):
        HostPort(shape=16)  # type: ignore[arg-type]


def test_its_shape_and_number_are_readable() -> None:
    shape = PortShape(posted_writes=2, cache_lines=16)
    made = HostPort(shape=shape, source=3)
    assert made.shape is shape and made.source == 3
