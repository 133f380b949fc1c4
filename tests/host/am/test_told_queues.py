"""Active Messages that the CPU stores into host memory and tells the NIC's processor of: what they
cost, errors in one line. (Of firmware ``tb2`` more is in test_entry_queue.)"""

import pytest
from nicbed.host.am import costs as paths
from nicbed.layouts.packet import HEADER, Protocol
from nicbed.layouts.trace import TICKS, Activity
from nicbed.testbench.descriptions import load
from nicbed.testbench.errors import UserError

from tests.host.am.test_costs import exchange, only
from tests.models.target import Model
from tests.programs.am import describe, in_order

WAYS = {
    "elan": ({"nic.processor": "vexriscv", "processor.host_access": "uncached",
              "am.firmware": "elan"}, paths.STORED_SLOT),
    "tb2": ({"nic.processor": "vexriscv", "am.firmware": "tb2", "am.bulk": "copy"}, paths.ENTRY),
}
"""Of each firmware its description, and the path of a packet into its queue."""
START = 20_000
"""Cycles until the firmware runs."""
PATIENCE = 40_000
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
def test_writes_that_are_not_posted_take_the_cpu_as_long_as_the_bus(way):
    """One access for each message, whatever it is."""
    def o_s(settings):
        asked, *_ = exchange(1, WAYS[way][0], {"bus.pio_write": 90, **settings}, wait=START)
        return only(asked, Activity.REQUEST_SEND)[4]

    assert abs(o_s({"bus.posted": False}) - o_s({}) - 90 * TICKS) < 1


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


def test_slots_of_elan_are_free_when_their_packets_were_acknowledged():
    """Without acknowledgements of the network they are free only after a time-out, so many messages
    in a row take many time-outs; and nothing is lost, or sent again, by that."""
    def run(lose):
        scenario = in_order(100, reply=False)
        model = Model(describe(scenario.structure, scenario.settings, WAYS["elan"][0],
                               {"am.retry_timeout": PATIENCE, "am.retries": 1000}))
        model.nics[1].lose = lose
        runtime = model.run(scenario.programs, limit=1 << 26)
        scenario.check(runtime.results)
        return max(port.cycle for port in runtime.ports)

    def note(data):
        return HEADER.get(int.from_bytes(data[:8], "little"), "protocol") == Protocol.NOTE

    usual, without = run(lambda data: False), run(note)
    assert usual + PATIENCE * 100 // 32 < without < usual + PATIENCE * 100


def test_work_receive_of_elan_is_spent_on_acknowledging():
    """Off the way of a message: it changes what many messages take, not one."""
    def cycles(count, work):
        scenario = in_order(count)
        model = Model(describe(scenario.structure, scenario.settings, WAYS["elan"][0],
                               {"am.work_receive": work}))
        runtime = model.run(scenario.programs, limit=1 << 26)
        return max(port.cycle for port in runtime.ports)

    many = (cycles(80, 1000) - cycles(80, 0)) / 80
    assert many > 700


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
