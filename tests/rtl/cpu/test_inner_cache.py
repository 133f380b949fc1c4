"""The first level of a CPU's cache, before a second one: exact cycles of loads."""

import re
from typing import Any

import cocotb
import pytest
from amaranth.back import rtlil
from nicbed.layouts.operations import Flag, Op
from nicbed.rtl.cpu.host_port import HostPort
from nicbed.rtl.cpu.inner_cache import InnerCache
from nicbed.rtl.cpu.port_shape import PortShape

from tests.labs.bench import reset_and_clock, run_bench
from tests.labs.port_system import Driver, PortSystem, entry
from tests.labs.smp_system import Program, SmpDriver, SmpSystem, spans

ALL = (1 << 64) - 1
L2 = 5
LEVELS: dict[str, Any] = {"cpu__cache_lines": 4, "cpu__l2_lines": 16, "cpu__l2_hit": L2}
MISS, UPGRADE, INTERVENTION = 14, 4, 7
_clocked: list[Any] = []


def load(line: int, *, lines: int = 1) -> bytes:
    return entry(Op.TOUCH, address=32 * line, length=32 * lines)


def store(line: int) -> bytes:
    return entry(Op.TOUCH, address=32 * line, length=8, flags=Flag.STORE)


def poll(line: int, value: int = 0) -> bytes:
    return entry(Op.POLL, address=32 * line, data=(value, ALL), flags=Flag.ONCE)


async def check(dut: Any, cases: list[tuple[bytes, int]]) -> None:
    """The operations of ``cases`` take their cycles, one after the other from reset on."""
    driver = Driver(dut, {"memory.latency": 8})
    answers = await driver.run([case] for case, _ in cases)
    ends = [0, *(answer.cycle for answer in answers)]
    found = [end - begin for begin, end in zip(ends, ends[1:], strict=False)]
    assert found == [cycles for _, cycles in cases]


@cocotb.test()
async def takes_the_promised_cycles(dut: Any) -> None:
    """Lines 0, 4, 8 and 12 share a place in the first level, 0 and 16 also one in the second."""
    await reset_and_clock(dut)
    dut.calm.value = 1
    await check(dut, [
        (load(0), MISS), (load(0), 1), (load(4), MISS), (load(4), 1), (load(0), L2), (load(0), 1),
        (load(1, lines=3), 3 * MISS), (load(0, lines=5), 4 + L2), (load(0, lines=5), L2 + 3 + L2),
        # A store waits for the second level alone, and brings nothing into the first one.
        (store(0), 1), (load(4), 1), (store(8), MISS), (load(4), 1), (load(8), L2), (store(8), 1),
        (load(8), 1),
        # What the second level replaces leaves the first one; a dirty line is written back.
        (load(16), MISS + 5), (load(0), MISS), (store(16), MISS), (load(0), MISS + 5),
        # So it does if a store brings it into the second level again.
        (store(16), MISS), (store(0), MISS + 5), (load(0), L2),
        # A poll's word that is kept costs what its line costs.
        (poll(0), MISS), (poll(0), 1), (load(4), L2), (poll(0), L2), (poll(0), 1),
        (poll(12), MISS), (load(12), 1), (load(0), L2),
        # A swap past the cache changes no level, and drops the word.
        (entry(Op.CAS, address=0, data=(9, 9)), 11), (poll(0), MISS), (load(0), 1), (load(1), 1),
    ])
    # Reset leaves nothing in any place of the first level.
    await check(dut, [(store(0), MISS), (load(0), L2), (store(3), MISS), (load(3), L2)])


async def loads_twice(dut: Any, taken: int, when: int) -> tuple[int, int]:
    """Cycles of two loads of line 0, which begin 60 cycles after all began; the line is in the
    second level alone. In cycle ``when`` the other CPU takes line ``taken``, which both have."""
    if not _clocked:
        _clocked.append(dut)
        await reset_and_clock(dut)
    driver = SmpDriver(dut, 2, memory__latency=8, memory__upgrade=UPGRADE,
                       memory__intervention=INTERVENTION)
    ends: list[int] = []

    def loader() -> Program:
        yield [load(0), load(3), load(4)]
        yield [entry(Op.DELAY, work=(200 - driver.cycle) << 8)]
        answers = yield [load(0), load(0)]
        ends.extend(answer.cycle for answer in answers)

    def taker() -> Program:
        yield [entry(Op.DELAY, work=70 << 8), load(taken)]
        yield [entry(Op.DELAY, work=(when - driver.cycle) << 8)]
        yield [store(taken)]

    await driver.run([loader(), taker()])
    return ends[0] - 200, ends[1] - ends[0]


@cocotb.test()
async def loses_its_line_in_each_cycle(dut: Any) -> None:
    """Of the wait for the second level: the line is read anew when the other CPU has stored."""
    late = UPGRADE + MISS + INTERVENTION
    for after in range(-3, 12):
        found = await loads_twice(dut, 0, 200 + after)
        if after < L2 - 1:
            assert found == (after + late, 1), after
        else:
            # The second load may begin in the cycle in which the store takes the line, or later.
            assert found[0] == L2, after
            begins = 200 + L2
            gone = 200 + after < begins
            assert found[1] == (late - 1 if gone else 1), after


@cocotb.test()
async def what_another_cpu_takes_leaves_both_levels(dut: Any) -> None:
    await reset_and_clock(dut)
    driver = SmpDriver(dut, 2, memory__latency=8, memory__intervention=INTERVENTION)
    steps = [(0, load(0), MISS), (0, load(0), 1), (1, store(0), MISS),
             (0, store(0), MISS + INTERVENTION), (0, load(0), L2), (0, load(0), 1)]
    assert await spans(driver, [step[:2] for step in steps]) == [step[2] for step in steps]


@cocotb.test()
async def enters_no_line_beside_a_change(dut: Any) -> None:
    """Of another line's tag, in the last cycle of the load."""
    for after in range(-3, 12):
        found = await loads_twice(dut, 3, 200 + after)
        assert found == (L2, L2 if after == L2 - 1 else 1), after


@pytest.mark.promise("load", "a line in the second level alone, cpu.l2_lines", "cpu.l2_hit")
def test_takes_the_promised_cycles() -> None:
    run_bench(PortSystem(**LEVELS), __file__, testcase="takes_the_promised_cycles")


@pytest.mark.parametrize("testcase", ["loses_its_line_in_each_cycle",
                                      "what_another_cpu_takes_leaves_both_levels",
                                      "enters_no_line_beside_a_change"])
def test_changes_meanwhile(testcase: str) -> None:
    run_bench(SmpSystem(cpus=2, **LEVELS), __file__, testcase=testcase, many_cycles=True)


def test_refuses_bad_parameters() -> None:
    with pytest.raises(ValueError, match="lines must be a power of two, at least 2, not 3"):
        InnerCache(lines=3, outer_lines=8, cycles=5)
    with pytest.raises(ValueError, match="outer_lines must be a power of two, at least 2, not 9"):
        InnerCache(lines=2, outer_lines=9, cycles=5)
    with pytest.raises(ValueError, match="outer_lines must be more than lines = 8, not 8"):
        InnerCache(lines=8, outer_lines=8, cycles=5)
    with pytest.raises(ValueError, match="cycles must be at least 2, not 1"):
        HostPort(shape=PortShape(posted_writes=2, cache_lines=2, l2_lines=4, l2_hit=1))
    with pytest.raises(TypeError, match="lines must be an integer, not 2.0"):
        InnerCache(lines=2.0, outer_lines=8, cycles=5)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="cycles must be an integer, not 2.5"):
        InnerCache(lines=2, outer_lines=8, cycles=2.5)  # type: ignore[arg-type]


def test_what_is_given_is_readable() -> None:
    inner = InnerCache(lines=4, outer_lines=8, cycles=9, line_bytes=64)
    assert (inner.lines, inner.outer_lines, inner.cycles, inner.line_bytes) == (4, 8, 9, 64)


@pytest.mark.parametrize("several", [{}, {"peers": 1}])
def test_one_level_is_built_without_it(several: dict[str, Any]) -> None:
    """Neither it, nor what tells it of tags."""
    one, two = (rtlil.convert(HostPort(shape=PortShape(posted_writes=2, cache_lines=4,
                                                       l2_lines=lines, **several)),
                              name="top", emit_src=False) for lines in (0, 8))
    for name in (r"top\.inner", r"change(\$\d+)?\.held"):
        assert not re.search(name, one) and re.search(name, two)
