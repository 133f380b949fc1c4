"""The VI engine's model, messages: what raw host programs are promised at each reliability level.
"""

import random

import pytest
from nicbed.layouts.via import (
    Control,
    Event,
    Operation,
    RemoteOperation,
    Status,
    ViState,
)

from tests.labs.via_model import NARROW, RD, RR, UD, run, run_pair, status
from tests.programs.am import pattern

LEVELS = pytest.mark.parametrize("level", [UD, RD, RR], ids=lambda level: level.name)
SENT, RECEIVED = status(RemoteOperation.SEND), status(RemoteOperation.RECEIVE)
FLUSHED = Status.FLUSHED
WAIT = 60_000


@LEVELS
@pytest.mark.parametrize("translation", ["cache", "table", "physical"])
@pytest.mark.parametrize("length", [0, 1, 8, 1000, 5000])
def test_a_message_arrives(level, translation, length):
    data = pattern(length, 3)

    async def sender(raw):
        region = await raw.region(16384, start=100)
        region.write(28, data)
        descriptors = await raw.region(4096)
        await raw.connect(1, 1, 2, reliability=level)
        raw.write(descriptors, 64, [region.at(28, length)])
        await raw.port.delay(20000)
        await raw.post(1, descriptors, 64)
        assert await raw.done(descriptors, 64) == (SENT, length)

    async def receiver(raw):
        region = await raw.region(16384)
        descriptors = await raw.region(4096)
        await raw.connect(2, 0, 1, reliability=level)
        raw.write(descriptors, 0, [region.at(9, 3), region.at(50, length + 5)])
        await raw.post(2, descriptors, 0, receive=True)
        assert await raw.done(descriptors, 0) == (RECEIVED, length)
        assert region.read(9, 3)[:length] == data[:3]
        assert region.read(50, length)[:max(0, length - 3)] == data[3:]
        assert await raw.get("vi_posted") == 1 << 16
        assert await raw.get("vi_completed") == 1 << 16
        assert await raw.events() == []

    run(sender, receiver, via__translation=translation)


@LEVELS
@pytest.mark.parametrize("segments", [0, 1, 3, 252])
def test_gather_and_scatter_over_many_segments(level, segments):
    """Any length, also none, any alignment; what lies between the segments stays as it was."""
    draw = random.Random(f"{level} {segments}")
    places = [(20 * i + draw.randrange(8), draw.randrange(13)) for i in range(segments)]
    total = sum(length for _, length in places)
    data = pattern(total, 1)

    async def sender(side):
        at = 0
        for place, length in places:
            side.data.write(place, data[at:at + length])
            at += length
        post = await side.post(*(side.data.at(*place) for place in places))
        assert await side.done(post) == (SENT, total)

    async def receiver(side):
        pieces = list(reversed(places))
        side.next = 4096
        post = await side.post(*(side.data.at(*piece) for piece in pieces), receive=True)
        assert await side.done(post) == (RECEIVED, total)
        expected = bytearray(b"\xee" * 8192)
        at = 0
        for place, length in pieces:
            expected[place:place + length] = data[at:at + length]
            at += length
        assert side.data.read(0, 8192) == expected

    run_pair(level, sender, receiver)


@LEVELS
@pytest.mark.parametrize("knobs", [
    {}, NARROW, {"via__send_slots": 4, "via__window": 2}])
def test_messages_are_in_order_and_completions_in_posting_order(level, knobs):
    """Posted ahead, of all lengths, more than a window, sequence numbers wrapping."""
    draw = random.Random(str(level))
    lengths = [draw.choice([0, 1, 7, 8, 63, 500, 2000]) for _ in range(60)]

    async def sender(side):
        posts = []
        for number, length in enumerate(lengths):
            side.data.write(2048 * (number % 8), pattern(length, number))
            posts.append(await side.send(length, 2048 * (number % 8), immediate=number))
            if number >= 7:
                assert await side.done(posts[-8]) == (SENT, lengths[number - 7])
        for post, length in list(zip(posts, lengths, strict=True))[-7:]:
            assert await side.done(post) == (SENT, length)

    async def receiver(side):
        posts = [await side.receive(2048, 2048 * i) for i in range(8)]
        for number, length in enumerate(lengths):
            assert await side.done(posts[number]) == (
                status(RemoteOperation.RECEIVE, immediate=True), length)
            place = posts[number]
            assert side.descriptors.read(place + 20, 4) == number.to_bytes(4, "little")
            assert side.data.read(2048 * (number % 8), length) == pattern(length, number)
            if number % 2:
                posts += [await side.receive(2048, 2048 * i % 16384)
                          for i in (number - 1, number)]
        assert await side.raw.events() == []

    run_pair(level, sender, receiver, **knobs)


@LEVELS
@pytest.mark.parametrize(("fields", "error"), [
    ({"operation": Operation.RESERVED}, Status.FORMAT),
    ({"control": 0x10}, Status.FORMAT),
    ({"control": 0x8000}, Status.FORMAT),
    ({"count": 253}, Status.FORMAT),
    ({"operation": Operation.RDMA_WRITE, "count": 0}, Status.FORMAT),
    ({"operation": Operation.RDMA_READ, "remote": (0, 0), "control": Control.IMMEDIATE},
     Status.FORMAT),
    ({"length": 9}, Status.LENGTH),
    ({"length": 7}, Status.LENGTH),
    ({"length": (1 << 20) + 1}, Status.LENGTH),
    ({"remote": (1 << 38, 5)}, Status.PROTECTION),
    ({"remote": (0, 1 << 26)}, Status.PROTECTION),
])
def test_a_malformed_send_completes_with_its_error(level, fields, error):
    """Nothing of it is sent. Unreliable: the next one goes; reliable: the connection is lost."""
    async def sender(side):
        before = await side.send(8)
        bad = await side.send(8, **fields)
        after = await side.send(8)
        assert await side.done(before) == (SENT, 8)
        operation = {Operation.RDMA_WRITE: RemoteOperation.RDMA_WRITE,
                     Operation.RDMA_READ: RemoteOperation.RDMA_READ}.get(
            fields.get("operation", Operation.RDMA_WRITE if "remote" in fields else 0),
            RemoteOperation.SEND)
        assert (await side.done(bad))[0] == status(operation, error)
        if level == UD:
            assert await side.done(after) == (SENT, 8)
            assert await side.raw.events() == []
        else:
            assert await side.done(after) == (SENT | FLUSHED, 0)
            assert await side.raw.events() == [(Event.CONN_LOST, 1)]
            assert await side.state() == ViState.ERROR

    async def receiver(side):
        posts = [await side.receive(64) for _ in range(2)]
        assert await side.done(posts[0]) == (RECEIVED, 8)
        if level == UD:
            assert await side.done(posts[1]) == (RECEIVED, 8)
        else:
            assert await side.done(posts[1]) == (RECEIVED | FLUSHED, 0)
            assert await side.raw.events() == [(Event.CONN_LOST, 1)]

    run_pair(level, sender, receiver)


@LEVELS
def test_the_largest_transfer(level):
    """MaxTransferSize bytes, not one more."""
    async def sender(side):
        assert await side.done(await side.send(3000)) == (SENT, 3000)
        assert await side.done(await side.send(3001)) == (SENT | Status.LENGTH, 0)

    async def receiver(side):
        for _ in range(2):
            await side.receive(4096)

    run_pair(level, sender, receiver, attributes={"max_transfer": 3000})


@LEVELS
def test_a_transfer_of_more_than_32_kilobytes(level):
    length = 32 * 1024 + 5

    async def sender(side):
        source = await side.raw.region(length)
        source.write(0, pattern(length, 4))
        await side.rest(20_000)
        assert await side.done(await side.post(source.at(0, length))) == (SENT, length)

    async def receiver(side):
        sink = await side.raw.region(length + 1)
        assert await side.done(await side.post(sink.at(0, length + 1), receive=True)) == (
            RECEIVED, length)
        assert sink.read(0, length + 1) == pattern(length, 4) + bytes(1)

    run_pair(level, sender, receiver)


@pytest.mark.parametrize("receive", [False, True])
@pytest.mark.parametrize("segments", [1, 2, 3, 5, 6])
def test_a_descriptor_whose_last_segment_is_outside_of_its_region(segments, receive):
    """PROTECTION, however the segments before it are."""
    async def program(side):
        raw = side.raw
        size = 32 + 16 * segments
        for short in (0, 1):
            region = await raw.region(size - short)
            raw.write(region, 0, [side.data.at(0, 8)] * segments)
            await raw.post(1, region, 0, receive=receive)
            ends = await raw.done(region, 0, 100_000)
            if short:
                # On a receive queue the bytes of the segments before it have come.
                partial = Status.PARTIAL if receive and segments > 1 else 0
                assert ends == ((RECEIVED if receive else SENT) | Status.PROTECTION | partial,
                                8 * (segments - 1) if receive else 0)
            else:
                assert ends == (RECEIVED if receive else SENT, 8 * segments)
            raw.last.clear()

    async def peer(side):
        if receive:
            await side.send(8 * segments)
            await side.rest(60_000)
            await side.send(8 * segments)
        else:
            await side.receive(200)

    if receive:
        run_pair(UD, peer, program)
    else:
        run_pair(UD, program, peer)


def test_reliable_reception_completes_only_what_has_arrived():
    """The descriptor that found none to receive it errs; before it good, behind it flushed."""
    async def sender(side):
        places = [await side.send(8) for _ in range(4)]
        ends = [(await side.done(place))[0] for place in places]
        assert ends == [SENT, SENT, SENT | Status.REMOTE_DESCRIPTOR, SENT | FLUSHED]

    async def receiver(side):
        places = [await side.receive(8) for _ in range(2)]
        for place in places:
            assert await side.done(place) == (RECEIVED, 8)

    run_pair(RR, sender, receiver)


@LEVELS
@pytest.mark.parametrize("what", ["tag", "handle", "end", "wide", "wide handle", "gone"])
def test_a_send_from_memory_that_is_not_allowed(level, what):
    async def sender(side):
        raw = side.raw
        region = await raw.region(100, tag=8 if what == "tag" else 7, start=50)
        va, handle, length = region.at(0, 100)
        if what == "handle":
            handle += 1
        elif what == "end":
            length += 1
        elif what == "wide":
            va += 1 << 38
        elif what == "wide handle":
            handle += 1 << 26
        elif what == "gone":
            good = await side.post(region.at(0, 100))
            assert await side.done(good) == (SENT, 100)
            await raw.deregister(region)
        bad = await side.post((va, handle, length))
        assert await side.done(bad) == (SENT | Status.PROTECTION, 0)
        assert await raw.events() == ([] if level == UD else [(Event.CONN_LOST, 1)])

    async def receiver(side):
        await side.receive(200)
        await side.receive(200)

    run_pair(level, sender, receiver)


@LEVELS
def test_no_receive_descriptor(level):
    async def sender(side):
        first = await side.send(8)
        if level == RR:
            second = await side.send(8)
            assert (await side.done(first))[0] == SENT | Status.REMOTE_DESCRIPTOR
            assert (await side.done(second))[0] == SENT | FLUSHED
        else:
            assert await side.done(first) == (SENT, 8)
        await side.rest(WAIT)
        assert await side.raw.events() == ([] if level == UD else [(Event.CONN_LOST, 1)])
        second = await side.send(8)
        assert (await side.done(second))[0] == (SENT if level == UD else SENT | FLUSHED)

    async def receiver(side):
        await side.rest(WAIT)
        assert await side.raw.get("via_dropped") == 1
        assert await side.raw.events() == [
            (Event.RECVQ_EMPTY if level == UD else Event.CONN_LOST, 1)]
        post = await side.receive(64)
        assert await side.done(post) == ((RECEIVED, 8) if level == UD
                                         else (RECEIVED | FLUSHED, 0))

    run_pair(level, sender, receiver)


@LEVELS
@pytest.mark.parametrize("length", [101, 3000])
def test_longer_than_the_receive_descriptor(level, length):
    """What fits is written, nothing past the segments."""
    async def sender(side):
        side.data.write(0, pattern(length, 2))
        post = await side.send(length)
        ends = await side.done(post)
        if level == RR:
            assert ends[0] & ~Status.PARTIAL == SENT | Status.REMOTE_DESCRIPTOR
        elif length < 1024 or level == UD:
            assert ends == (SENT, length)
        await side.rest(WAIT)
        assert await side.raw.events() == ([] if level == UD else [(Event.CONN_LOST, 1)])
        if level == UD:
            assert await side.done(await side.send(5)) == (SENT, 5)

    async def receiver(side):
        posts = [await side.receive(100, 64), await side.receive(100, 1024)]
        assert await side.done(posts[0]) == (RECEIVED | Status.LENGTH | Status.PARTIAL, 100)
        assert side.data.read(64, 101) == pattern(length, 2)[:100] + b"\xee"
        assert await side.done(posts[1]) == ((RECEIVED, 5) if level == UD
                                             else (RECEIVED | FLUSHED, 0))
        assert await side.raw.events() == ([] if level == UD else [(Event.CONN_LOST, 1)])

    run_pair(level, sender, receiver)


@LEVELS
@pytest.mark.parametrize(("fields", "error"), [
    ({"operation": Operation.RDMA_WRITE, "remote": (0, 0)}, Status.FORMAT),
    ({"control": 0x40}, Status.FORMAT), ({"count": 300}, Status.FORMAT),
    ({}, Status.PROTECTION)])
def test_a_bad_receive_descriptor(level, fields, error):
    """It completes with its error; the message that met it is dropped, or breaks the connection."""
    async def sender(side):
        post = await side.send(8)
        ends = await side.done(post)
        assert ends[0] == (SENT | Status.REMOTE_DESCRIPTOR if level == RR else SENT)
        await side.rest(WAIT)
        await side.send(8)

    async def receiver(side):
        va, handle, _ = side.data.at(0)
        bad = await side.post((va, handle + (error == Status.PROTECTION), 64), receive=True,
                              **fields)
        good = await side.receive(64)
        assert await side.done(bad) == (RECEIVED | error, 0)
        assert await side.done(good) == ((RECEIVED, 8) if level == UD
                                         else (RECEIVED | FLUSHED, 0))

    run_pair(level, sender, receiver)
