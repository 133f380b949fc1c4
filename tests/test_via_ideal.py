"""Cycles of the VI engine on the ideal NIC: what bounds a design is not the engine."""

from functools import cache
from typing import Any

import via_ideal_jobs as jobs
from nicbed.testbench.descriptions import for_layer, load
from nicbed.testbench.session import run_job


@cache
def found() -> dict[str, dict[str, Any]]:
    return run_job(for_layer(load("ideal"), "via"), function=f"{jobs.__file__}:measure")


def gap(name: str) -> float:
    """Mean cycles from one packet's begin on the wire to the next, once the stream is under way."""
    begun = found()[name]["begun"]
    steady = begun[len(begun) // 4:]
    return (steady[-1] - steady[0]) / (len(steady) - 1)


def test_a_doorbell_is_on_the_wire_soon():
    one = found()["one"]
    assert len(one["begun"]) == 1 and one["begun"][0] - one["rung"] <= 40


def test_messages_of_one_vi_follow_each_other():
    assert gap("one_vi") <= 40
    assert gap("one_vi_reliable") <= 40


def test_messages_of_many_vis_follow_each_other():
    assert gap("many") <= 30
    assert gap("many_reliable") <= 30


def test_large_messages_fill_the_link_both_ways():
    rate = load("ideal").link.bytes_per_cycle
    for length in (4096, 32768):
        landed = found()[f"both_{length}"]["landed"]
        packets = landed[len(landed) // 4:]
        assert 1024 * (len(packets) - 1) / (packets[-1] - packets[0]) >= 0.95 * rate
