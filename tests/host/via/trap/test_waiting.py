"""The kernel-trap design point: blocking, notifies, completion queues, want of room."""

import random

import pytest
from nicbed.host.via import VIP_INFINITE, VIP_RETURN, VipState
from nicbed.layouts.via import Status

from tests.labs.kernel_trap import (
    ERROR,
    GUARD,
    LEVELS,
    OK,
    QUICK,
    RD,
    RELIABLE,
    UD,
    run_pair,
    state,
    until,
)
from tests.programs.am import pattern


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


@pytest.mark.parametrize("pio_write, number", [(33, 4), (53, 13), (100, 6), (200, 47)])
def test_a_packet_before_a_late_clear_interrupts_again(pio_write, number):
    """The interrupt is cleared by a posted write, which may wait for the bus until long after the
    last look at the receive ring. Nothing else would wake the receiver: no packet follows."""
    count, draw = 12, random.Random(number)
    gaps = [draw.choice([0, 0, draw.randrange(600), draw.randrange(4000)]) for _ in range(count)]

    async def receiver(side):
        for index in range(count):
            await side.receive(64 * index, [side.at(8192, 64)])
        await side.connect(True)
        for _ in range(count):
            assert (await side.vipl.VipRecvWait(side.vi, VIP_INFINITE))[0] is OK

    async def sender(side):
        await side.connect(False)
        await side.port.delay(5000)
        for index, gap in enumerate(gaps):
            await side.send(64 * index, [side.at(8192, 8)])
            await side.port.delay(1 + gap)
        await side.port.flush()

    run_pair(receiver, sender, reliability=UD,
             settings={"bus.pio_write": pio_write, "cpu.path_scale": 0, "via.spin": 0})


@pytest.mark.parametrize("scarce", [{"via.send_slots": 4, "via.window": 2}, {"nic.send_ring": 4}],
                         ids=["buffers", "ring"])
@pytest.mark.parametrize("length", [20, 2000])
@pytest.mark.parametrize("level", [UD, RD], ids=lambda level: level.name)
def test_a_send_never_waits_for_room(level, length, scarce):
    """Neither for the kernel's buffers, nor the send ring, nor the window: what has no room goes
    out later, in order."""
    count = 20

    async def receiver(side):
        for index in range(count):
            await side.receive(64 * index, [side.at(16384 + 2048 * index, 2048)])
        await side.connect(True)
        for index in range(count):
            assert (await side.received())[1].length == length
            assert side.read(16384 + 2048 * index, length) == pattern(length, index)
        await side.linger(20000)

    async def sender(side):
        await side.connect(False)
        end = side.provider.ends[0]
        for index in range(count):
            side.write(16384 + 2048 * index, pattern(length, index))
            await side.send(64 * index, [side.at(16384 + 2048 * index, length)])
            assert len(end.slots) <= side.node.description.via.window
        if length == 2000 or level is RD or "nic.send_ring" in scarce:
            assert end.send.waiting or end.message is not None
        for _ in range(count):
            assert (await side.vipl.VipSendWait(side.vi, VIP_INFINITE))[0] is OK
        await side.linger(20000)

    run_pair(receiver, sender, reliability=level, settings=scarce | {"cpu.clock_mhz": 10000})


@RELIABLE
@pytest.mark.parametrize("spin", [0, 1000])
def test_blocking_under_faults(level, spin):
    """A sleeping kernel wakes up for its time-outs."""
    async def server(side):
        await side.receive(0, [side.at(8192, 2000)])
        await side.connect(True)
        for number in range(12):
            assert (await side.vipl.VipRecvWait(side.vi, VIP_INFINITE))[0] is OK
            assert side.read(8192, 1500) == pattern(1500, number)
            await side.receive(0, [side.at(8192, 2000)])
            await side.send(64, [side.at(8192, 1500)])
            assert (await side.vipl.VipSendWait(side.vi, VIP_INFINITE))[0] is OK
        await side.linger(200_000)

    async def client(side):
        await side.connect(False)
        for number in range(12):
            side.write(8192, pattern(1500, number))
            await side.receive(0, [side.at(16384, 2000)])
            await side.send(64, [side.at(8192, 1500)])
            assert (await side.vipl.VipRecvWait(side.vi, VIP_INFINITE))[0] is OK
            assert side.read(16384, 1500) == pattern(1500, number)
            assert (await side.vipl.VipSendWait(side.vi, VIP_INFINITE))[0] is OK
        await side.linger(200_000)
        assert side.events == []

    model = run_pair(server, client, reliability=level, settings=QUICK | {
        "via.spin": spin, "faults.drop": 0.25, "faults.duplicate": 0.1})
    assert model.counters[0]["timeouts"] + model.counters[1]["timeouts"] > 3


@LEVELS
@pytest.mark.parametrize("wait", [False, True])
def test_a_completion_queue_of_both_queues(level, wait):
    async def served(side):
        if wait:
            result, *found = await side.vipl.VipCQWait(side.cq, VIP_INFINITE)
        else:
            result = VIP_RETURN.NOT_DONE
            while result is VIP_RETURN.NOT_DONE:
                result, *found = await side.vipl.VipCQDone(side.cq)
        assert result is OK
        return found

    def program(server):
        async def run(side):
            for index in range(4):
                await side.receive(64 * index, [side.at(8192 + 512 * index, 512)])
            await side.connect(server)
            kinds = []
            for index in range(20):
                await side.send(1024 + 64 * index, [side.at(16384, 10 * index)])
                while len(kinds) < 2 * index + 2:
                    vi, receive = await served(side)
                    assert vi is side.vi
                    count = kinds.count(receive)
                    kinds.append(receive)
                    call = side.vipl.VipRecvDone if receive else side.vipl.VipSendDone
                    place = 64 * (count % 4) if receive else 1024 + 64 * count
                    assert await call(vi) == (OK, side.base + place)
                    if receive:
                        await side.receive(place, [side.at(8192 + 512 * (count % 4), 512)])
            await side.linger(60_000)
        return run

    run_pair(program(True), program(False), reliability=level, cq=4, settings={"via.spin": 100})


def test_a_completion_queue_that_overruns():
    """What has no entry breaks its VI, never silently."""
    async def server(side):
        for index in range(40):
            await side.receive(64 * index, [side.at(8192, 100)])
        await side.connect(True)
        await until(side, lambda: side.events)
        assert side.events == ["VI_OVERRUN"]
        assert await state(side) is VipState.ERROR

    async def client(side):
        await side.connect(False)
        for _ in range(40):
            await side.send(0, [side.at(8192, 10)])
            await side.linger(2000)
            result, *_ = await side.vipl.VipCQDone(side.cq)
            await side.vipl.VipSendDone(side.vi)
        assert side.events == ["CONN_LOST"]

    run_pair(server, client, reliability=RD, cq=4)


def test_notifies_are_called_in_order_with_one_completion_each():
    got = []

    async def server(side):
        for index in range(3):
            await side.receive(64 * index, [side.at(8192 + 512 * index, 100)])
        await side.connect(True)
        for name in ("a", "b"):
            assert await side.vipl.VipRecvNotify(
                side.vi, name, lambda context, nic, vi, va: got.append((context, va - side.base))
            ) is OK
        await until(side, lambda: len(got) == 2)
        result, va = await side.vipl.VipRecvDone(side.vi)
        while result is VIP_RETURN.NOT_DONE:
            result, va = await side.vipl.VipRecvDone(side.vi)
        assert (result, va) == (OK, side.base + 128)
        await side.linger(20_000)

    async def client(side):
        await side.connect(False)
        for _ in range(3):
            await side.send(0, [side.at(8192, 10)])
            await side.linger(5000)
        await side.linger(20_000)

    run_pair(server, client)
    assert got == [("a", 0), ("b", 64)]


SMALL = {"nic.mtu": 64, "via.page_bytes": 1024, "via.window": 1, "via.send_slots": 4,
         "nic.send_ring": 4, "nic.receive_ring": 4, "via.cqs": 2, "via.vis": 8,
         "via.retry_timeout": 3000, "via.retries": 60}


@LEVELS
def test_at_the_smallest_sizes(level):
    async def server(side):
        side.write(8192, GUARD * 4096)
        for index in range(4):
            await side.receive(64 * index, [side.at(8192 + 1000 * index, 900)])
        await side.connect(True)
        for index in range(4):
            result, va = VIP_RETURN.NOT_DONE, None
            while result is VIP_RETURN.NOT_DONE:
                result, va = await side.vipl.VipRecvWait(side.vi, 1)
                result = VIP_RETURN.NOT_DONE if result is VIP_RETURN.TIMEOUT else result
            assert result is OK
            assert side.read(8192 + 1000 * index, 1000) == pattern(700, index) + GUARD * 300
        await side.linger(100_000)

    async def client(side):
        await side.connect(False)
        for index in range(4):
            side.write(8192 + 1000 * index, pattern(700, index))
            await side.send(64 * index, [side.at(8192 + 1000 * index, 700)])
        for _ in range(4):
            assert (await side.vipl.VipSendWait(side.vi, VIP_INFINITE))[0] is OK
        await side.linger(100_000)

    faults = {} if level is UD else {"faults.drop": 0.1, "faults.duplicate": 0.1}
    run_pair(server, client, reliability=level, settings=SMALL | faults)


def test_a_connection_made_again():
    """Nothing of the first comes to the second, and it begins afresh."""
    async def server(side):
        for index in range(3):
            await side.receive(64, [side.at(8192, 2000)])
            await side.connect(True)
            result, done = await side.received()
            assert (result, done.length) == (OK, 1000 + index)
            await until(side, lambda seen=index: len(side.events) > seen)
            assert await side.vipl.VipDisconnect(side.vi) is OK

    async def client(side):
        for index in range(3):
            await side.connect(False)
            for length in (1000 + index, 50, 60, 70):
                await side.send(0, [side.at(8192, length)])
                assert (await side.sent())[0] is OK
                if length >= 1000:
                    await side.linger(20_000)
            assert await side.vipl.VipDisconnect(side.vi) is OK

    run_pair(server, client, reliability=RD, settings={"via.retry_timeout": 5000})


def test_unanswered_for_long_is_not_gone():
    """A peer that computes for a while finds its connection again."""
    async def server(side):
        await side.receive(0, [side.at(8192, 2000)])
        await side.connect(True)
        await side.port.delay(300_000)
        await side.port.flush()
        assert (await side.received())[1].errors == Status(0)
        await side.linger(30_000)

    async def client(side):
        await side.connect(False)
        await side.send(0, [side.at(8192, 1000)])
        assert (await side.sent())[0] is OK
        await until(side, lambda: not side.provider.ends[0].slots)
        assert side.events == []
        assert side.provider.counters["timeouts"] < 7

    run_pair(server, client, reliability=RD, settings={"via.retry_timeout": 5000})


def test_a_cq_call_with_nothing_returns():
    async def alone(side):
        await side.connect(True)
        assert (await side.vipl.VipCQDone(side.cq))[0] is VIP_RETURN.NOT_DONE
        assert (await side.vipl.VipCQWait(side.cq, 0.2))[0] is VIP_RETURN.TIMEOUT
        assert (await side.vipl.VipRecvWait(side.vi, 1))[0] is VIP_RETURN.INVALID_PARAMETER

    async def other(side):
        await side.connect(False)
        assert (await side.vipl.VipRecvDone(side.vi))[0] is ERROR

    run_pair(alone, other, cq=4)
