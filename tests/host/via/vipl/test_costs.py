"""What VIPL costs: each call's own time is its declared paths and its bus operations, to the tick.
"""

import pytest
from nicbed.host.port.costs import CPU_ITEMS, Costs
from nicbed.host.via import VIP_RETURN
from nicbed.host.via import costs as paths
from nicbed.host.via.kernel import Kernel
from nicbed.layouts.trace import TICKS, Activity, Kind

from tests.models.spent import cpu_cycles
from tests.models.target import Model
from tests.programs.vipl import RD, SMALL, SUCCESS, UD, Side, describe, run, run_pair

ODD = {"nic__clock_mhz": 33, "cpu__clock_mhz": 450}
TOUCH, WRITE, READ = 2 * TICKS, TICKS, TICKS
"""On the model: a line, a posted write, a word."""


def spans(log, activity):
    """(number, ticks) of each ``activity``, none of which nest."""
    found, begun = [], None
    for ticks, what, kind, number in log:
        if what == activity:
            if kind == Kind.BEGIN:
                begun = ticks
            else:
                found.append((number, ticks - begun))
    return found


async def rest(side, cycles):
    await side.node.port.delay(cycles)
    await side.node.port.flush()


@pytest.mark.parametrize("knobs", [{}, ODD], ids=["default", "odd"])
@pytest.mark.parametrize("spin", [0, 1 << 20])
def test_posting_and_finding(knobs, spin):
    """VipPostSend alone and behind another, VipSendDone that finds nothing and that finds one,
    VipRecvWait that spins."""
    async def first(side):
        port, vipl = side.node.port, side.vipl
        one, two = [await side.make(side.segment(0, 8)) for _ in range(2)]
        await rest(side, 20_000)
        port.log.clear()
        await vipl.VipPostSend(side.vi, *one)
        await vipl.VipPostSend(side.vi, *two)
        await vipl.VipRecvDone(side.vi)
        await rest(side, 50_000)
        for va, _ in (one, two):
            assert await vipl.VipSendDone(side.vi) == (SUCCESS, va)
        return port.log

    async def second(side):
        port = side.node.port
        await side.receive(side.segment(0, 8))
        await port.flush()
        port.log.clear()
        assert (await side.vipl.VipRecvWait(side.vi, None))[0] is SUCCESS
        return port.log

    async def before(side):
        await side.receive(side.segment(0, 8))

    logs = run_pair(first, second, UD, before=before, via__spin=spin, **knobs)
    costs = Costs(describe(SMALL, {name.replace("__", "."): value
                                   for name, value in knobs.items()}))

    def ticks(*parts):
        return costs.ticks(sum(costs.cycles(part) for part in parts))

    check = costs.ticks(costs.price["poll_check"]) + READ
    posts = spans(logs[0], Activity.POST_SEND)
    assert abs(posts[0][1] - ticks(paths.POST) - TOUCH - WRITE) < 2
    assert abs(posts[1][1] - ticks(paths.POST, paths.LINK) - 2 * TOUCH - WRITE) < 2
    (_, empty), = spans(logs[0], Activity.EMPTY_CHECK)
    assert abs(empty - ticks(paths.CHECK) - check) < 2
    done = spans(logs[0], Activity.SEND_COMPLETE)
    assert [number for number, _ in done] == [number for number, _ in posts]
    for _, took in done:
        assert abs(took - ticks(paths.CHECK, paths.TAKE) - check) < 2
    (_, took), = spans(logs[1], Activity.RECEIVE_COMPLETE)
    if spin:
        assert abs(took - ticks(paths.TAKE) - check) < 2
        assert not spans(logs[1], Activity.BLOCKED)
    else:
        assert len(spans(logs[1], Activity.BLOCKED)) >= 1


@pytest.mark.parametrize("translation", ["cache", "table", "physical"])
def test_the_tally_is_what_was_charged(translation):
    """Its items, those of all paths among them, at their prices: connecting, registering, waiting,
    disconnecting, with every translation scheme."""
    async def program(node):
        side = await (await Side(node, RD).open(receive_cq=4)).connect()
        await side.receive(side.segment(0, 3000))
        await rest(side, 20_000)
        await side.send(side.segment(0, 3000))
        await side.vipl.VipCQWait(side.cqs[1], None)
        await side.vipl.VipRecvDone(side.vi)
        await side.vipl.VipSendWait(side.vi, None)
        await side.vipl.VipDisconnect(side.vi)
        await side.vipl.VipDeregisterMem(side.nic, side.va, side.handle)
        await node.port.flush()
        assert node.service(Kernel).interrupts

    runtime = Model(describe(SMALL, {"via.translation": translation})).run(
        [program, program], limit=10_000_000)
    for port in runtime.ports:
        tally = port.tally()
        assert cpu_cycles(port) == sum(port.costs.price[item] * count
                                      for item, count in tally.items())
        assert tally["register_page"] > 8 and tally["interrupt"] and tally["trap"]
        counts = port.paths()
        assert counts["post"] == 2 and counts["page"] == tally["register_page"]
        assert ("split" in counts) == (translation == "physical")


def test_pinning_costs_by_the_page():
    async def program(node):
        side = await Side(node).open()
        port = node.port
        before = port.tally()["register_page"]
        for pages in (1, 5):
            va = side.process.allocate(pages * 1024, fresh=True)
            await side.register(va, pages * 1024)
            await side.register(va + 1023, 2) if pages > 1 else None
        return port.tally()["register_page"] - before

    assert run(program, None)[0] == 1 + 5 + 2


@pytest.mark.parametrize("queued", [False, True])
def test_blocking_costs_an_interrupt_and_a_trap(queued):
    """One of each a wait, by the work queue or a completion queue; a wait that times out costs no
    interrupt."""
    async def first(side):
        await rest(side, 50_000)
        await side.send(side.segment(0, 8))
        await rest(side, 200_000)

    async def second(side):
        async def wait(timeout):
            if queued:
                return (await side.vipl.VipCQWait(side.cqs[1], timeout))[0]
            return (await side.vipl.VipRecvWait(side.vi, timeout))[0]

        port = side.node.port
        before = port.tally()
        assert await wait(0.1) is VIP_RETURN.TIMEOUT
        middle = port.tally()
        assert await wait(None) is SUCCESS
        return middle - before, port.tally() - middle

    async def ready(side):
        await side.receive(side.segment(0, 8))

    idle, woken = run_pair(first, second, before=ready, queues=(0, 8 * queued))[1]
    assert idle["interrupt"] == 0 and idle["trap"] == 1
    assert woken["interrupt"] == 1 and woken["trap"] == 1


def test_time_passes_on_a_cpu_that_costs_nothing():
    async def program(node):
        side = await Side(node).open()
        cycles = []
        for _ in range(3):
            await side.vipl.VipQueryVi(side.vi)
            cycles.append(node.port.cycle)
        return cycles

    found = run(program, None, **{f"cpu__{item}": 0 for item in CPU_ITEMS})[0]
    assert found[0] < found[1] < found[2]


def test_completion_queue_entries_are_told_of_once_in_a_while():
    """Each costs a write to the NIC; the ring is larger than what was asked for."""
    async def program(node):
        side = await Side(node).open(send_cq=16)
        cq, told = side.cqs[0], 0
        for _ in range(40):
            await side.send(side.segment(0, 4))
            await rest(side, 300)
            before = cq.ring.told
            assert (await side.vipl.VipCQDone(cq))[0] is SUCCESS
            await side.vipl.VipSendDone(side.vi)
            told += cq.ring.told != before
        assert side.errors == []
        return cq.ring.size, told

    size, told = run(program, None)[0]
    assert size == 32 and 3 <= told <= 6
