"""Active Messages through NIC memory: what they cost, a full receive queue, errors in one line."""

import pytest
from nicbed.host.am import costs as paths
from nicbed.layouts.trace import TICKS, Activity
from nicbed.testbench.descriptions import load
from nicbed.testbench.errors import UserError

from tests.host.am.test_costs import exchange, only
from tests.labs.rows import more
from tests.models.target import Model
from tests.programs.am import describe, in_order

LANAI = {"nic.processor": "vexriscv", "am.firmware": "lanai"}
START = 20_000
"""Cycles until the firmware runs."""


@pytest.mark.parametrize("words", [1, 4])
def test_overheads_are_their_items_and_bus_operations(words):
    """o_s: the named items and the beats that it stores. o_r: the check that found the flag, the
    items, and a load by PIO for each of the words that a message of this length needs; the slot is
    freed after it."""
    asked, answered, costs, ticks = exchange(words, LANAI, {"bus.pio_read": 30}, wait=START)
    reads = (3 if words > 2 else 2) * 30 * TICKS
    check = costs.ticks(costs.price["poll_check"]) + 30 * TICKS
    beats = (4 if words > 2 else 3) * TICKS
    o_s = only(asked, Activity.REQUEST_SEND)
    assert abs(o_s[4] - ticks(paths.REQUEST[words], paths.SLOT) - beats) < 1
    handle = only(answered, Activity.REQUEST_HANDLE)
    freed = ticks(paths.FREE) + TICKS
    assert abs(handle[4] - check - reads - ticks(paths.REQUEST_HANDLE[words]) - freed) < 2
    reply = only(answered, Activity.REPLY_SEND)
    assert abs(reply[4] - ticks(paths.REPLY[words], paths.SLOT) - beats) < 1


def test_pads_are_cycles_of_the_nic_processor():
    """A round trip passes each pad twice; a slower processor spends the same number of its own."""
    def round_trip(settings):
        spans, *_ = exchange(1, LANAI, settings, wait=START)
        return only(spans, Activity.REPLY_HANDLE)[3] - only(spans, Activity.REQUEST_SEND)[2]

    for divider in (1, 2):
        bare = {"processor.clock_divider": divider}
        for pad in ("am.work_send", "am.work_receive"):
            longer = round_trip({**bare, pad: 2000}) - round_trip(bare)
            assert abs(longer / TICKS - 2 * 2000 * divider) < 400 * divider, pad


@pytest.mark.parametrize("structure", [
    {"nic.receive_ring": 4}, more({"nic.receive_ring": 4, "nic.mtu": 64, "nic.send_fifo": 128,
                                   "nic.receive_fifo": 128, "processor.memory": 16384})])
def test_a_full_receive_queue_holds_packets_up(structure):
    """With four slots and a receiver that works between messages: all arrive, once and in order."""
    scenario = in_order(30, work=2000, structure=structure)
    model = Model(describe(scenario.structure, LANAI))
    scenario.check(model.run(scenario.programs, limit=1 << 26).results)


@pytest.mark.parametrize("core", ["serv", more("picorv32"), more("vexriscv")])
def test_the_queues_fit_nic_memory(core):
    """With each core's program, and with the longest packets and the least memory."""
    for memory, mtu in ((1 << 14, 64), (1 << 15, 1024), (1 << 16, 1024)):
        description = describe({"processor.memory": memory, "nic.mtu": mtu}, LANAI,
                               {"nic.processor": core})
        scenario = in_order(2)
        scenario.check(Model(description).run(scenario.programs, limit=1 << 26).results)


def test_it_needs_a_processor():
    with pytest.raises(UserError, match="am.firmware = 'lanai': needs a NIC processor"):
        load.load("default", ["am.firmware=lanai"])
