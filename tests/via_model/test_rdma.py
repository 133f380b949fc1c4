"""The VI engine's model, RDMA: writes and reads, allowed and refused."""


import pytest
from nicbed.layouts.via import (
    Control,
    Event,
    Operation,
    PacketKind,
    RemoteOperation,
    Status,
)

from tests.labs.via_model import RD, RR, UD, run_pair, status
from tests.models.target import ModelNic
from tests.programs.am import pattern

LEVELS = pytest.mark.parametrize("level", [UD, RD, RR], ids=lambda level: level.name)
RELIABLE = pytest.mark.parametrize("level", [RD, RR], ids=lambda level: level.name)
SENT, RECEIVED = status(RemoteOperation.SEND), status(RemoteOperation.RECEIVE)
FLUSHED = Status.FLUSHED
WAIT = 60_000


def test_an_rdma_read_waits_for_what_is_not_acknowledged_before_it(monkeypatch):
    """Completions are in posting order even if acknowledgements are lost."""
    target, lost = [], []
    arrive = ModelNic.arrive

    def losing(nic, data, number, length):
        if nic.node == 0 and data[6] == 2 and data[7] & 7 == PacketKind.ACK and len(lost) < 2:
            lost.append(data)
            nic.room += length
        else:
            arrive(nic, data, number, length)

    async def sender(side):
        send = await side.send(8)
        read = await side.send(8, 64, remote=target[0].at(0)[:2], operation=Operation.RDMA_READ)
        assert await side.done(read) == (status(RemoteOperation.RDMA_READ), 8)
        assert await side.done(send, 1) == (SENT, 8)

    async def receiver(side):
        target.append(side.data)
        await side.receive(8)

    monkeypatch.setattr(ModelNic, "arrive", losing)
    run_pair(RR, sender, receiver)
    assert len(lost) == 2


def test_an_rdma_read_is_malformed_on_an_unreliable_vi():
    async def sender(side):
        post = await side.send(8, remote=(0, 0), operation=Operation.RDMA_READ)
        assert (await side.done(post))[0] == status(RemoteOperation.RDMA_READ, Status.FORMAT)

    async def receiver(side):
        pass

    run_pair(UD, sender, receiver)


@LEVELS
@pytest.mark.parametrize("length", [0, 5, 3000])
@pytest.mark.parametrize("immediate", [None, 0xABCD1234])
def test_rdma_write(level, length, immediate):
    """Its data goes where it says; only immediate data takes a receive descriptor."""
    data = pattern(length, 9)
    target = []

    async def sender(side):
        side.data.write(3, data)
        va, handle, _ = target[0].at(1001)
        post = await side.send(length, 3, remote=(va, handle), immediate=immediate)
        assert await side.done(post) == (status(RemoteOperation.RDMA_WRITE), length)
        assert await side.done(await side.send(4)) == (SENT, 4)

    async def receiver(side):
        target.append(side.data)
        posts = [await side.receive(64, 8000), await side.receive(64, 8000)]
        if immediate is not None:
            assert await side.done(posts[0]) == (
                status(RemoteOperation.REMOTE_RDMA_WRITE, immediate=True), length)
            assert side.descriptors.read(posts[0] + 20, 4) == immediate.to_bytes(4, "little")
            assert side.data.read(1001, length) == data
            posts.pop(0)
        assert await side.done(posts[0]) == (RECEIVED, 4)
        assert side.data.read(1000, length + 2) == b"\xee" + data + b"\xee"

    run_pair(level, sender, receiver)


@RELIABLE
@pytest.mark.parametrize("length", [8, 1500])
def test_sends_and_rdma_writes_are_in_order(level, length):
    """What was written is there when a send, or immediate data, from behind it has arrived."""
    count = 12
    target = []
    data = [pattern(length, number) for number in range(count)]

    async def sender(side):
        va, handle, _ = target[0].at(0)
        posts = []
        for number in range(count):
            side.data.write(1600 * number, data[number])
            posts.append(await side.send(length, 1600 * number, remote=(va, handle)))
            if number % 2:
                posts.append(await side.send(4))
            else:
                posts.append(await side.send(0, remote=(va, handle), immediate=number))
        for post in posts[-4:]:
            assert (await side.done(post))[0] & Status.ERRORS == 0

    async def receiver(side):
        target.append(await side.raw.region(length))
        posts = [await side.receive(8) for _ in range(count)]
        for number, post in enumerate(posts):
            assert (await side.done(post))[0] & Status.ERRORS == 0
            found = target[0].read(0, length)
            # Of later ones, as much as has come by now.
            assert all(byte in {later[at] for later in data[number:]}
                       for at, byte in enumerate(found))
        assert found == data[-1]

    run_pair(level, sender, receiver)


@RELIABLE
def test_a_fenced_send_goes_when_the_read_before_it_is_done(level):
    """It sends what was read. The fence is legal on every operation and every level."""
    target = []

    async def sender(side):
        side.data.write(0, pattern(2000, 1))
        read = await side.send(2000, remote=target[0].at(8000)[:2], operation=Operation.RDMA_READ,
                               control=Control.FENCE)
        sent = await side.send(2000, control=Control.FENCE)
        write = await side.send(8, remote=target[0].at(0)[:2], control=Control.FENCE)
        assert await side.done(write) == (status(RemoteOperation.RDMA_WRITE), 8)
        assert await side.done(sent, 1) == (SENT, 2000)
        assert await side.done(read, 1) == (status(RemoteOperation.RDMA_READ), 2000)

    async def receiver(side):
        side.data.write(8000, pattern(2000, 2))
        target.append(side.data)
        assert await side.done(await side.receive(2000, 100)) == (RECEIVED, 2000)
        assert side.data.read(100, 2000) == pattern(2000, 2)

    run_pair(level, sender, receiver)


@LEVELS
@pytest.mark.parametrize("immediate", [None, 1])
@pytest.mark.parametrize("what", ["vi", "region", "tag", "end", "handle"])
def test_an_rdma_write_that_is_refused(level, immediate, what):
    target = []

    async def sender(side):
        va, handle, _ = target[0].at(0)
        post = await side.send(101 if what == "end" else 100, immediate=immediate,
                               remote=(va, handle + (what == "handle")))
        assert (await side.done(post))[0] == status(
            RemoteOperation.RDMA_WRITE, Status.RDMA_PROTECTION if level == RR else 0)
        await side.rest(WAIT)
        assert await side.raw.events() == ([] if level == UD else [(Event.CONN_LOST, 1)])

    async def receiver(side):
        region = await side.raw.region(100, tag=8 if what == "tag" else 7,
                                       rdma_write=what != "region")
        target.append(region)
        region.write(0, bytes(200))
        post = await side.receive(64)
        await side.rest(WAIT)
        events = await side.raw.events()
        if immediate is not None:
            partial = Status.PARTIAL if what == "end" else 0
            assert await side.done(post) == (
                status(RemoteOperation.REMOTE_RDMA_WRITE, Status.RDMA_PROTECTION | partial), 0)
        else:
            assert events.pop(0) == (Event.RDMAW_PROT, 1)
            assert await side.done(post, 100) == ((-1, 0) if level == UD
                                                  else (RECEIVED | FLUSHED, 0))
        assert events == ([] if level == UD else [(Event.CONN_LOST, 1)])
        if what != "end":
            assert region.read(0, 200) == bytes(200)
        assert region.read(100, 100) == bytes(100)

    run_pair(level, sender, receiver, attributes={"rdma_write": what != "vi"})


@RELIABLE
@pytest.mark.parametrize("length", [0, 5, 3000])
def test_rdma_read(level, length):
    """Both ways at once; what is posted behind waits for it."""
    regions = {}

    async def program(side):
        me = side.raw.node.number
        side.data.write(5000, pattern(length, me))
        regions[me] = side.data
        posts = [await side.receive(64, 12000)]
        await side.rest(20_000 * (2 - me))
        va, handle, _ = regions[1 - me].at(5000)
        read = await side.post(side.data.at(7, length // 2),
                               side.data.at(9000, length - length // 2),
                               remote=(va, handle), operation=Operation.RDMA_READ)
        sent = await side.send(8, 12100)
        assert await side.done(sent) == (SENT, 8)
        assert await side.done(read, 1) == (status(RemoteOperation.RDMA_READ), length)
        got = side.data.read(7, length // 2) + side.data.read(9000, length - length // 2)
        assert got == pattern(length, 1 - me)
        assert await side.done(posts[0]) == (RECEIVED, 8)
        await side.rest(WAIT)
        assert await side.raw.events() == []

    run_pair(level, program, program)


@RELIABLE
@pytest.mark.parametrize("what", ["vi", "region", "end", "handle"])
def test_an_rdma_read_that_is_refused(level, what):
    target = []

    async def sender(side):
        va, handle, _ = target[0].at(0)
        post = await side.send(101 if what == "end" else 100, operation=Operation.RDMA_READ,
                               remote=(va, handle + (what == "handle")))
        assert await side.done(post) == (
            status(RemoteOperation.RDMA_READ, Status.RDMA_PROTECTION), 0)
        assert await side.raw.events() == [(Event.CONN_LOST, 1)]

    async def receiver(side):
        target.append(await side.raw.region(100, rdma_read=what != "region"))
        await side.rest(WAIT)
        assert await side.raw.events() == [(Event.RDMAR_PROT, 1), (Event.CONN_LOST, 1)]

    run_pair(level, sender, receiver, attributes={"rdma_read": what != "vi"})


@RELIABLE
@pytest.mark.parametrize("local", [Status.PROTECTION, Status.LENGTH])
def test_an_rdma_read_into_memory_that_is_not_allowed(level, local):
    target = []

    async def sender(side):
        va, handle, _ = side.data.at(0)
        remote = target[0].at(0)[:2]
        post = await side.post((va, handle + (local == Status.PROTECTION), 100),
                               operation=Operation.RDMA_READ, remote=remote,
                               length=100 + (local == Status.LENGTH))
        assert await side.done(post) == (status(RemoteOperation.RDMA_READ, local), 0)
        assert await side.raw.events() == [(Event.CONN_LOST, 1)]
        assert side.data.read(0, 100) == b"\xee" * 100

    async def receiver(side):
        target.append(side.data)
        await side.rest(WAIT)

    run_pair(level, sender, receiver)


@RELIABLE
@pytest.mark.parametrize("half", [False, True])
def test_an_rdma_read_whose_peer_falls_silent(level, half, monkeypatch):
    """Its request is acknowledged, then nothing more is heard, before the answer or half way: the
    peer is asked, and when the retries are over the read completes with TRANSPORT."""
    arrive, target, heard, asked = ModelNic.arrive, [], [], []

    def silent(nic, data, number, length):
        kind = data[7] & 7
        if data[6] == 2 and nic.node == 0:
            heard.append(kind)
            if len(heard) > 1 + half:
                nic.room += length
                return
        elif data[6] == 2 and kind == PacketKind.PROBE:
            asked.append(data)
        arrive(nic, data, number, length)

    async def requester(side):
        read = await side.send(3000, 64, remote=target[0].at(0)[:2], operation=Operation.RDMA_READ)
        behind = await side.send(8)
        error = Status.TRANSPORT | (Status.PARTIAL if half else 0)
        assert await side.done(read) == (status(RemoteOperation.RDMA_READ, error), 0)
        assert await side.done(behind) == (SENT | FLUSHED, 0)
        assert await side.raw.events() == [(Event.CONN_LOST, 1)]

    async def responder(side):
        target.append(side.data)
        await side.rest(WAIT)

    monkeypatch.setattr(ModelNic, "arrive", silent)
    run_pair(level, requester, responder, via__retry_timeout=2000, via__retries=4)
    assert heard[0] == PacketKind.ACK and heard[1] == PacketKind.READ_RESPONSE
    assert len(asked) == 4
