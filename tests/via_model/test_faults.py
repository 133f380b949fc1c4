"""The VI engine's model on a network with faults: at most once, exactly once, or an error."""

import random

import pytest
from nicbed.layouts.via import (
    Event,
    Operation,
    PacketKind,
    RemoteOperation,
    Status,
    ViState,
)

from tests.labs.rows import more
from tests.labs.via_model import NARROW, RD, RR, UD, run_pair, status
from tests.models.target import ModelNic
from tests.programs.am import pattern

RELIABLE = pytest.mark.parametrize("level", [RD, RR], ids=lambda level: level.name)
SENT, RECEIVED = status(RemoteOperation.SEND), status(RemoteOperation.RECEIVE)
FLUSHED = Status.FLUSHED
WAIT = 60_000


FAULTS = {"faults__drop": 0.05, "faults__duplicate": 0.05, "faults__corrupt": 0.03,
          "faults__delay": 0.05, "faults__delay_cycles": 3000, "via__retry_timeout": 5000,
          "via__retries": 50}


@RELIABLE
@pytest.mark.parametrize("seed", [*range(2), *map(more, range(2, 6))])
@pytest.mark.parametrize("knobs", [NARROW, {}], ids=["narrow", "wide"])
def test_reliable_messages_survive_faults_exactly_once_in_order(level, seed, knobs):
    count = 90
    regions = {}

    async def program(side):
        me = side.raw.node.number
        regions[me] = side.data
        draw = random.Random(f"{seed} {me}")
        receives = [await side.receive(2048, 2048 * (i % 4)) for i in range(count)]
        await side.rest(20_000 * (2 - me))
        sends, lengths = [], []
        side.next = 20480
        ring = await side.raw.region(16384)
        side.descriptors = ring
        for number in range(count):
            side.next = number % 16 * 128
            length = draw.choice([0, 3, 100, 1500])
            if number % 10 == 9:
                va, handle, _ = regions[1 - me].at(16000)
                place = await side.post(side.data.at(20000, 2000), remote=(va, handle),
                                        operation=Operation.RDMA_READ)
                expected = (status(RemoteOperation.RDMA_READ), 2000)
            else:
                side.data.write(8192 + 1500 * (number % 4), pattern(length, number + me))
                place = await side.send(length, 8192 + 1500 * (number % 4), immediate=number)
                expected = (SENT, length)
            sends.append(place)
            lengths.append(length)
            assert await side.done(place, 0) == expected
        return receives, lengths, side

    async def check(side):
        me = side.raw.node.number
        descriptors = side.descriptors
        receives, *_ = await program(side)
        draw = random.Random(f"{seed} {1 - me}")
        at = 0
        for number in range(count):
            length = draw.choice([0, 3, 100, 1500])
            if number % 10 == 9:
                continue
            assert await side.raw.done(descriptors, receives[at]) == (
                status(RemoteOperation.RECEIVE, immediate=True), length), number
            assert descriptors.read(receives[at] + 20, 4) == number.to_bytes(4, "little")
            at += 1
        assert await side.raw.get("via_duplicates") > 0
        assert await side.raw.get("via_resent") > 0
        assert await side.raw.events() == []
        await side.rest(2_000_000)

    run_pair(level, check, check, faults__seed=seed, **knobs, **FAULTS)


@pytest.mark.parametrize("seed", range(8))
def test_unreliable_messages_arrive_at_most_once_in_order_and_whole(seed):
    count = 100

    async def sender(side):
        for number in range(count):
            length = [0, 3, 100, 3000][number % 4]
            side.data.write(0, pattern(length, number))
            assert await side.done(await side.send(length, immediate=number)) == (SENT, length)
            await side.rest(20_000)

    async def receiver(side):
        places = [await side.receive(4096) for _ in range(count)]
        seen = []
        for place in places:
            ends = await side.done(place, 3_000_000)
            if ends[0] == -1:
                break
            number = int.from_bytes(side.descriptors.read(place + 20, 4), "little")
            seen.append(number)
            length = [0, 3, 100, 3000][number % 4]
            assert ends == (status(RemoteOperation.RECEIVE, immediate=True), length)
            assert side.data.read(0, length) == pattern(length, number)
        assert seen == sorted(set(seen)) and count / 2 < len(seen) < count
        assert await side.raw.get("via_duplicates") > 0
        assert await side.raw.get("via_gaps") > 0

    run_pair(UD, sender, receiver, faults__seed=seed, **FAULTS)


@RELIABLE
def test_a_peer_that_does_not_answer(level):
    """The retries over: TRANSPORT (where a descriptor is unfinished), CONN_LOST, flushed."""
    async def sender(side):
        first, second = await side.send(8), await side.send(8)
        if level == RR:
            assert (await side.done(first))[0] == SENT | Status.TRANSPORT
            assert (await side.done(second))[0] == SENT | FLUSHED
        else:
            assert await side.done(first) == await side.done(second) == (SENT, 8)
        await side.rest(WAIT)
        assert await side.raw.events() == [(Event.CONN_LOST, 1)]
        assert await side.raw.get("via_resent") == 0, "it was asked, twice"
        assert await side.state() == ViState.ERROR

    async def receiver(side):
        await side.receive(8)

    run_pair(level, sender, receiver, faults__drop=1.0, via__retry_timeout=2000, via__retries=3)


@RELIABLE
def test_progress_starts_the_count_of_time_outs_anew(level, monkeypatch):
    """``via.retries`` time-outs *in a row* break a connection."""
    seen = set()
    arrive = ModelNic.arrive

    def losing(nic, data, number, length):
        if nic.node == 1 and data[7] & 7 == PacketKind.SEND and data not in seen:
            seen.add(data)
            nic.room += length
        else:
            arrive(nic, data, number, length)

    async def sender(side):
        for _ in range(6):
            place = await side.send(8)
            assert await side.done(place) == (SENT, 8)
            await side.rest(10_000)
        assert await side.raw.get("via_resent") == len(seen) == 6

    async def receiver(side):
        places = [await side.receive(8) for _ in range(6)]
        for place in places:
            assert await side.done(place) == (RECEIVED, 8)
        assert await side.raw.events() == []

    monkeypatch.setattr(ModelNic, "arrive", losing)
    run_pair(level, sender, receiver, via__retry_timeout=2000, via__retries=2)


@RELIABLE
def test_a_gap_is_mended_before_the_time_out(level, monkeypatch):
    """What comes behind it makes a NAK, one, and all from the gap on is sent again."""
    seen, naks = [], []
    arrive = ModelNic.arrive

    def losing(nic, data, number, length):
        naks.extend([1] if data[7] & 7 == PacketKind.NAK and nic.node == 0 else [])
        if nic.node == 1 and data[7] & 7 == PacketKind.SEND:
            seen.append(data)
            if len(seen) == 2:
                nic.room += length
                return
        arrive(nic, data, number, length)

    async def sender(side):
        for place in [await side.send(4000) for _ in range(2)]:
            assert await side.done(place) == (SENT, 4000)

    async def receiver(side):
        places = [await side.receive(4000, 4096 * i) for i in range(2)]
        for place in places:
            assert (await side.done(place)) == (RECEIVED, 4000)
        assert await side.raw.get("via_gaps") > 0
        assert side.raw.port.cycle < 60_000

    monkeypatch.setattr(ModelNic, "arrive", losing)
    run_pair(level, sender, receiver, via__retry_timeout=200_000)
    assert len(naks) == 1
