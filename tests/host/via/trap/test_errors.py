"""The kernel-trap design point: what goes wrong, and the ends of connections."""

import pytest
from nicbed.host.via import VIP_RETURN, VipState, descriptors
from nicbed.host.via.descriptors import pack
from nicbed.layouts.via import Control, Operation, RemoteOperation, Status

from tests.labs.kernel_trap import (
    ERROR,
    GUARD,
    LEVELS,
    OK,
    RD,
    RELIABLE,
    RR,
    UD,
    run_pair,
    state,
    until,
)
from tests.programs.am import pattern


@LEVELS
def test_no_receive_descriptor(level):
    async def receiver(side):
        await side.connect(True)
        await until(side, lambda: side.events)
        assert side.events == ["RECVQ_EMPTY" if level is UD else "CONN_LOST"]
        assert await state(side) is (VipState.CONNECTED if level is UD else VipState.ERROR)
        await side.linger(20000)

    async def sender(side):
        await side.connect(False)
        await side.send(0, [side.at(8192, 10)])
        await side.send(64, [side.at(8192, 10)])
        result, done = await side.sent()
        if level is RR:
            assert (result, done.errors) == (ERROR, Status.REMOTE_DESCRIPTOR)
            assert (await side.sent())[1].errors == Status.FLUSHED
        else:
            assert result is OK
        if level is not UD:
            await until(side, lambda: side.events)
            assert side.events == ["CONN_LOST"]
            assert await state(side) is VipState.ERROR
        else:
            await side.linger(40000)

    run_pair(receiver, sender, reliability=level)


@LEVELS
def test_longer_than_the_receive_buffers(level):
    async def receiver(side):
        side.write(8192, GUARD * 4096)
        await side.receive(0, [side.at(8192, 1500)])
        await side.receive(64, [side.at(8192, 1500)])
        await side.connect(True)
        result, done = await side.received()
        assert (result, done.errors, done.length) == (ERROR, Status.LENGTH, 1500)
        assert side.read(8192, 1500) == pattern(1500, 1)
        assert side.read(8192 + 1500, 100) == GUARD * 100
        if level is not UD:
            assert (await side.received())[1].errors == Status.FLUSHED
        await side.linger(20000)
        assert await state(side) is (VipState.CONNECTED if level is UD else VipState.ERROR)

    async def sender(side):
        await side.connect(False)
        side.write(8192, pattern(3000, 1))
        await side.send(0, [side.at(8192, 3000)])
        result, done = await side.sent()
        assert done.errors == (Status.REMOTE_DESCRIPTOR if level is RR else 0)
        await side.linger(40000)

    run_pair(receiver, sender, reliability=level)


BAD = {
    "operation": (dict(control=3), Status.FORMAT),
    "reserved bits": (dict(control=1 << 4), Status.FORMAT),
    "too many segments": (dict(count=253), Status.FORMAT),
    "rdma without address": (dict(control=1, segments=[]), Status.FORMAT),
    "immediate on read": (dict(control=Operation.RDMA_READ | Control.IMMEDIATE, rdma=True),
                          Status.FORMAT),
    "length": (dict(length=99), Status.LENGTH),
    "max transfer": (dict(size=20001), Status.LENGTH),
    "handle": (dict(handle=1), Status.PROTECTION),
    "past the end": (dict(offset=(1 << 16) - 50), Status.PROTECTION),
}


@LEVELS
@pytest.mark.parametrize("case", BAD)
def test_a_bad_send_descriptor(level, case):
    """It completes with what is wrong with it; nothing of it arrives; a reliable VI breaks."""
    how, status = BAD[case]

    async def receiver(side):
        await side.receive(0, [side.at(8192, 200)])
        await side.connect(True)
        result, done = await side.received()
        if level is UD:
            assert (result, done.length) == (OK, 7)
        else:
            assert done.errors == Status.FLUSHED
            assert side.events == ["CONN_LOST"]

    async def sender(side):
        await side.connect(False)
        segments = how.get("segments")
        if segments is None:
            segments = [side.at(how.get("offset", 8192), how.get("size", 100), how.get("handle"))]
        options = {name: how[name] for name in ("control", "count", "length") if name in how}
        if how.get("rdma"):
            options["remote"] = side.at(0)
        side.write(0, pack(segments, **options))
        assert await side.vipl.VipPostSend(side.vi, side.base, side.handle) is OK
        result, done = await side.sent()
        assert (result, done.errors, done.length) == (ERROR, status, 0)
        await side.send(512, [side.at(8192, 7)])
        result, done = await side.sent()
        assert done.errors == (0 if level is UD else Status.FLUSHED)
        await side.linger(30000)
        assert side.events == ([] if level is UD else ["CONN_LOST"])

    run_pair(receiver, sender, reliability=level, max_transfer=20000)


@LEVELS
@pytest.mark.parametrize("bad", ["misaligned", "handle", "nowhere"])
def test_a_descriptor_that_cannot_be_read(level, bad):
    async def receiver(side):
        await side.receive(0, [side.at(8192, 200)])
        await side.connect(True)
        await until(side, lambda: side.events or level is UD)
        await side.linger(60000)

    async def sender(side):
        await side.connect(False)
        await side.build(64, [side.at(8192, 7)])
        va = {"misaligned": side.base + 96, "handle": side.base + 64, "nowhere": 64}[bad]
        handle = side.handle + 1 if bad == "handle" else side.handle
        assert await side.vipl.VipPostSend(side.vi, va, handle) is OK
        result, found = VIP_RETURN.NOT_DONE, None
        while result is VIP_RETURN.NOT_DONE:
            result, found = await side.vipl.VipSendDone(side.vi)
        assert (result, found) == (ERROR, va)
        await side.linger(1000)
        assert side.events == ["POST_DESC"]
        assert await state(side) is VipState.ERROR

    run_pair(receiver, sender, reliability=level)


def test_what_is_no_descriptor_flushes_and_touches_nothing():
    """In either queue; memory that is nobody's stays so."""
    async def alone(side):
        await side.connect(True)
        bad = side.base + 32
        assert await side.vipl.VipPostRecv(side.vi, bad, side.handle) is OK
        assert await side.vipl.VipPostSend(side.vi, bad, side.handle) is OK
        assert await side.vipl.VipSendDone(side.vi) == (ERROR, bad)
        assert await side.vipl.VipRecvDone(side.vi) == (ERROR, bad)
        assert side.node.memory.read(0, 8) == bytes(8)

    async def other(side):
        await side.connect(False)
        await until(side, lambda: side.events)

    run_pair(alone, other)


def test_another_protection_tag():
    """A region of another tag is refused for descriptors, for data, and for RDMA."""
    async def receiver(side):
        await side.receive(0, [side.at(8192, 200)])
        await side.connect(True)
        await until(side, lambda: side.events)

    async def sender(side):
        await side.connect(False)
        result, other = await side.vipl.VipCreatePtag(side.nic)
        assert result is OK
        mine, side.tag = side.tag, other
        handle = await side.register(side.base, side.size)
        side.tag = mine
        await side.send(0, [side.at(8192, 10, handle)])
        assert (await side.sent())[1].errors == Status.PROTECTION
        await side.linger(30000)

    run_pair(receiver, sender, reliability=RR)


@RELIABLE
def test_a_peer_that_never_answers(level):
    """Time-outs, then the connection breaks; what had begun has the transport error."""
    async def silent(side):
        await side.connect(True)

    async def sender(side):
        await side.connect(False)
        for index in range(3):
            await side.send(64 * index, [side.at(8192, 3000)])
        first = (await side.sent())[1]
        await until(side, lambda: side.events, 4_000_000)
        assert side.events == ["CONN_LOST"]
        assert first.errors == (Status.TRANSPORT if level is RR else 0)
        assert side.provider.counters["timeouts"] == 4
        last = [(await side.sent())[1].errors for _ in range(2)]
        assert last == [Status.FLUSHED] * 2 or level is RD

    def via_data(data):
        return data[6] == 2

    run_pair(silent, sender, reliability=level, lose={1: via_data},
             settings={"via.retry_timeout": 2000, "via.retries": 4})


@LEVELS
def test_disconnecting_flushes_and_the_peer_hears_of_it(level):
    async def receiver(side):
        for index in range(3):
            await side.receive(64 * index, [side.at(8192, 100)])
        await side.connect(True)
        await until(side, lambda: side.events)
        assert side.events == ["CONN_LOST"]
        for _ in range(3):
            result, done = await side.received()
            assert (result, done.errors) == (ERROR, Status.FLUSHED)
            assert done.operation is RemoteOperation.RECEIVE
        assert await side.vipl.VipDisconnect(side.vi) is OK
        assert await state(side) is VipState.IDLE

    async def leaver(side):
        await side.receive(0, [side.at(8192, 100)])
        await side.connect(False)
        assert await side.vipl.VipDisconnect(side.vi) is OK
        assert (await side.received())[1].errors == Status.FLUSHED
        await side.send(64, [side.at(8192, 100)])
        assert (await side.sent())[1].errors == Status.FLUSHED
        assert side.events == []
        await side.linger(40000)

    run_pair(receiver, leaver, reliability=level)


def test_descriptors_posted_before_connecting():
    """Receives wait; sends complete flushed."""
    async def receiver(side):
        await side.send(0, [side.at(8192, 100)])
        assert (await side.sent())[1].errors == Status.FLUSHED
        await side.receive(64, [side.at(8192, 100)])
        await side.connect(True)
        assert (await side.received())[1].length == 10
        await side.linger(10000)

    async def sender(side):
        await side.connect(False)
        await side.send(0, [side.at(8192, 10)])
        await side.linger(10000)

    run_pair(receiver, sender)


def test_too_many_posted():
    async def receiver(side):
        for index in range(4):
            await side.receive(64 * index, [side.at(8192, 100)])
        await side.connect(True)
        assert side.events == []
        await side.receive(64 * 5, [side.at(8192, 100)])
        await side.linger(1000)
        assert side.events == ["VI_OVERRUN"]
        for _ in range(5):
            result, va = await side.vipl.VipRecvDone(side.vi)
            assert (result, va is not None) == (ERROR, True)

    async def sender(side):
        await side.connect(False)
        await until(side, lambda: side.events)

    run_pair(receiver, sender, settings={"via.queue_depth": 4})


@LEVELS
def test_packets_of_another_vi_are_not_taken(level):
    """A VI whose own kernel agent believes it connected to a VI that has another peer."""
    async def receiver(side):
        side.write(8192, GUARD * 200)
        await side.receive(0, [side.at(8192, 200)])
        await side.connect(True)
        await side.linger(40_000)
        assert side.provider.counters["unmatched"] > 0
        assert (await side.vipl.VipRecvDone(side.vi))[0] is VIP_RETURN.NOT_DONE
        assert side.read(8192, 200) == GUARD * 200
        assert await state(side) is VipState.CONNECTED

    async def forger(side):
        await side.connect(False)
        true, side.vi = side.vi, await side.endpoint()
        side.vi.peer = true.peer
        await side.provider.connect(side.vi, true.private.route, 1 << 20)
        await side.send(0, [side.at(8192, 100)])
        await side.linger(20_000)

    run_pair(receiver, forger, reliability=level)


@RELIABLE
def test_a_message_that_ends_in_the_middle(level):
    """What was begun, at either end, completes flushed before what is behind it."""
    async def receiver(side):
        for index in range(2):
            await side.receive(64 * index, [side.at(8192, 8000)])
        await side.connect(True)
        for index in range(2):
            result, va = VIP_RETURN.NOT_DONE, None
            while result is VIP_RETURN.NOT_DONE:
                result, va = await side.vipl.VipRecvDone(side.vi)
            assert (result, va) == (ERROR, side.base + 64 * index)
            assert descriptors.read(side.process, va).errors == Status.FLUSHED
        assert side.read(8192, 1024) == pattern(7000, 1)[:1024]

    async def leaver(side):
        side.write(8192, pattern(7000, 1))
        await side.connect(False)
        for index in range(2):
            await side.send(64 * index, [side.at(8192, 7000)])
        assert await side.vipl.VipDisconnect(side.vi) is OK
        for index in range(2):
            result, done = await side.sent()
            assert (result, done.errors) == (ERROR, Status.FLUSHED)
            assert descriptors.read(side.process, side.base + 64 * index).done
        await side.linger(30_000)

    run_pair(receiver, leaver, reliability=level, settings={"via.window": 2})


@pytest.mark.parametrize("start, length", [(200, 101), (199, 100), (250, 51)])
def test_bounds_are_to_the_byte(start, length):
    """Of data sent, and of data received: bytes 200 to 299 of a page are registered."""
    async def receiver(side):
        side.write(8192, GUARD * 1000)
        part = await side.register(side.base + 8192 + 200, 100)
        await side.receive(0, [side.at(8192 + start, length, part)])
        await side.receive(64, [side.at(8192 + 200, 100, part)])
        await side.connect(True)
        assert (await side.received())[1].errors == Status.PROTECTION
        assert (await side.received())[1].length == 100
        written = side.read(8192, 1000)
        assert written[:200] == GUARD * 200 and written[300:] == GUARD * 700
        assert written[200:300] == bytes(100)
        await side.linger(20_000)

    async def sender(side):
        part = await side.register(side.base + 8192 + 200, 100)
        await side.connect(False)
        await side.send(0, [side.at(8192, length)])
        assert (await side.sent())[0] is OK
        await side.send(64, [side.at(8192 + start, length, part)])
        assert (await side.sent())[1].errors == Status.PROTECTION
        await side.send(128, [side.at(8192 + 200, 100, part)])
        assert (await side.sent())[0] is OK
        await side.linger(20_000)

    run_pair(receiver, sender, reliability=UD)
