"""Cycles of the VI engine on the ideal NIC: what bounds a design is not the engine."""

from functools import cache
from typing import Any

import via_ideal_jobs as jobs
from nicbed.testbench.descriptions import for_layer, load
from nicbed.testbench.session import run_job


@cache
def found() -> dict[str, dict[str, Any]]:
    return run_job(for_layer(load("ideal"), "via"), function=f"{jobs.__file__}:measure")


def gap(name: str, what: str = "landed") -> float:
    """Mean cycles from one packet to the next, landed or ``begun`` on the wire, once the stream is
    under way."""
    cycles = found()[name][what]
    steady = cycles[len(cycles) // 2:]
    return (steady[-1] - steady[0]) / (len(steady) - 1)


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
    """The bus bounds the sender, 16 cycles; the switch what lands, 17."""
    for name in ("many", "many_reliable"):
        assert gap(name, "begun") <= 16.5
        assert gap(name) <= 17.5


def test_large_messages_fill_the_link_both_ways():
    rate = load("ideal").link.bytes_per_cycle
    for length in (4096, 32768):
        landed = found()[f"both_{length}"]["landed"]
        packets = landed[len(landed) // 4:]
        assert 1024 * (len(packets) - 1) / (packets[-1] - packets[0]) >= 0.95 * rate
