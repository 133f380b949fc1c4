"""The kernel-trap design point: RDMA writes and reads, and who may."""

import pytest
from nicbed.host.via import descriptors
from nicbed.layouts.packet import Protocol
from nicbed.layouts.via import DETAIL, Operation, PacketKind, RemoteOperation, Status

from tests.labs.kernel_trap import (
    ERROR,
    GUARD,
    LEVELS,
    OK,
    QUICK,
    RELIABLE,
    RR,
    UD,
    run_pair,
    until,
)
from tests.programs.am import pattern


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
        behind = await side.send(64, [side.at(8192, 1)])
        assert not descriptors.read(side.process, behind).done
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


def test_a_read_completes_after_the_sends_before_it():
    """Also where their acknowledgements are lost and its data are not."""
    lost = []

    def acknowledgement(data):
        if data[6] == Protocol.VIA and data[7] & 7 == PacketKind.ACK and len(lost) < 3:
            lost.append(data)
            return True
        return False

    async def target(side):
        side.write(20000, pattern(100, 4))
        await side.receive(0, [side.at(8192, 100)])
        await side.connect(True)
        await side.linger(60_000)

    async def reader(side):
        await side.connect(False)
        await side.linger(20_000)
        first = await side.send(0, [side.at(8192, 100)])
        second = await side.send(64, [side.at(8192, 100)], control=Operation.RDMA_READ,
                                 remote=side.at(20000))
        end = side.port.cycle + 60_000
        while not descriptors.read(side.process, second).done:
            await side.kernel.doze(end)
            assert (descriptors.read(side.process, first).done
                    or not descriptors.read(side.process, second).done)
        assert side.read(8192, 100) == pattern(100, 4)
        assert (await side.sent())[0] is OK
        assert (await side.sent())[1].operation is RemoteOperation.RDMA_READ

    run_pair(target, reader, reliability=RR, lose={0: acknowledgement}, settings=QUICK)
    assert len(lost) == 3


@RELIABLE
@pytest.mark.parametrize("answers", [0, 2])
def test_a_read_whose_peer_falls_silent(level, answers):
    """The request is acknowledged, the data never come: the connection breaks, and the read has the
    transport error. So it is when the peer has answered probes before."""
    left = [answers]

    def silent(data):
        """A rule for ModelNic.lose: of the packets behind the request's acknowledgement, all but
        ``answers``."""
        if data[6] != Protocol.VIA:
            return False
        kind = DETAIL.unpack(data[7])["kind"]
        if kind == PacketKind.READ_RESPONSE:
            return True
        left[0] -= kind == PacketKind.ACK
        return left[0] < -1

    async def target(side):
        side.write(20000, bytes(100))
        await side.connect(True)
        await side.linger(1_000_000)

    async def reader(side):
        await side.connect(False)
        await side.linger(20_000)
        await side.send(0, [side.at(8192, 100)], control=Operation.RDMA_READ,
                        remote=side.at(20000))
        await until(side, lambda: side.events, 4_000_000)
        assert side.events == ["CONN_LOST"]
        result, done = await side.sent()
        assert (result, done.operation) == (ERROR, RemoteOperation.RDMA_READ)
        assert done.errors == Status.TRANSPORT
        assert side.provider.counters["timeouts"] == 4 + answers

    run_pair(target, reader, reliability=level, lose={0: silent},
             settings={"via.retry_timeout": 5000, "via.retries": 4})
