"""Active Messages that the NIC's processor loads from host memory: what they cost, errors in one
line."""

import pytest
from nicbed.host.am import costs as paths
from nicbed.layouts.trace import TICKS, Activity
from nicbed.testbench.descriptions import load
from nicbed.testbench.errors import UserError

from tests.host.am.test_costs import exchange, only

ELAN = {"nic.processor": "vexriscv", "processor.host_access": "uncached", "am.firmware": "elan"}
START = 20_000
"""Cycles until the firmware runs."""
STORED = 2 * TICKS
"""A line stored on the model target."""


@pytest.mark.parametrize("words", [1, 4])
def test_overheads_are_their_items_and_bus_operations(words):
    """o_s: the named items, the line that is stored, the doorbell. o_r: the check that found the
    message, the items, its second line; nothing goes to the NIC."""
    asked, answered, costs, ticks = exchange(
        words, ELAN, {"bus.pio_read": 30, "bus.pio_write": 9}, wait=START)
    check = costs.ticks(costs.price["poll_check"]) + TICKS
    o_s = only(asked, Activity.REQUEST_SEND)
    assert abs(o_s[4] - ticks(paths.REQUEST[words], paths.STORED_SLOT) - STORED - TICKS) < 1
    handle = only(answered, Activity.REQUEST_HANDLE)
    second_line = 2 * TICKS if words > 2 else 0
    assert abs(handle[4] - check - ticks(paths.REQUEST_HANDLE[words]) - second_line) < 2
    reply = only(answered, Activity.REPLY_SEND)
    assert abs(reply[4] - ticks(paths.REPLY[words], paths.STORED_SLOT) - STORED - TICKS) < 1


def test_the_pad_is_cycles_of_the_nic_processor():
    """A round trip passes it twice; a slower processor spends the same number of its own."""
    def round_trip(settings):
        spans, *_ = exchange(1, ELAN, settings, wait=START)
        return only(spans, Activity.REPLY_HANDLE)[3] - only(spans, Activity.REQUEST_SEND)[2]

    for divider in (1, 2):
        bare = {"processor.clock_divider": divider}
        longer = round_trip({**bare, "am.work_send": 2000}) - round_trip(bare)
        assert abs(longer / TICKS - 2 * 2000 * divider) < 400 * divider


def test_it_needs_a_processor_that_loads():
    with pytest.raises(UserError, match="am.firmware = 'elan': needs a NIC processor"):
        load.load("default", ["am.firmware=elan"])
    with pytest.raises(UserError, match="elan': needs processor.host_access = 'uncached'"):
        load.load("default", ["am.firmware=elan", "nic.processor=serv"])
