"""What a program charges: fractions of a cycle add up exactly, and so do fractions of a tick."""

import pytest
from nicbed.host.port.costs import APP_ITEMS, Costs
from nicbed.host.port.marking import MarkingPort
from nicbed.host.port.port import Port, Watch
from nicbed.host.port.work import Work
from nicbed.layouts.description import Description
from nicbed.layouts.operations import ENTRY
from nicbed.layouts.trace import TICKS


def work(**prices):
    return Work(Costs(Description.model_validate({"apps": prices})))


def test_fractions_of_a_cycle_add_up():
    found = work(flop="2.1")
    spent = []
    for _ in range(10):
        found.compute("flop", 3)
        spent.append(found.parts)
    cycle = found.costs.numerator
    assert spent == [63 * (turn + 1) // 10 * cycle for turn in range(10)]
    assert found.tally() == {"flop": 30}


def test_computation_and_other_work_are_one_time():
    one, other = work(sort_key=7), work()
    one.compute("sort_key", 20)
    one.work("alu", 3)
    other.work("alu", 143)
    assert one._pending() == other._pending()
    assert one.tally() == {"sort_key": 20, "alu": 3}


def test_whole_cycles_are_taken_back():
    found = work(flop=1)
    target = TICKS * found.costs.denominator
    found.compute("flop", 1000)
    found.work("alu", 7)
    before = found.parts
    assert found.take() == before // target and found.parts == before % target
    assert found.take() == 0 and found.parts == before % target
    assert found.tally() == {"flop": 1000, "alu": 7}


@pytest.mark.parametrize(("item", "count", "text"), [
    ("alu", 1, "unknown item 'alu'; there are flop, sort_key, radix_key"),
    ("flop", -1, "count must not be negative, not -1")])
def test_what_is_no_computation_is_refused(item, count, text):
    with pytest.raises(ValueError, match=text):
        work().compute(item, count)


def test_every_price_is_a_knob_of_the_programs():
    assert set(APP_ITEMS) == {
        "flop", "sort_key", "radix_key", "is_key", "ep_pair", "cg_nonzero", "mg_point", "ft_point",
        "lu_point", "sp_point", "bt_point", "fft_point", "con_node", "con_edge", "em3d_edge"}


def awaited_poll(port):
    poll = port.poll(Watch(64))
    poll.send(None)
    with pytest.raises(StopIteration):
        poll.send(None)


OPERATIONS = {
    "put_touch": lambda port: port.put_touch(64, 8),
    "put_write": lambda port: port.put_write(64, 1, 0),
    "put_read": lambda port: port.put_read(64),
    "put_poll": lambda port: port.put_poll(64, 0, 0),
    "poll": awaited_poll,
}


@pytest.mark.parametrize("kind", [MarkingPort, Port])
@pytest.mark.parametrize(("between", "cycles", "before", "behind"), [
    ("nothing", 2, 169, 0), ("mark", 2, 168, 1), ("work before a mark", 2, 169, 0),
    ("put_touch", 2, 0, 1), ("put_write", 2, 0, 1), ("put_read", 2, 0, 1),
    ("put_poll", 1, 0, 1), ("poll", 1, 0, 1)])
def test_a_poll_rounds_the_work_before_it_with_its_check(kind, between, cycles, before, behind):
    """2 cycles at 200 MHz are 168.96 ticks of 66 MHz, the check's 3 are 253.44: together they fill
    a tick more, before the poll, unless a mark or an operation has rounded them. 1 cycle and
    another poll's check leave 0.92 of a tick: with this check's they fill one, behind the poll."""
    port = kind(0, 0, Costs(Description()))
    if between == "work before a mark":
        port.mark(1, 0, 0)
    port.work("alu", cycles)
    if between == "mark":
        port.mark(1, 0, 0)
    if between in OPERATIONS:
        OPERATIONS[between](port)
    poll = port._block.count
    port.put_poll(64, 0, 0)
    port.put_touch(64, 8)
    found = [ENTRY.unpack_from(port._block.words, index * ENTRY.size)
             for index in range(port._block.count)]
    assert found[poll][6] == before and found[poll][1] == 253
    assert found[poll + 1][1] == behind
