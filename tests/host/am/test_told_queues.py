"""Active Messages that the CPU stores into host memory and tells the NIC's processor of: what they
cost, errors in one line. (Of firmware ``tb2`` more is in test_entry_queue.)"""

import pytest
from nicbed.host.am import costs as paths
from nicbed.layouts.trace import TICKS, Activity
from nicbed.testbench.descriptions import load
from nicbed.testbench.errors import UserError

from tests.host.am.test_costs import exchange, only

WAYS = {
    "elan": ({"nic.processor": "vexriscv", "processor.host_access": "uncached",
              "am.firmware": "elan"}, paths.STORED_SLOT),
    "tb2": ({"nic.processor": "vexriscv", "am.firmware": "tb2", "am.bulk": "copy"}, paths.ENTRY),
}
"""Of each firmware its description, and the path of a packet into its queue."""
START = 20_000
"""Cycles until the firmware runs."""
STORED = 2 * TICKS
"""A line stored on the model target."""


@pytest.mark.parametrize("words", [1, 4])
@pytest.mark.parametrize("way", WAYS)
def test_overheads_are_their_items_and_bus_operations(way, words):
    """o_s: the named items, the line that is stored, one access to the NIC, the doorbell or the
    length, however many words there are. o_r: the check that found the message, the items, its
    second line; nothing goes to the NIC."""
    description, path = WAYS[way]
    asked, answered, costs, ticks = exchange(
        words, description, {"bus.pio_read": 30, "bus.pio_write": 9}, wait=START)
    check = costs.ticks(costs.price["poll_check"]) + TICKS
    o_s = only(asked, Activity.REQUEST_SEND)
    assert abs(o_s[4] - ticks(paths.REQUEST[words], path) - STORED - TICKS) < 1
    handle = only(answered, Activity.REQUEST_HANDLE)
    second_line = 2 * TICKS if words > 2 else 0
    assert abs(handle[4] - check - ticks(paths.REQUEST_HANDLE[words]) - second_line) < 2
    reply = only(answered, Activity.REPLY_SEND)
    assert abs(reply[4] - ticks(paths.REPLY[words], path) - STORED - TICKS) < 1


@pytest.mark.parametrize("way", WAYS)
def test_work_send_is_cycles_of_the_nic_processor(way):
    """A round trip passes it twice; a slower processor spends the same number of its own."""
    def round_trip(settings):
        spans, *_ = exchange(1, WAYS[way][0], settings, wait=START)
        return only(spans, Activity.REPLY_HANDLE)[3] - only(spans, Activity.REQUEST_SEND)[2]

    for divider in (1, 2):
        bare = {"processor.clock_divider": divider}
        longer = round_trip({**bare, "am.work_send": 2000}) - round_trip(bare)
        assert abs(longer / TICKS - 2 * 2000 * divider) < 400 * divider


@pytest.mark.parametrize("layer", ["am", "mpl", "via", "gm", "rpc"])
def test_other_firmware_and_layers_do_not_flush_lines(layer):
    changes = ["bus.coherent=false", *(["nic.processor=picorv32"] if layer == "gm" else [])]
    with pytest.raises(UserError, match="bus.coherent = false: layers am and mpl flush lines over"):
        load.for_layer(load.load("default", changes), layer)


def test_they_need_a_processor_and_elan_one_that_loads():
    for way in WAYS:
        with pytest.raises(UserError, match=f"am.firmware = '{way}': needs a NIC processor"):
            load.load("default", [f"am.firmware={way}"])
    for changes in (["am.firmware=tb2", "nic.processor=serv"], ["am.bulk=copy"]):
        with pytest.raises(UserError, match="am.bulk = '[a-z]*': firmware 'tb2' .* needs 'copy'"):
            load.load("default", changes)
    with pytest.raises(UserError, match="elan': needs processor.host_access = 'uncached'"):
        load.load("default", ["am.firmware=elan", "nic.processor=serv"])
