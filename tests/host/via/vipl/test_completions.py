"""VIPL's ways to learn of completions: asking, waiting, notices, completion queues."""

import ast
from pathlib import Path

import pytest
from nicbed.host.mpi.channels import via
from nicbed.host.via import VIP_RETURN, ErrorCode, VipState, descriptors
from nicbed.host.via.descriptors import Segment
from nicbed.host.via.kernel import Kernel
from nicbed.layouts.operations import ENTRY, Op
from nicbed.layouts.trace import BEGIN, END, Activity
from nicbed.layouts.via import Status

from tests.programs.vipl import RD, RR, SUCCESS, UD, Side, run, run_pair

LEVELS = pytest.mark.parametrize("level", [UD, RD, RR], ids=lambda level: level.name)
TRANSLATIONS = pytest.mark.parametrize("translation", ["cache", "table", "physical"])
ERROR, NOT_DONE = VIP_RETURN.DESCRIPTOR_ERROR, VIP_RETURN.NOT_DONE


async def rest(side, cycles):
    await side.node.port.delay(cycles)
    await side.node.port.flush()


async def send_many(side, count, gap=0):
    for number in range(count):
        await rest(side, gap)
        side.process.write(side.va, number.to_bytes(4, "little"))
        await side.send(side.segment(0, 4), immediate=number)
        assert (await side.vipl.VipSendWait(side.vi, None))[0] is SUCCESS


def test_nothing_posted_and_nothing_done():
    async def first(side):
        vipl = side.vipl
        for call in (vipl.VipSendDone, vipl.VipRecvDone):
            assert await call(side.vi) == (ERROR, None)
        assert await vipl.VipSendWait(side.vi, None) == (ERROR, None)
        va = await side.receive(side.segment(0, 4))
        assert await vipl.VipRecvDone(side.vi) == (NOT_DONE, None)
        assert await vipl.VipRecvWait(side.vi, 0) == (VIP_RETURN.TIMEOUT, None)
        before = side.node.port.cycle
        assert await vipl.VipRecvWait(side.vi, 2) == (VIP_RETURN.TIMEOUT, None)
        assert 132_000 <= side.node.port.cycle - before <= 133_000
        assert (await vipl.VipQueryVi(side.vi))[1][2:] == (True, False)
        return va

    async def second(side):
        await rest(side, 200_000)

    run_pair(first, second)


@LEVELS
@pytest.mark.parametrize("spin", [0, 500, 1 << 30])
def test_waiting_never_misses_one(level, spin):
    """Messages at every distance: also between the last check and the arming."""
    count = 60

    async def first(side):
        for number in range(count):
            while (await side.vipl.VipRecvDone(side.vi))[0] is NOT_DONE:
                await rest(side, 50)
            await rest(side, 7 * number)
            await side.send(side.segment(0, 4), immediate=number)
            await side.vipl.VipSendWait(side.vi, None)
            await side.receive(side.segment(8, 4))

    async def second(side):
        for number in range(count):
            side.vas.append(await side.receive(side.segment(0, 4)))
            await side.send(side.segment(0, 4))
            result, va = await side.vipl.VipRecvWait(side.vi, 50)
            assert (result, va) == (SUCCESS, side.vas[number])
            assert side.look(va).immediate == number
            assert (await side.vipl.VipSendWait(side.vi, None))[0] is SUCCESS
        return side.node.service(Kernel).interrupts

    async def before(side):
        side.vas = [await side.receive(side.segment(0, 4))] if side.node.number == 0 else []

    interrupts = run_pair(first, second, level, before=before, via__spin=spin)[1]
    assert interrupts < 8 if spin > 1000 else count // 4 <= interrupts


@LEVELS
def test_notices_are_called_once_in_order(level):
    """Asked for before; done already; a coroutine; for a queue with nothing posted yet."""
    async def second(side):
        seen = []

        def handler(context, nic, vi, va):
            assert nic is side.nic and vi is side.vi
            seen.append((context, va))

        async def slow(context, nic, vi, va):
            await rest(side, 100)
            handler(context, nic, vi, va)

        async def called(times):
            while len(seen) < times:
                await vipl.VipQueryVi(side.vi)

        vipl, vas = side.vipl, side.vas
        for number in range(3):
            assert await vipl.VipRecvNotify(side.vi, number, handler) is SUCCESS
        await called(3)
        assert (await vipl.VipRecvWait(side.vi, None)) == (SUCCESS, vas[3])
        await rest(side, 60_000)
        await vipl.VipRecvNotify(side.vi, "done already", slow)
        assert len(seen) == 4
        await vipl.VipRecvNotify(side.vi, "later", handler)
        await vipl.VipSendNotify(side.vi, "sent", handler)
        vas.append(await side.receive(side.segment(0, 4)))
        sent = await side.send(side.segment(0, 4))
        await called(6)
        assert seen[:4] == [(0, vas[0]), (1, vas[1]), (2, vas[2]), ("done already", vas[4])]
        assert sorted(seen[4:], key=str) == [("later", vas[5]), ("sent", sent)]

    async def first(side):
        await send_many(side, 5, 10_000)
        await rest(side, 200_000)
        await send_many(side, 1)
        await rest(side, 50_000)

    async def before(side):
        side.vas = [await side.receive(side.segment(0, 4)) for _ in range(5)]

    run_pair(first, second, level, before=before)


@LEVELS
@TRANSLATIONS
@pytest.mark.parametrize("entries", [4, 1, 300])
def test_a_completion_queue(level, translation, entries):
    """Sends and receives of a VI by one queue, in the order of their completion, many laps."""
    rounds = 25

    async def program(side):
        vipl, cq = side.vipl, side.cqs[1]
        got = []
        for number in range(rounds):
            if side.node.number == 0:
                await rest(side, 500)
                await side.send(side.segment(0, 4), immediate=number)
            result, vi, receive = await (vipl.VipCQWait(cq, 100) if number % 2 else
                                         poll(vipl, cq))
            assert (result, vi, receive) == (SUCCESS, side.vi, True)
            result, va = await vipl.VipRecvDone(vi)
            assert result is SUCCESS
            got.append(side.look(va).immediate)
            await side.receive(side.segment(0, 8))
            if side.node.number == 1:
                await side.send(side.segment(0, 4), immediate=number)
            assert (await vipl.VipSendWait(side.vi, None))[0] is SUCCESS
        assert await vipl.VipCQDone(cq) == (NOT_DONE, None, None)
        assert await vipl.VipCQWait(cq, 1) == (VIP_RETURN.TIMEOUT, None, None)
        assert await vipl.VipRecvWait(side.vi, 1) == (VIP_RETURN.INVALID_PARAMETER, None)
        assert await vipl.VipRecvNotify(side.vi, 0, print) is VIP_RETURN.INVALID_PARAMETER
        assert await vipl.VipDestroyCQ(cq) is VIP_RETURN.ERROR_RESOURCE
        assert side.errors == []
        return got

    async def before(side):
        await side.receive(side.segment(0, 8))

    found = run_pair(program, program, level, queues=(0, entries), before=before,
                     via__translation=translation, via__spin=100)
    assert found == [list(range(rounds))] * 2


async def poll(vipl, cq):
    while True:
        found = await vipl.VipCQDone(cq)
        if found[0] is not NOT_DONE:
            return found


@pytest.mark.parametrize("translation", ["cache", "physical"])
def test_resizing_keeps_what_is_in_it(translation):
    """Larger and smaller, with entries in it, waiting notices and traffic; flushed descriptors have
    entries, too; a notice takes an entry that is there, and handlers queue."""
    async def second(side):
        vipl, cq = side.vipl, side.cqs[1]
        seen = []
        sizes = (64, 3, 500, 40)
        await rest(side, 20_000)
        for number in range(24):
            if number % 6 == 0:
                assert await vipl.VipResizeCQ(cq, sizes[number // 6]) is SUCCESS
            result, vi, receive = await vipl.VipCQWait(cq, 100)
            assert (result, receive) == (SUCCESS, True)
            seen.append(side.look((await vipl.VipRecvDone(vi))[1]).immediate)
        called = []
        for name in "ab":
            await vipl.VipCQNotify(cq, name, lambda *found: called.append(found))
        assert await vipl.VipResizeCQ(cq, 50) is SUCCESS
        while len(called) < 2:
            await vipl.VipQueryVi(side.vi)
        assert called == [(name, side.nic, side.vi, True) for name in "ab"]
        for _ in called:
            seen.append(side.look((await vipl.VipRecvDone(side.vi))[1]).immediate)
        await vipl.VipDisconnect(side.vi)
        for _ in range(4):
            assert (await vipl.VipCQDone(cq))[0] is SUCCESS
            assert (await vipl.VipRecvDone(side.vi))[0] is ERROR
        assert (await vipl.VipCQDone(cq))[0] is NOT_DONE
        assert await vipl.VipDestroyVi(side.vi) is SUCCESS
        assert await vipl.VipDestroyCQ(cq) is SUCCESS
        assert await vipl.VipCQDone(cq) == (VIP_RETURN.INVALID_PARAMETER, None, None)
        return seen

    async def before(side):
        if side.node.number:
            for _ in range(30):
                await side.receive(side.segment(0, 8))

    async def first(side):
        await send_many(side, 24, 300)
        await rest(side, 100_000)
        for number in (24, 25):
            await side.send(side.segment(0, 4), immediate=number)
            await side.vipl.VipSendWait(side.vi, None)

    assert run_pair(first, second, queues=(0, 32), before=before,
                    via__translation=translation)[1] == list(range(26))


@pytest.mark.parametrize("messages", [0, 2])
def test_entries_of_a_vi_that_is_gone_are_passed_over(messages):
    """A wait that finds one looks once more, and sleeps: it does not spin for the rest of the time.
    Messages of another VI are found behind one."""
    async def first(side):
        await side.send(side.segment(0, 4))
        await rest(side, 100_000)

    async def before(side):
        await side.receive(side.segment(0, 8))

    async def second(side):
        vipl, cq = side.vipl, side.cqs[1]
        await rest(side, 20_000)
        assert (await vipl.VipRecvDone(side.vi))[0] is SUCCESS
        await vipl.VipDisconnect(side.vi)
        assert await vipl.VipDestroyVi(side.vi) is SUCCESS
        other = (await vipl.VipCreateVi(side.nic, side.vi.attributes, None, cq))[1]
        cq.backlog.extend([(side.vi.number, True), (other.number, True)] * messages)
        dozes, doze = [], vipl.kernel.doze

        async def counted(deadline):
            dozes.append(side.node.port.cycle)
            return await doze(deadline)

        vipl.kernel.doze = counted
        begin = await side.node.port.flush()
        found = [await vipl.VipCQWait(cq, 1) for _ in range(messages + 1)]
        assert found == [(SUCCESS, other, True)] * messages + [(VIP_RETURN.TIMEOUT, None, None)]
        return [cycle - begin for cycle in dozes]

    dozes = run_pair(first, second, queues=(0, 8), before=before, via__spin=60_000)[1]
    assert dozes and dozes[0] < 1000


def test_notices_of_a_completion_queue_take_entries_that_are_there():
    """The oldest handler gets the oldest entry; without an entry it waits for one."""
    async def program(node):
        side = await Side(node).open(send_cq=8)
        vipl, cq, called = side.vipl, side.cqs[0], []
        vas = [await side.send(side.segment(0, 4)) for _ in range(3)]
        await rest(side, 5000)
        for name in "ab":
            assert await vipl.VipCQNotify(cq, name, lambda *found: called.append(found)) is SUCCESS
        assert called == [(name, side.nic, side.vi, False) for name in "ab"]
        assert await vipl.VipCQDone(cq) == (SUCCESS, side.vi, False)
        for va in vas:
            assert await vipl.VipSendDone(side.vi) == (ERROR, va)
        await vipl.VipCQNotify(cq, "c", lambda *found: called.append(found))
        assert len(called) == 2 and (await vipl.VipCQDone(cq))[0] is NOT_DONE
        await side.send(side.segment(0, 4))
        while len(called) < 3:
            await vipl.VipQueryVi(side.vi)
        assert called[2] == ("c", side.nic, side.vi, False)
        assert (await vipl.VipCQDone(cq))[0] is NOT_DONE

    run(program, None)


def test_a_thousand_posted_and_a_thousand_in_a_completion_queue():
    """1,024 descriptors of a work queue, 1,024 entries: nothing overruns, all are in order."""
    count = 1024

    async def program(node):
        side = await Side(node).open(receive_cq=count)
        vipl = side.vipl
        place = side.process.allocate(64 * count, 64, fresh=True)
        handle = await side.register(place, 64 * count)
        vas = [place + 64 * number for number in range(count)]
        for va in vas:
            await descriptors.build(side.process, va, [side.segment(0, 8)])
            assert await vipl.VipPostRecv(side.vi, va, handle) is SUCCESS
        await rest(side, 5000)
        assert (await vipl.VipQueryVi(side.vi))[1].state is VipState.IDLE and side.errors == []
        await vipl.VipDisconnect(side.vi)
        for va in vas:
            assert await vipl.VipCQDone(side.cqs[1]) == (SUCCESS, side.vi, True)
            assert await vipl.VipRecvDone(side.vi) == (ERROR, va)
        assert (await vipl.VipCQDone(side.cqs[1]))[0] is NOT_DONE
        assert side.errors == []

    run(program, None)


def test_a_completion_queue_that_overflows():
    """More entries than it has room for: the VI is in error, and says so."""
    async def second(side):
        await rest(side, 100_000)
        await side.vipl.VipQueryVi(side.vi)
        return side.errors[0]

    async def before(side):
        if side.node.number:
            for _ in range(9):
                await side.receive(side.segment(0, 8))

    async def first(side):
        for number in range(9):
            await side.send(side.segment(0, 4), immediate=number)
        await rest(side, 100_000)

    assert run_pair(first, second, UD, queues=(0, 4),
                    before=before)[1] is ErrorCode.VI_OVERRUN


@pytest.mark.parametrize("translation", ["cache", "table", "physical"])
def test_a_bad_descriptor_comes_back_with_its_error(translation):
    """Wrong length and a segment of another handle; what is behind them flushes at RD, not at UD.
    """
    async def first(side):
        await rest(side, 5000)
        results = []
        bad = [await side.send(side.segment(0, 4), control=8 << 4),
               await side.send(side.segment(0, 4)._replace(handle=side.handle + 1)),
               await side.send(side.segment(0, 5000)),
               await side.send(side.segment(0, 4))]
        for va in bad:
            result, found = await side.vipl.VipSendWait(side.vi, 100)
            assert found == va
            results.append((result is SUCCESS, int(side.look(va).errors)))
        return results

    async def second(side):
        await rest(side, 200_000)

    async def before(side):
        await side.receive(side.segment(0, 8000))

    wanted = [(False, int(status)) for status in (Status.FORMAT, Status.PROTECTION, Status.LENGTH)]
    for level, last in ((UD, (True, 0)), (RD, (False, int(Status.FLUSHED)))):
        found = run_pair(first, second, level, before=before, via__translation=translation,
                         attributes={"max_transfer": 4999})[0]
        flushed = [(False, int(Status.FLUSHED))] * 2
        assert found == (wanted + [last] if level is UD else wanted[:1] + flushed + [last])


@pytest.mark.parametrize("level", [RD, RR])
def test_marks_name_what_was_found(level):
    async def first(side):
        await rest(side, 5000)
        port = side.node.port
        port.log.clear()
        await side.send(side.segment(0, 4))
        await side.vipl.VipSendWait(side.vi, None)
        posts = [mark for mark in port.log if mark[1] == Activity.POST_SEND]
        ends = [mark for mark in port.log if mark[1] == Activity.SEND_COMPLETE]
        assert len(posts) == len(ends) == 2
        assert {mark[3] for mark in posts + ends} == {posts[0][3]} and posts[0][3]
        assert side.node.service(Kernel).vis[side.vi.number].send.seen == 1
        return True

    async def second(side):
        await side.vipl.VipRecvWait(side.vi, None)
        log = side.node.port.log
        assert [mark[1] for mark in log if mark[1] == Activity.BLOCKED]
        return [mark[3] for mark in log if mark[1] == Activity.RECEIVE_COMPLETE][0] > 0

    async def before(side):
        await side.receive(side.segment(0, 8))

    assert run_pair(first, second, level, before=before) == [True, True]


def test_a_wait_that_spins_ends_with_the_check_that_finds_the_message():
    """What comes before that check is waiting, and only the rest is the message's."""
    async def first(side):
        await rest(side, 5000)
        await side.send(side.segment(0, 4))
        await rest(side, 5000)

    async def second(side):
        port = side.node.port
        side.vipl.spin = 1 << 20
        port.log.clear()
        assert (await side.vipl.VipCQWait(side.cqs[1], None))[0] is SUCCESS
        return [tuple(mark[:3]) for mark in port.log]

    async def before(side):
        await side.receive(side.segment(0, 8))

    begin, found, handled, end = run_pair(first, second, queues=(0, 8), before=before)[1]
    assert begin[1:] == (Activity.EMPTY_CHECK, BEGIN) and found[1:] == (Activity.EMPTY_CHECK, END)
    assert handled[1:] == (Activity.RECEIVE_COMPLETE, BEGIN)
    assert end[1:] == (Activity.RECEIVE_COMPLETE, END)
    assert found[0] == handled[0] and found[0] - begin[0] > 100 * (end[0] - handled[0]) > 0


def test_sends_on_an_idle_vi_flush():
    async def program(node):
        side = await Side(node).open()
        queue = side.vi.send
        for _ in range(3):
            va = await side.send(side.segment(0, 4))
            assert await side.vipl.VipSendWait(side.vi, None) == (ERROR, va)
            assert side.look(va).errors is Status.FLUSHED
        assert (queue.posted, queue.seen) == (3, 3)

    run(program, None)


def test_resizing_when_nothing_more_comes():
    """What was in the old ring is found without a new entry; and no interrupt is left standing."""
    async def first(side):
        await send_many(side, 3)
        await rest(side, 100_000)

    async def second(side):
        await rest(side, 60_000)
        assert await side.vipl.VipResizeCQ(side.cqs[1], 9) is SUCCESS
        for _ in range(3):
            assert (await side.vipl.VipCQDone(side.cqs[1]))[0] is SUCCESS
        before = side.node.service(Kernel).interrupts
        for _ in range(5):
            await side.vipl.VipQueryVi(side.vi)
        return side.node.service(Kernel).interrupts - before

    async def before(side):
        for _ in range(3 * side.node.number):
            await side.receive(side.segment(0, 8))

    assert run_pair(first, second, queues=(0, 8), before=before)[1] == 0


@pytest.mark.parametrize("translation", ["cache", "table", "physical"])
def test_bounds_of_two_regions_in_a_page(translation):
    """Two regions of a page: the handle of one does not reach the bytes of the other."""
    async def first(side):
        small = await side.register(side.va + 16, 8)
        results = []
        for offset, length in ((16, 8), (16, 9), (15, 8), (24, 1)):
            va = await side.send(Segment(side.va + offset, small, length))
            await side.vipl.VipSendWait(side.vi, 100)
            results.append(int(side.look(va).errors))
        return results

    async def second(side):
        await rest(side, 100_000)

    refused = int(Status.PROTECTION)
    assert run_pair(first, second, UD, via__translation=translation)[0] == [0] + [refused] * 3


def test_a_wait_that_is_interrupted_spins_on():
    """The kernel's deadlines end single checks, and no wait: it gives up the CPU at its own end."""
    async def first(side):
        await rest(side, 8000)
        await side.send(side.segment(0, 4))
        await rest(side, 20_000)

    async def before(side):
        await side.receive(side.segment(0, 8))

    async def second(side):
        dozes, kernel = [], side.vipl.kernel

        async def doze(deadline):
            dozes.append(deadline)

        kernel.doze, kernel.until = doze, lambda end: 100
        found = await side.vipl.VipCQWait(side.cqs[1], None)
        assert found == (SUCCESS, side.vi, True)
        return dozes

    assert run_pair(first, second, queues=(0, 8), before=before, via__spin=60_000)[1] == []


@pytest.mark.parametrize("posted", [0, 1])
def test_a_bad_descriptor_is_linked_to_the_last_one(posted):
    """The store to the last descriptor stands before the doorbell, though there is none to this
    one."""
    async def first(side):
        port, sends = side.node.port, side.vi.send
        await port.flush()
        if posted:
            await side.send(side.segment(0, 4))
            await port.flush()
        assert len(sends.entries) == posted
        await side.vipl.VipPostSend(side.vi, side.va + 4, side.handle)
        found = [port._block.words[at * ENTRY.size] & 15 for at in range(port._block.count)]
        await rest(side, 20_000)
        return found

    async def second(side):
        await rest(side, 20_000)

    async def before(side):
        await side.receive(side.segment(0, 8))

    assert run_pair(first, second, before=before)[0] == [Op.TOUCH] * posted + [Op.PIO_WRITE]


def test_next_is_a_completion_with_its_descriptor():
    """It does what VipCQDone, or VipCQWait, and then VipSendDone do, in the same cycles."""
    def program(calls):
        async def program(node):
            side = await Side(node).open(send_cq=8)
            vas = [await side.send(side.segment(0, 4)) for _ in range(2)]
            await rest(side, 5000)
            begin = side.node.port.cycle
            found = [await one(side.vipl, side.cqs[0]) for one in calls]
            assert found[2] == (NOT_DONE, None, None, None)
            assert found[:2] == [(ERROR, side.vi, False, va) for va in vas]
            return side.node.port.cycle - begin
        return program

    async def done(vipl, cq):
        return await with_descriptor(vipl, await vipl.VipCQDone(cq))

    async def waited(vipl, cq):
        return await with_descriptor(vipl, await vipl.VipCQWait(cq, None))

    async def with_descriptor(vipl, found):
        if found[1] is None:
            return *found, None
        result, va = await vipl.VipSendDone(found[1])
        return result, *found[1:], va

    def look(vipl, cq):
        return vipl.next(cq, wait=False)

    def wait(vipl, cq):
        return vipl.next(cq, wait=True)

    one, other = (run(program(calls), None)[0]
                  for calls in ((done, waited, done), (look, wait, look)))
    assert one == other > 0


def used(source):
    """The members of Vipl that ``source`` uses, but for its calls."""
    return {node.attr for node in ast.walk(ast.parse(source))
            if isinstance(node, ast.Attribute) and not node.attr.startswith("Vip")
            and getattr(node.value, "id", getattr(node.value, "attr", "")) in ("vipl", "_vipl")}


def test_the_channel_of_mpi_takes_calls_alone():
    """Nothing of the parts that check and wait: they are Vipl's to put together."""
    assert used(Path(via.__file__).read_text()) == {
        "awaits", "compute", "next", "post_entries", "posting", "provider", "settle", "spin"}
    assert used("vipl.completing.check(1)\nself._vipl._kernel") == {"completing", "_kernel"}
