"""What a program charges for its computation: prices that are fractions add up exactly."""

import pytest
from nicbed.host.port.costs import APP_ITEMS, Costs
from nicbed.host.port.work import Work
from nicbed.layouts.description import Description


def work(**prices):
    return Work(Costs(Description.model_validate({"apps": prices})))


def test_fractions_of_a_cycle_add_up():
    found = work(flop="2.1")
    spent = []
    for _ in range(10):
        found.compute("flop", 3)
        found._pending()
        spent.append(found.cpu_cycles)
    assert spent == [63 * (turn + 1) // 10 for turn in range(10)]
    assert found.tally() == {"flop": 30}


def test_computation_and_other_work_are_one_time():
    one, other = work(sort_key=7), work()
    one.compute("sort_key", 20)
    one.work("alu", 3)
    other.work("alu", 143)
    assert one._pending() == other._pending()
    assert one.tally() == {"sort_key": 20, "alu": 3}


@pytest.mark.parametrize(("item", "count", "text"), [
    ("alu", 1, "unknown item 'alu'; there are flop, sort_key, radix_key"),
    ("flop", -1, "count must not be negative, not -1")])
def test_what_is_no_computation_is_refused(item, count, text):
    with pytest.raises(ValueError, match=text):
        work().compute(item, count)


def test_every_price_is_a_knob_of_the_programs():
    assert set(APP_ITEMS) == {
        "flop", "sort_key", "radix_key", "is_key", "ep_pair", "cg_nonzero", "mg_point", "ft_point",
        "lu_point", "sp_point", "bt_point"}
