"""The kernel-trap design point: VIA's promises kept by the kernel agent, over rings that lose."""

import random

import pytest
from am_scenarios import pattern
from kernel_trap_lab import OK, RD, RR, UD, run_pair
from nicbed.host.via import VIP_INFINITE, VIP_RETURN, VipState
from nicbed.host.via.descriptors import pack
from nicbed.layouts.trace import Activity
from nicbed.layouts.via import Control, Operation, RemoteOperation, Status

LEVELS = pytest.mark.parametrize("level", [UD, RD, RR], ids=lambda level: level.name)
RELIABLE = pytest.mark.parametrize("level", [RD, RR], ids=lambda level: level.name)
ERROR = VIP_RETURN.DESCRIPTOR_ERROR
QUICK = {"via.retry_timeout": 3000, "via.retries": 60}
GUARD = b"\xA5"


async def state(side):
    result, found = await side.vipl.VipQueryVi(side.vi)
    assert result is OK
    return found.state


async def until(side, done, cycles=2_000_000):
    """Calls VIPL until ``done()``."""
    end = side.port.cycle + cycles
    while not done():
        assert side.port.cycle < end, "it never happened"
        await side.linger(500)


# Messages


@LEVELS
@pytest.mark.parametrize("length", [0, 1, 24, 25, 1000, 1024, 5000, 32768])
def test_a_message_arrives(level, length):
    data = pattern(length, 3)

    async def receiver(side):
        side.write(4000, GUARD * (length + 40))
        await side.receive(0, [side.at(4009, 3), side.at(4020, length + 5)])
        await side.connect(True)
        result, done = await side.received()
        assert (result, done.length) == (OK, length)
        assert done.status == Status.DONE | RemoteOperation.RECEIVE << 16
        assert side.read(4009, 3)[:length] == data[:3]
        assert side.read(4020, max(0, length - 3)) == data[3:]
        assert side.read(4000, 9) == GUARD * 9
        assert side.read(4020 + max(0, length - 3), 17) == GUARD * 17
        await side.linger(30000)

    async def sender(side):
        await side.connect(False)
        side.write(4011, data)
        await side.send(64, [side.at(4011, length)])
        result, done = await side.sent()
        assert (result, done.length, done.status) == (OK, length, Status.DONE)
        await until(side, lambda: not side.provider.ends[0].slots)

    run_pair(receiver, sender, reliability=level)


@LEVELS
@pytest.mark.parametrize("segments", [0, 1, 3, 252])
def test_gather_and_scatter_with_immediate_data(level, segments):
    draw = random.Random(f"{level} {segments}")
    places = [(8192 + 20 * i + draw.randrange(8), draw.randrange(13)) for i in range(segments)]
    total = sum(length for _, length in places)
    data = pattern(total, 1)

    async def receiver(side):
        side.write(8192, GUARD * 8192)
        await side.receive(0, [side.at(*place) for place in places])
        await side.connect(True)
        result, done = await side.received()
        assert (result, done.length, done.immediate) == (OK, total, 0xDEADBEEF)
        assert done.has_immediate
        expected = bytearray(GUARD * 8192)
        at = 0
        for place, length in places:
            expected[place - 8192:place - 8192 + length] = data[at:at + length]
            at += length
        assert side.read(8192, 8192) == expected
        await side.linger(20000)

    async def sender(side):
        at = 0
        for place, length in places:
            side.write(place, data[at:at + length])
            at += length
        await side.connect(False)
        await side.send(0, [side.at(*place) for place in places], immediate=0xDEADBEEF)
        assert (await side.sent())[0] is OK
        await side.linger(20000)

    run_pair(receiver, sender, reliability=level)


def lengths_of(seed, count, most=3000):
    draw = random.Random(seed)
    return [draw.choice([0, 1, 4, 24, 25, 100, 1024, 1025, draw.randrange(most)])
            for _ in range(count)]


FAULTS = {"drop": {"faults.drop": 0.15}, "duplicate": {"faults.duplicate": 0.3},
          "corrupt": {"faults.corrupt": 0.15},
          "all": {"faults.drop": 0.08, "faults.duplicate": 0.1, "faults.corrupt": 0.05,
                  "faults.delay": 0.1, "faults.delay_cycles": 4000}}


@RELIABLE
@pytest.mark.parametrize("faults", FAULTS)
@pytest.mark.parametrize("seed", [1, 2])
def test_reliable_messages_survive_faults_in_order(level, faults, seed):
    """Nothing is lost, doubled, or put elsewhere: both directions at once, windows wrap."""
    lengths = lengths_of(seed, 40)
    slot = 3072

    def exchange(server):
        async def program(side):
            data, descriptors = 16384, 1024
            inbox = 65536
            for index in range(len(lengths)):
                side.write(inbox + slot * index, GUARD * slot)
                await side.receive(descriptors + 128 * index,
                                   [side.at(inbox + slot * index, slot - 8)])
            await side.connect(server)
            sent = 0
            for index, length in enumerate(lengths):
                side.write(data, pattern(length, index + 50 * server))
                await side.send(512, [side.at(data, length)])
                result, done = await side.sent()
                assert (result, done.length) == (OK, length)
                sent += 1
            for index, length in enumerate(lengths):
                result, done = await side.received()
                assert (result, done.length) == (OK, length)
                assert side.read(inbox + slot * index, slot) == (
                    pattern(length, index + 50 * (not server)) + GUARD * (slot - length))
            await until(side, lambda: not side.provider.ends[0].slots)
            await side.linger(300_000)
            assert side.events == []
        return program

    model = run_pair(exchange(True), exchange(False), reliability=level, size=1 << 18,
                     settings=QUICK | FAULTS[faults] | {"faults.seed": seed,
                                                        "memory.bytes": 1 << 21})
    counts = model.counters
    assert counts[0]["resent"] or faults == "duplicate"
    assert counts[0]["duplicates"] or faults != "duplicate"


@pytest.mark.parametrize("seed", [1, 2])
def test_unreliable_messages_are_whole_once_and_in_order(seed):
    lengths = lengths_of(seed, 60, 2500)
    slot = 2560
    got = []

    async def receiver(side):
        for index in range(len(lengths)):
            await side.receive(1024 + 64 * index, [side.at(16384 + slot * index, slot)])
        await side.connect(True)
        idle = 0
        while idle < 400:
            result, va = await side.vipl.VipRecvDone(side.vi)
            idle += 1
            if va is not None:
                idle = 0
                assert result is OK
                done = side.read(va - side.base, 32)
                length = int.from_bytes(done[24:28], "little")
                at = 16384 + slot * len(got)
                got.append((int.from_bytes(done[20:24], "little"), side.read(at, length)))
            await side.linger(200)

    async def sender(side):
        await side.connect(False)
        for index, length in enumerate(lengths):
            side.write(16384, pattern(length, index))
            await side.send(0, [side.at(16384, length)], immediate=index)
            assert (await side.sent())[0] is OK
            await side.port.delay(3000)

    run_pair(receiver, sender, reliability=UD, size=1 << 18,
             settings={"faults.drop": 0.1, "faults.duplicate": 0.2, "faults.corrupt": 0.05,
                       "faults.seed": seed, "memory.bytes": 1 << 21})
    assert len(lengths) // 3 < len(got) < len(lengths)
    numbers = [number for number, _ in got]
    assert numbers == sorted(set(numbers))
    assert all(data == pattern(lengths[number], number) for number, data in got)


# Costs


def test_send_and_receive_cost_more_the_longer_the_message():
    sizes = (4, 256, 1024, 4096)
    sends, receives = {}, {}

    async def receiver(side):
        for index in range(len(sizes)):
            await side.receive(128 * index, [side.at(8192, 8192)])
        await side.connect(True)
        for size in sizes:
            before = side.port.cpu_cycles
            assert (await side.received())[0] is OK
            copies = side.port.tally()["copy_word"]
            receives[size] = copies, side.port.cpu_cycles - before
        await side.linger(20000)

    async def sender(side):
        await side.connect(False)
        for size in sizes:
            await side.build(0, [side.at(8192, size)])
            await side.port.flush()
            before = side.port.cpu_cycles
            await side.vipl.VipPostSend(side.vi, side.base, side.handle)
            await side.port.flush()
            sends[size] = side.port.cpu_cycles - before
            assert (await side.sent())[0] is OK
            await side.linger(30000)

    model = run_pair(receiver, sender, reliability=RD)
    price = model.description.cpu
    assert price.trap < sends[4] < 2 * price.trap
    for size in (256, 1024, 4096):
        assert sends[size] - sends[4] >= price.copy_word * (size // 8 - 1)
    assert sends[4] < sends[256] < sends[1024] < sends[4096]
    copies = [receives[size][0] for size in sizes]
    assert [after - before for before, after in zip([0, *copies], copies, strict=False)] == [
        1, 32, 128, 512]


def test_marks_of_a_post_enclose_its_copies():
    """o_s, as the marks have it, is the trap and the copy."""
    async def receiver(side):
        for index in range(2):
            await side.receive(128 * index, [side.at(8192, 8192)])
        await side.connect(True)
        for _ in range(2):
            await side.received()
        await side.linger(20000)

    async def sender(side):
        await side.connect(False)
        for size in (4, 4096):
            await side.send(0, [side.at(8192, size)])
            await side.sent()
            await side.linger(30000)

    model = run_pair(receiver, sender, reliability=RD)
    marks = [mark for mark in model.runtime.marks
             if mark.node == 1 and mark.activity == Activity.POST_SEND]
    spans = [end.ticks - begin.ticks for begin, end in zip(marks[::2], marks[1::2], strict=True)]
    assert len(spans) == 2
    assert spans[1] > 3 * spans[0]


# Errors of messages


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


# RDMA


@LEVELS
@pytest.mark.parametrize("length", [0, 5, 16, 17, 3000])
@pytest.mark.parametrize("immediate", [None, 77])
def test_rdma_write(level, length, immediate):
    data = pattern(length, 9)

    async def receiver(side):
        side.write(8192, GUARD * 8192)
        await side.receive(0, [side.at(20000, 10)])
        await side.connect(True)
        result, done = await side.received()
        assert result is OK
        assert side.read(8192, 8192) == GUARD * 11 + data + GUARD * (8192 - 11 - length)
        if immediate is None:
            assert (done.operation, done.length) == (RemoteOperation.RECEIVE, 1)
        else:
            assert (done.operation, done.length) == (RemoteOperation.REMOTE_RDMA_WRITE, length)
            assert done.has_immediate and done.immediate == 77
        await side.linger(20000)

    async def sender(side):
        await side.connect(False)
        side.write(9000, data)
        await side.send(0, [side.at(9000, length)], control=Operation.RDMA_WRITE,
                        remote=side.at(8192 + 11), immediate=immediate)
        result, done = await side.sent()
        assert (result, done.operation, done.length) == (OK, RemoteOperation.RDMA_WRITE, length)
        if immediate is None:
            await side.send(64, [side.at(9000, 1)])
            assert (await side.sent())[0] is OK
        await side.linger(20000)

    run_pair(receiver, sender, reliability=level)


@RELIABLE
@pytest.mark.parametrize("length", [0, 5, 3000, 12000])
def test_rdma_read(level, length):
    data = pattern(length, 4)

    async def target(side):
        side.write(20001, data)
        await side.receive(0, [side.at(8192, 10)])
        await side.connect(True)
        assert (await side.received())[0] is OK
        await side.linger(20000)

    async def reader(side):
        side.write(8192, GUARD * 16384)
        await side.connect(False)
        part = length // 3
        await side.send(0, [side.at(8195, part), side.at(13000, length - part)],
                        control=Operation.RDMA_READ, remote=side.at(20001))
        await side.send(64, [side.at(8192, 1)])
        result, done = await side.sent()
        assert (result, done.operation, done.length) == (OK, RemoteOperation.RDMA_READ, length)
        assert side.read(8195, part) + side.read(13000, length - part) == data
        assert side.read(8195 + part, 5) == GUARD * 5
        assert side.read(13000 + length - part, 5) == GUARD * 5
        assert (await side.sent())[0] is OK
        await side.linger(30000)

    run_pair(target, reader, reliability=level,
             settings=QUICK | {"faults.drop": 0.1, "faults.duplicate": 0.1})


@LEVELS
@pytest.mark.parametrize("immediate", [False, True])
@pytest.mark.parametrize("how", ["vi", "region", "bounds", "handle"])
def test_rdma_write_refused(level, immediate, how):
    async def receiver(side):
        side.write(8192, GUARD * 4096)
        side.handle = await side.register(side.base, 16384, rdma_write=how != "region")
        await side.receive(0, [side.at(12000, 10)])
        await side.connect(True)
        if immediate:
            result, done = await side.received()
            assert (result, done.errors) == (ERROR, Status.RDMA_PROTECTION)
            assert done.operation is RemoteOperation.REMOTE_RDMA_WRITE
        await until(side, lambda: side.events or immediate and level is UD)
        told = [] if immediate else ["RDMAW_PROT"]
        assert side.events == (told if level is UD else [*told, "CONN_LOST"])
        assert side.read(8192, 4096) == GUARD * 4096
        await side.linger(20000)

    async def sender(side):
        await side.connect(False)
        handle = {"handle": 5}.get(how, 2 << 14 | 0)
        remote = side.at(16380 if how == "bounds" else 8192, 0, handle)
        result, handle = await peer_handle(side, remote)
        await side.send(0, [side.at(8192, 100)], control=Operation.RDMA_WRITE, remote=handle,
                        immediate=3 if immediate else None)
        result, done = await side.sent()
        assert done.errors == (Status.RDMA_PROTECTION if level is RR else 0)
        await side.linger(40000)

    async def peer_handle(side, remote):
        # Both nodes register alike: the peer's second handle is what ours would be.
        handle = await side.register(side.base, 16384, rdma_write=True)
        return OK, remote._replace(handle=5 if how == "handle" else handle)

    run_pair(receiver, sender, reliability=level, rdma_write=how != "vi")


@RELIABLE
@pytest.mark.parametrize("how", ["vi", "bounds"])
def test_rdma_read_refused(level, how):
    async def target(side):
        await side.receive(0, [side.at(12000, 10)])
        await side.connect(True)
        await until(side, lambda: side.events)
        assert side.events == ["RDMAR_PROT", "CONN_LOST"]
        await side.linger(20000)

    async def reader(side):
        await side.connect(False)
        await side.send(0, [side.at(8192, 3000)], control=Operation.RDMA_READ,
                        remote=side.at(side.size - 1000 if how == "bounds" else 0))
        result, done = await side.sent()
        assert (result, done.errors) == (ERROR, Status.RDMA_PROTECTION)
        await side.linger(1000)
        assert side.events == ["CONN_LOST"]

    run_pair(target, reader, reliability=level, rdma_read=how != "vi")


# Ends of connections


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


def test_what_was_posted_before_connecting():
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


# Waiting


@LEVELS
@pytest.mark.parametrize("spin", [0, 400, 100_000])
def test_blocking_and_spinning_waits(level, spin):
    async def server(side):
        await side.receive(0, [side.at(8192, 2000)])
        await side.connect(True)
        for _ in range(5):
            result, va = await side.vipl.VipRecvWait(side.vi, VIP_INFINITE)
            assert result is OK
            await side.receive(0, [side.at(8192, 2000)])
            await side.send(64, [side.at(8192, 2000)])
            assert (await side.vipl.VipSendWait(side.vi, VIP_INFINITE))[0] is OK
        await side.linger(20000)

    async def client(side):
        await side.connect(False)
        side.write(8192, pattern(2000, 2))
        for _ in range(5):
            await side.receive(0, [side.at(16384, 2000)])
            await side.send(64, [side.at(8192, 2000)])
            assert (await side.vipl.VipRecvWait(side.vi, VIP_INFINITE))[0] is OK
            assert side.read(16384, 2000) == pattern(2000, 2)
            assert (await side.vipl.VipSendWait(side.vi, VIP_INFINITE))[0] is OK
        result, _ = await side.vipl.VipRecvWait(side.vi, 1)
        assert result is ERROR
        await side.receive(0, [side.at(16384, 2000)])
        result, _ = await side.vipl.VipRecvWait(side.vi, 0.5)
        assert result is VIP_RETURN.TIMEOUT
        await side.linger(20000)

    run_pair(server, client, reliability=level, settings={"via.spin": spin})


def test_more_than_the_kernels_buffers():
    """A send never waits in its call; what has no buffer goes out later, in order."""
    count = 20

    async def receiver(side):
        for index in range(count):
            await side.receive(64 * index, [side.at(16384 + 2048 * index, 2048)])
        await side.connect(True)
        for index in range(count):
            assert (await side.received())[1].length == 2000
            assert side.read(16384 + 2048 * index, 2000) == pattern(2000, index)
        await side.linger(20000)

    async def sender(side):
        await side.connect(False)
        for index in range(count):
            side.write(16384 + 2048 * index, pattern(2000, index))
            await side.send(64 * index, [side.at(16384 + 2048 * index, 2000)])
        end = side.provider.ends[0]
        assert end.send.waiting or end.message is not None
        for _ in range(count):
            assert (await side.vipl.VipSendWait(side.vi, VIP_INFINITE))[0] is OK
        await side.linger(20000)

    for level in (UD, RD):
        run_pair(receiver, sender, reliability=level, 
                 settings={"via.send_slots": 4, "via.window": 2, "cpu.clock_mhz": 5000})
