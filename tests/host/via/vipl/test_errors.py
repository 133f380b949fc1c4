"""Asynchronous errors, protection and RDMA as a consumer of VIPL meets them, on the model."""

import logging

import pytest
from nicbed.host.via import ErrorCode, MemAttributes, NetAddress, ViAttributes, VipState
from nicbed.host.via.descriptors import Segment
from nicbed.host.via.kernel import Kernel
from nicbed.host.via.returns import VIP_RETURN
from nicbed.layouts.registers import address
from nicbed.layouts.via import Event, Operation, Status

from tests.programs.am import pattern
from tests.programs.vipl import PORT, RD, RR, SUCCESS, UD, Side, run, run_pair

LEVELS = pytest.mark.parametrize("level", [UD, RD, RR], ids=lambda level: level.name)
RELIABLE = pytest.mark.parametrize("level", [RD, RR], ids=lambda level: level.name)
ERROR = VIP_RETURN.DESCRIPTOR_ERROR
WRITE, READ = int(Operation.RDMA_WRITE), int(Operation.RDMA_READ)


async def rest(side, cycles):
    await side.node.port.delay(cycles)
    await side.node.port.flush()


async def attend(side, cycles=50_000):
    await rest(side, cycles)
    return (await side.vipl.VipQueryVi(side.vi))[1].state


@LEVELS
@pytest.mark.parametrize("kind", ["unmapped", "handle", "misaligned", "wide", "deregistered",
                                  "tag"])
@pytest.mark.parametrize("receive", [False, True])
@pytest.mark.parametrize("connected", [False, True])
def test_a_descriptor_that_cannot_be_read(level, kind, receive, connected):
    """POST_DESC once; it and all behind it come back flushed, in order, whatever memory it was in;
    afterwards the VI works again."""
    async def make_bad(side):
        va, handle = await side.make(side.segment(0, 4))
        if kind == "unmapped":
            va += 1 << 30
        elif kind == "handle":
            handle += 1
        elif kind == "misaligned":
            va += 32
        elif kind == "wide":
            va += 1 << 38
        elif kind == "tag":
            _, tag = await side.vipl.VipCreatePtag(side.nic)
            await side.vipl.VipSetMemAttributes(side.nic, va, handle, MemAttributes(tag))
        else:
            await side.vipl.VipDeregisterMem(side.nic, va, handle)
        return va, handle

    async def bad(side):
        """Good, bad, good: what came back, with what errors, after which events."""
        vipl, found = side.vipl, []
        posted = [await side.make(side.segment(0, 4)), await make_bad(side),
                  await side.make(side.segment(0, 4))]
        for va, handle in posted:
            post = vipl.VipPostRecv if receive else vipl.VipPostSend
            assert await post(side.vi, va, handle) is SUCCESS
        await attend(side, 300_000 if connected else 20_000)
        await vipl.VipDisconnect(side.vi)
        for va, _ in posted:
            done = vipl.VipRecvDone if receive else vipl.VipSendDone
            result, back = await done(side.vi)
            assert back == va
            found.append(result)
        for va, _ in posted[::2]:
            assert side.look(va).done
        # Library and NIC agree about what has completed, or every arming would interrupt at once.
        completed = await vipl.provider.completed(side.vi)
        assert completed == side.vi.send.seen & 0xFFFF | (side.vi.receive.seen & 0xFFFF) << 16
        return found, [code.name for code in side.errors]

    async def alone(node):
        side = await Side(node, level).open()
        found, errors = await bad(side)
        va = await side.send(side.segment(0, 4))
        assert await side.vipl.VipSendWait(side.vi, 10) == (ERROR, va)
        return found, errors

    async def second(side):
        for _ in range(3):
            await side.receive(side.segment(0, 4))
        await rest(side, 100_000)
        for _ in range(3):
            await side.send(side.segment(0, 4))
        await rest(side, 500_000)

    # Receives are not looked at before there is a connection, but for what the doorbell shows.
    unseen = not connected and receive and kind not in ("misaligned", "wide")
    if connected:
        found, errors = run_pair(bad, second, level)[0]
        assert found[1:] == [ERROR, ERROR]
        # A doorbell that is wrong in itself ends everything at once.
        if kind not in ("misaligned", "wide") and (receive or level is not RR):
            assert found[0] is SUCCESS
    else:
        found, errors = run(alone, None)[0]
        assert found == [ERROR] * 3
    assert errors == ([] if unseen else ["POST_DESC"])


def test_errors_are_logged_if_nobody_asked(caplog):
    async def program(node):
        side = await Side(node).open()
        await side.vipl.VipErrorCallback(side.nic, None, None)
        await side.vipl.VipPostSend(side.vi, 32, 0)
        await attend(side)
        return side.errors

    with caplog.at_level(logging.WARNING, "nicbed.via"):
        assert run(program, None)[0] == []
    assert "POST_DESC" in caplog.text and "VI 0 of process 1 on node 0" in caplog.text


def test_no_receive_posted():
    """UD: the receiver hears of it and both stay connected. RD, RR: both break."""
    async def first(side):
        await rest(side, 10_000)
        va = await side.send(side.segment(0, 4))
        result, back = await side.vipl.VipSendWait(side.vi, 100)
        assert back == va
        return result is SUCCESS, int(side.look(va).errors), await attend(side), side.errors

    async def second(side):
        return await attend(side, 100_000), side.errors

    found = run_pair(first, second, UD)
    assert found == [(True, 0, VipState.CONNECTED, []),
                     (VipState.CONNECTED, [ErrorCode.RECVQ_EMPTY])]
    lost = [ErrorCode.CONN_LOST]
    found = run_pair(first, second, RD)
    assert found == [(True, 0, VipState.ERROR, lost), (VipState.ERROR, lost)]
    found = run_pair(first, second, RR)
    assert found == [(False, int(Status.REMOTE_DESCRIPTOR), VipState.ERROR, lost),
                     (VipState.ERROR, lost)]


def test_too_many_posted():
    async def program(node):
        side = await Side(node, UD).open()
        for _ in range(6):
            await side.receive(side.segment(0, 4))
        await attend(side)
        before = list(side.errors)
        await side.vipl.VipDisconnect(side.vi)
        back = 0
        while (await side.vipl.VipRecvDone(side.vi))[1] is not None:
            back += 1
        assert await side.vipl.VipDestroyVi(side.vi) is SUCCESS
        return set(before), back

    assert run(program, None, via__queue_depth=4, via__events=4)[0] == ({ErrorCode.VI_OVERRUN}, 6)


def test_a_waiting_call_ends_when_its_descriptor_was_lost():
    """POST_DESC while it sleeps, on the queue that it waits for and on the other one."""
    async def first(side):
        va = await side.receive(side.segment(0, 4))
        await side.vipl.VipPostSend(side.vi, side.va + 64, side.handle + 1)
        assert await side.vipl.VipRecvWait(side.vi, None) == (ERROR, va)
        assert side.look(va).errors is Status.FLUSHED
        assert await side.vipl.VipSendWait(side.vi, None) == (ERROR, side.va + 64)
        return side.errors[0]

    async def second(side):
        await rest(side, 100_000)

    assert run_pair(first, second)[0] is ErrorCode.POST_DESC


def test_events_lost_means_look_at_everything():
    """CATASTROPHIC: connections that ended unheard are found, waiting calls look again."""
    async def first(side):
        va = await side.receive(side.segment(0, 4))
        kernel = side.node.service(Kernel)
        await rest(side, 50_000)
        kernel.interrupt, kept = _ignore, kernel.interrupt
        while not (await kernel.provider.events()):
            await rest(side, 1000)
        kernel.interrupt = kept
        assert side.vi.state.name == "CONNECTED"
        await kernel.event(Event.CATASTROPHIC, 0)
        await kernel.call()
        assert await side.vipl.VipRecvDone(side.vi) == (ERROR, va)
        return side.errors

    async def second(side):
        await rest(side, 60_000)
        side.vi.peer = None
        await side.vipl.VipDisconnect(side.vi)
        await rest(side, 100_000)

    assert run_pair(first, second)[0] == [ErrorCode.CONN_LOST, ErrorCode.CATASTROPHIC]


async def _ignore():
    return None


@LEVELS
@pytest.mark.parametrize("immediate", [None, 0xABCD1234])
def test_rdma_write(level, immediate):
    data = pattern(3000, 5)

    async def first(side):
        side.process.write(side.va, data)
        await rest(side, 20_000)
        va = await side.send(side.segment(0, 1111), side.segment(1111, 1889), control=WRITE,
                             immediate=immediate, remote=Segment(*side.target))
        assert await side.vipl.VipSendWait(side.vi, None) == (SUCCESS, va)
        assert side.errors == []

    async def second(side):
        va = await side.receive(side.segment(0, 4))
        await rest(side, 100_000)
        assert side.process.read(side.target[0] - 8, 3016) == bytes(8) + data + bytes(8)
        result = await side.vipl.VipRecvDone(side.vi)
        if immediate is None:
            assert result == (VIP_RETURN.NOT_DONE, None)
        else:
            assert result == (SUCCESS, va) and side.look(va).immediate == immediate
            assert side.look(va).operation == 3

    async def before(side):
        area = side.process.allocate(4096) + 13
        side.target = area, await side.register(area, 3000, rdma_write=True)

    run_pair(first, second, level, before=before, attributes={"rdma_write": True})


@RELIABLE
def test_rdma_read(level):
    data = pattern(5000, 6)

    async def first(side):
        await rest(side, 20_000)
        va = await side.send(side.segment(100, 2000), side.segment(3000, 3000), control=READ,
                             remote=Segment(*side.target))
        assert await side.vipl.VipSendWait(side.vi, None) == (SUCCESS, va)
        assert side.look(va).operation == 4 and side.look(va).length == 5000
        assert side.process.read(side.va + 100, 2000) == data[:2000]
        assert side.process.read(side.va + 3000, 3000) == data[2000:]

    async def second(side):
        await rest(side, 150_000)
        assert side.errors == []

    async def before(side):
        area = side.process.allocate(8192) + 5
        side.process.write(area, data)
        side.target = area, await side.register(area, 5000, rdma_read=True)

    run_pair(first, second, level, before=before, attributes={"rdma_read": True})


@pytest.mark.parametrize("refused", ["vi", "region", "bounds", "stale", "tag"])
def test_rdma_write_refused_at_the_target(refused):
    """UD: RDMAW_PROT there, nothing written, both stay connected."""
    async def first(side):
        await rest(side, 60_000)
        length = 101 if refused == "bounds" else 100
        await side.send(side.segment(0, length), control=WRITE, remote=Segment(*side.target))
        assert (await side.vipl.VipSendWait(side.vi, None))[0] is SUCCESS
        return await attend(side), side.errors

    async def second(side):
        va, handle = side.target
        if refused == "stale":
            await side.vipl.VipDeregisterMem(side.nic, va, handle)
            again = await side.register(va, 100, rdma_write=True)
            assert again != handle
        state = await attend(side, 150_000)
        assert side.process.read(va - 8, 8) + side.process.read(va + 100, 8) == bytes(16)
        if refused != "bounds":
            assert side.process.read(va, 100) == bytes(100)
        return state, side.errors

    async def before(side):
        area = side.process.allocate(4096) + 13
        side.target = area, await side.register(area, 100, rdma_write=refused != "region")
        side.process.write(side.va, pattern(200, 1))
        if refused == "tag":
            _, tag = await side.vipl.VipCreatePtag(side.nic)
            await side.vipl.VipSetMemAttributes(side.nic, *side.target, MemAttributes(tag, True))

    enabled = {"rdma_write": refused != "vi"}
    assert run_pair(first, second, UD, before=before, attributes=enabled) == [
        (VipState.CONNECTED, []), (VipState.CONNECTED, [ErrorCode.RDMAW_PROT])]


@pytest.mark.parametrize("translation", ["cache", "table"])
def test_a_deregistered_handle_never_works_again(translation):
    """Nor does it come again when the same memory is registered a hundred times."""
    async def first(side):
        stale = Segment(side.va, side.handle, 4)
        assert await side.vipl.VipDeregisterMem(side.nic, side.va, side.handle) is SUCCESS
        seen = {side.handle}
        for _ in range(100):
            handle = await side.register(side.va, side.length)
            assert handle not in seen
            seen.add(handle)
            await side.vipl.VipDeregisterMem(side.nic, side.va, handle)
        await side.register(side.va, side.length)
        va = await side.send(stale)
        assert await side.vipl.VipSendWait(side.vi, 100) == (ERROR, va)
        return int(side.look(va).errors)

    async def second(side):
        await rest(side, 300_000)

    found = run_pair(first, second, UD, via__translation=translation)[0]
    assert found == int(Status.PROTECTION)


@pytest.mark.parametrize("translation", ["cache", "table", "physical"])
def test_changed_attributes_hold_at_once(translation):
    """Also in a cache that had the old ones."""
    async def first(side):
        _, tag = await side.vipl.VipCreatePtag(side.nic)
        results = []
        for attributes in (MemAttributes(side.tag), MemAttributes(tag), MemAttributes(side.tag)):
            assert await side.vipl.VipSetMemAttributes(side.nic, side.va, side.handle,
                                                       attributes) is SUCCESS
            va = await side.send(side.segment(0, 4))
            await side.vipl.VipSendWait(side.vi, 100)
            results.append(int(side.look(va).errors))
        return results

    async def second(side):
        await rest(side, 100_000)

    assert run_pair(first, second, UD, via__translation=translation)[0] == [
        0, int(Status.PROTECTION), 0]


def test_changed_attributes_of_a_vi():
    async def program(node):
        side = await Side(node, RD).open()
        attributes = ViAttributes(side.tag, RD, max_transfer=100)
        assert await side.vipl.VipSetViAttributes(side.vi, attributes) is SUCCESS
        await side.connect()
        if node.number == 0:
            await rest(side, 10_000)
            va = await side.send(side.segment(0, 101))
            await side.vipl.VipSendWait(side.vi, None)
            return int(side.look(va).errors)
        await rest(side, 100_000)

    assert run(program, program)[0] == int(Status.LENGTH)


def test_processes_are_kept_apart():
    """A process cannot ring, read or reach what is another's; the kernel's registers least."""
    async def program(node):
        one, two = [await Side(node, UD, number=number).open() for number in (1, 2)]
        assert one.va == two.va and one.handle != two.handle
        assert one.process.physical(one.va) != two.process.physical(two.va)
        port = node.port
        counter = address("page_refused" if node.description.via.design == "firmware"
                          else "doorbells_foreign")
        foreign = await port.pio_read(counter)
        port.process = 2
        await port.pio_write(one.vi.send.doorbell, one.va | one.handle << 38)
        port.process = 0
        assert await port.pio_read(counter) == foreign + 1
        assert one.errors == two.errors == []
        assert NetAddress(0, PORT) == NetAddress(0, PORT)
        return port.process

    assert run(program, None)[0] == 0
