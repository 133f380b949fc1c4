"""The pads of VIA's firmware, via.work_send and via.work_receive, in latency and in the gap."""

import asyncio

import pytest
from nicbed.layouts.description import Description
from nicbed.layouts.trace import TICKS
from nicbed.testbench.benches.via.pingpong import measure_trips
from nicbed.testbench.benches.via.stream import measure_stream

from tests.labs.firmware_cases import with_firmware
from tests.labs.model import ModelLab


def lab(divider=1, **pads):
    table = with_firmware(Description()).model_dump()
    table["via"] |= {**pads, "retry_timeout": 1 << 20}
    table["processor"]["clock_divider"] = divider
    return ModelLab(Description.model_validate(table))


def half(**given):
    """Half a round trip of 4 bytes, in cycles of the target."""
    [*_, trip] = asyncio.run(measure_trips(lab(**given), 4))["trips"]
    return trip / TICKS / 2


@pytest.mark.parametrize(("pad", "divider"), [("work_send", 4), ("work_receive", 1)])
def test_a_pad_is_in_the_latency_once_in_cycles_of_the_processor(pad, divider):
    short, long = (half(divider=divider, **{pad: work}) for work in (1000, 4000))
    assert long - short == pytest.approx(3000 * divider, rel=0.1)


def test_a_pad_is_in_the_gap_of_whoever_bounds_it():
    def gap(**pads):
        done = asyncio.run(measure_stream(lab(**pads), 4, 8))["done"]
        return done / TICKS / 8

    for pad in ("work_send", "work_receive"):
        short, long = (gap(**{pad: work}) for work in (10000, 15000))
        assert long - short == pytest.approx(5000, rel=0.2)
