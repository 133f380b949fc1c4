"""Active Messages through entries in host memory: what they cost, delays that overlap, lengths of
four at once, errors in one line."""

import pytest
from nicbed.host.am import Gam
from nicbed.host.am import costs as paths
from nicbed.host.port.costs import Costs
from nicbed.layouts.operations import Op
from nicbed.layouts.trace import TICKS, Activity
from nicbed.testbench.descriptions import load
from nicbed.testbench.errors import UserError

from tests.host.am.test_costs import exchange, only, spans_of
from tests.models.target import Model
from tests.programs.am import describe

TB2 = {"nic.processor": "vexriscv", "am.firmware": "tb2"}
START = 20_000
"""Cycles until the firmware runs."""
STORED = 2 * TICKS
"""A line stored on the model target."""


@pytest.mark.parametrize("words", [1, 4])
def test_overheads_are_their_items_and_bus_operations(words):
    """o_s: the named items, the line that is stored, one access for the length, however many words
    there are. o_r: the check that found the message, the items, its second line."""
    asked, answered, costs, ticks = exchange(
        words, TB2, {"bus.pio_read": 30, "bus.pio_write": 9}, wait=START)
    check = costs.ticks(costs.price["poll_check"]) + TICKS
    o_s = only(asked, Activity.REQUEST_SEND)
    assert abs(o_s[4] - ticks(paths.REQUEST[words], paths.ENTRY) - STORED - TICKS) < 1
    handle = only(answered, Activity.REQUEST_HANDLE)
    second_line = 2 * TICKS if words > 2 else 0
    assert abs(handle[4] - check - ticks(paths.REQUEST_HANDLE[words]) - second_line) < 2
    reply = only(answered, Activity.REPLY_SEND)
    assert abs(reply[4] - ticks(paths.REPLY[words], paths.ENTRY) - STORED - TICKS) < 1


def test_the_delay_is_cycles_of_the_nic_processor():
    """A round trip passes it twice; a slower processor spends the same number of its own."""
    def round_trip(settings):
        spans, *_ = exchange(1, TB2, settings, wait=START)
        return only(spans, Activity.REPLY_HANDLE)[3] - only(spans, Activity.REQUEST_SEND)[2]

    for divider in (1, 2):
        bare = {"processor.clock_divider": divider}
        longer = round_trip({**bare, "am.work_send": 2000}) - round_trip(bare)
        assert abs(longer / TICKS - 2 * 2000 * divider) < 400 * divider


def stores(count, settings):
    """Node 0 stores ``count`` packets into node 1: the cycles that it takes, the run, and the
    model."""
    async def asks(node):
        am = Gam(node, [lambda *_: None])
        await am.enable()
        await node.port.delay(START)
        begin = await node.port.flush()
        place = node.allocate(1024 * count)
        done = []
        await am.store_async(1, place, place, 1024 * count, end=lambda am, arg: done.append(arg))
        await am.wait(lambda: done)
        cycles = await node.port.flush() - begin
        await am.disable()
        return cycles

    async def takes(node):
        am = Gam(node, [])
        await am.enable()
        await am.disable()

    model = Model(describe(TB2, {"am.chunk_packets": 16, **settings}))
    runtime = model.run([asks, takes], limit=1 << 24)
    return runtime.results[0], runtime, model


def test_delays_overlap():
    """Of several packets in a row only the first waits."""
    bare, *_ = stores(8, {})
    delayed, *_ = stores(8, {"am.work_send": 3000})
    assert 3000 < delayed - bare < 2 * 3000


def test_the_nic_is_told_of_four_packets_at_once():
    """Of packets that are put together, and of the rest with one access more."""
    def writes(count):
        *_, model = stores(count, {})
        return sum(op == Op.PIO_WRITE for op, *_ in model.hosts[0].log)

    one = writes(1)
    assert [writes(count) - one for count in (4, 5, 8, 9)] == [0, 1, 1, 2]


def test_bulk_data_are_copied_into_entries():
    """By the CPU of the sender, 8 bytes at a time, at ``cpu.copy_word`` each."""
    def sending(copy):
        _, runtime, _ = stores(4, {"cpu.copy_word": copy})
        return sum(one[4] for one in spans_of(runtime, 0) if one[0] == Activity.BULK_SEND)

    words = 4 * 1024 // 8
    assert abs(sending(12) - sending(2) - Costs(describe(TB2)).ticks(10 * words)) < 4


def test_a_full_ring_holds_packets_up():
    """With four slots and a receiver that works between messages nothing is overwritten, so nothing
    is sent again."""
    structure = {"nic.receive_ring": 4}
    got = []

    async def asks(node):
        am = Gam(node, [lambda *_: None])
        await am.enable()
        for number in range(60):
            await am.request(1, 0, number)
        await am.disable()
        return am.counters["resent"]

    async def takes(node):
        def take(am, source, number):
            got.append(number)
            node.port.work("alu", 5000)

        am = Gam(node, [take])
        await am.enable()
        await am.disable()
        return am.counters["nacks"]

    model = Model(describe(TB2, structure, {"am.retry_timeout": 1 << 20}))
    assert model.run([asks, takes], limit=1 << 24).results == [0, 0]
    assert got == list(range(60))


def test_it_needs_a_processor():
    with pytest.raises(UserError, match="am.firmware = 'tb2': needs a NIC processor"):
        load.load("default", ["am.firmware=tb2"])
