"""The kernel-trap design point: VIA's messages by the kernel agent, over rings that lose; costs."""

import random

import pytest
from nicbed.layouts.packet import Protocol
from nicbed.layouts.trace import Activity
from nicbed.layouts.via import RemoteOperation, Status

from tests.labs.kernel_trap import GUARD, LEVELS, OK, QUICK, RD, RELIABLE, UD, run_pair, until
from tests.labs.rows import more
from tests.models.spent import cpu_cycles
from tests.programs.am import pattern


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

    model = run_pair(receiver, sender, reliability=level)
    assert not model.counters[1]["resent"]


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
@pytest.mark.parametrize("faults, seed", [
    ("all", 1), ("duplicate", 1), *(more(faults, 1) for faults in FAULTS
                                    if faults not in ("all", "duplicate")),
    *(more(faults, 2) for faults in FAULTS)])
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


@RELIABLE
def test_a_gap_is_reported_at_once(level):
    """Long before the time-out."""
    lost = []

    def second(data):
        """Drop the second of the sender's packets."""
        if data[6] == Protocol.VIA:
            lost.append(data)
        return len(lost) == 2 and data is lost[1]

    async def receiver(side):
        for index in range(5):
            await side.receive(64 * index, [side.at(8192 + 128 * index, 128)])
        await side.connect(True)
        for index in range(5):
            assert (await side.received())[0] is OK
            assert side.read(8192 + 128 * index, 100) == pattern(100, index)
        await side.linger(100_000)

    async def sender(side):
        await side.connect(False)
        await side.linger(20_000)
        for index in range(5):
            side.write(8192, pattern(100, index))
            await side.send(64 * index, [side.at(8192, 100)])
        await until(side, lambda: not side.provider.ends[0].slots, 100_000)

    model = run_pair(receiver, sender, reliability=level, lose={1: second},
                     settings={"via.retry_timeout": 1_000_000})
    assert 1 <= model.counters[1]["resent"] <= 4 and not model.counters[1]["timeouts"]
    assert 1 <= model.counters[0]["gaps"] <= 3


# Costs


def test_send_and_receive_cost_more_the_longer_the_message():
    sizes = (4, 256, 1024, 4096)
    sends, receives = {}, {}

    async def receiver(side):
        for index in range(len(sizes)):
            await side.receive(128 * index, [side.at(8192, 8192)])
        await side.connect(True)
        for size in sizes:
            before = cpu_cycles(side.port)
            assert (await side.received())[0] is OK
            copies = side.port.tally()["copy_word"]
            receives[size] = copies, cpu_cycles(side.port) - before
        await side.linger(20000)

    async def sender(side):
        await side.connect(False)
        for size in sizes:
            await side.build(0, [side.at(8192, size)])
            await side.port.flush()
            before = cpu_cycles(side.port)
            await side.vipl.VipPostSend(side.vi, side.base, side.handle)
            await side.port.flush()
            sends[size] = cpu_cycles(side.port) - before
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
