"""Bulk data that are copied to a pinned region (``am.bulk`` = pinned), over each way to the NIC:
what that costs, and that the data are right, with faults and with few descriptors."""

import pytest
from nicbed.host.am import Gam, costs
from nicbed.host.port.costs import Costs
from nicbed.layouts.trace import TICKS, Activity

from tests.host.am.test_costs import spans_of
from tests.labs.rows import more
from tests.models.target import Model
from tests.programs import am as scenarios
from tests.programs.am import FAULTY, describe

CORE = {"nic.processor": "vexriscv"}
WAYS = {
    "send window": {},
    "firmware": CORE,
    "coherent firmware": {**CORE, "nic.attachment": "memory_bus"},
    "lanai": {**CORE, "am.firmware": "lanai"},
    "elan": {**CORE, "processor.host_access": "uncached", "am.firmware": "elan"},
    "message processor": {"node.cpus": 2, "nic.attachment": "local_bus", "via.design": "kernel",
                          "am.message_processor": "cpu"},
}
PINNED = {"am.bulk": "pinned"}
RATES = {"faults.drop": 0.03, "faults.corrupt": 0.03, "faults.duplicate": 0.05}
PACKETS = 4
LINES = 1024 // 32
"""Of a packet's data."""
TOUCHED = 2 * TICKS
"""A line on the model target."""


def sending(way, settings):
    """Node 0 stores PACKETS packets into node 1: the ticks that it takes to send them."""
    done = []

    async def asks(node):
        am = Gam(node, [lambda *_: None])
        await am.enable()
        await node.port.delay(20_000)
        place = node.allocate(1024 * PACKETS)
        await am.store_async(1, place, place, 1024 * PACKETS,
                             end=lambda am, arg: done.append(arg))
        await am.wait(lambda: done)
        await am.disable()

    async def takes(node):
        am = Gam(node, [])
        await am.enable()
        await am.disable()

    runtime = Model(describe(way, settings)).run([asks, takes], limit=1 << 24)
    return sum(one[4] for one in spans_of(runtime, 0) if one[0] == Activity.BULK_SEND)


@pytest.mark.parametrize("way", WAYS)
def test_the_copy_is_charged_for_each_packet(way):
    """A place for each, each 8 bytes of data, and the lines of both; a pointer costs none of it."""
    price = Costs(describe())
    found = {(name, copy): sending(WAYS[way], {**settings, "cpu.copy_word": copy})
             for name, settings in (("pointer", {}), ("pinned", PINNED)) for copy in (0, 10)}
    assert found["pointer", 10] == found["pointer", 0]
    words = price.ticks(10 * PACKETS * 1024 // 8)
    assert abs(found["pinned", 10] - found["pinned", 0] - words) < 4
    places = price.ticks(PACKETS * price.cycles(costs.PINNED))
    touches = 2 * PACKETS * LINES * TOUCHED
    beyond = found["pinned", 0] - found["pointer", 0] - places
    assert abs(beyond - touches) < 4


@pytest.mark.parametrize("way", ["lanai", *(more(way) for way in WAYS if way != "lanai")])
def test_data_are_right_with_faults(way):
    """Packets that are sent again are copied again, from the source."""
    scenario = scenarios.bulk((0, 1, 8, 1021, 1024, 1027, 5003))
    settings = {**FAULTY, **RATES, **PINNED}
    model = Model(describe(scenario.structure, WAYS[way], scenario.settings, settings))
    scenario.check(model.run(scenario.programs, limit=1 << 30).results)


@pytest.mark.parametrize("way", ["send window", more("message processor")])
def test_few_descriptors(way):
    """A place is not used again before the NIC has its data."""
    scenario = scenarios.bulk((9000, 20000))
    model = Model(describe(scenario.structure, WAYS[way], {"nic.send_ring": 4},
                           scenario.settings, PINNED))
    scenario.check(model.run(scenario.programs, limit=1 << 30).results)
