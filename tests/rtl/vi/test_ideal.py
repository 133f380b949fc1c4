"""Cycles of the VI engine on the ideal NIC: what bounds a design is not the engine."""

from functools import cache
from typing import Any

import pytest
from nicbed.testbench.backends.session import run_job
from nicbed.testbench.descriptions.load import for_layer, load

from tests.programs import via_ideal_jobs as jobs

pytestmark = pytest.mark.full


@cache
def found() -> dict[str, dict[str, Any]]:
    return run_job(for_layer(load("ideal"), "via"), function=f"{jobs.__name__}:measure")


def gap(name: str, what: str = "landed") -> float:
    """Mean cycles from one packet to the next, landed or ``begun`` on the wire, once the stream is
    under way."""
    cycles = found()[name][what]
    steady = cycles[len(cycles) // 2:]
    return (steady[-1] - steady[0]) / (len(steady) - 1)


@pytest.mark.promise("VI engine: doorbell to wire", "8 bytes, the NIC `ideal`", "at most 40")
def test_a_doorbell_is_on_the_wire_soon():
    one = found()["one"]
    assert len(one["begun"]) == 1 and one["begun"][0] - one["rung"] <= 40


def test_a_kilobyte_arrives_while_it_is_received():
    """From the doorbell on the bus to the status in the receiver's memory: the link takes 522."""
    one = found()["kilobyte"]
    assert len(one["landed"]) == 1 and one["done"] - one["rung"] <= 660


def test_messages_of_one_vi_follow_each_other_over_both_ends():
    assert gap("one_vi") <= 20
    assert gap("one_vi_reliable") <= 20


def test_messages_of_many_vis_follow_each_other():
    """The bus of the sender bounds it: 16 cycles, and one more where a doorbell is on it."""
    for name in ("many", "many_reliable"):
        assert gap(name, "begun") <= 16.5
        assert gap(name) <= 16.5
        one = found()[name]
        after = [cycle for cycle in one["begun"] if cycle > one["last"] + 20]
        assert len(after) > 10 and after[-1] - after[0] <= 16 * (len(after) - 1)


def test_large_messages_fill_the_link_both_ways():
    """A packet of 1024 bytes is 1044 on the wire, 98.08 %: acknowledgements cost nothing. Of many
    VIs the ends are left out, where one has no more to send that could carry them."""
    rate = load("ideal").link.bytes_per_cycle
    for name in ("both_4096", "both_32768", "both_many"):
        landed = found()[name]["landed"]
        packets = landed[len(landed) // 4:len(landed) * 9 // 10 if name == "both_many" else None]
        assert 1024 * (len(packets) - 1) / (packets[-1] - packets[0]) >= 0.98 * rate, name
