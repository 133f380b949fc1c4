"""Active Messages through entries in host memory: delays that overlap, lengths of four at once,
copies, a full ring. (What a message costs is in test_told_queues.)"""

from nicbed.host.am import Gam
from nicbed.host.port.costs import Costs
from nicbed.layouts.operations import Op
from nicbed.layouts.trace import Activity

from tests.host.am.test_costs import spans_of
from tests.host.am.test_told_queues import START, WAYS
from tests.models.target import Model
from tests.programs.am import describe

TB2 = WAYS["tb2"][0]


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
