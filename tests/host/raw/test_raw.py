"""Frames between programs: what arrives, what is lost, and what it costs."""

import random

import pytest
from nicbed.host.raw import Raw
from nicbed.layouts.description import Description
from nicbed.layouts.trace import Activity, Kind

from tests.models.spent import cpu_cycles
from tests.models.target import Model

LIMIT = 1_000_000


def describe(**sections):
    return Description.model_validate({"via": {"design": "kernel"}, **sections})


def test_frames_come_with_their_bytes_and_source():
    """Between three nodes, of random lengths, to each other and to themselves."""
    plan = random.Random(1)
    ways = [(plan.randrange(3), plan.randrange(3), plan.randint(1, 1024)) for _ in range(60)]

    async def program(node):
        raw, found = Raw(node), []
        await raw.open()
        await node.port.delay(2000)
        for number, (source, peer, length) in enumerate(ways):
            if source == node.number:
                place = node.allocate(length)
                node.memory.write(place, bytes([number] * length))
                await raw.send(node.address_on(peer), place, length)

        def handle(frame):
            data = node.memory.read(frame.address, frame.length)
            assert data == data[:1] * frame.length
            found.append((frame.source, data[0], frame.length))

        expected = sorted((source, number, length) for number, (source, peer, length)
                          in enumerate(ways) if peer == node.number)
        await raw.wait(lambda: len(found) == len(expected), handle)
        assert sorted(found) == expected and raw.received == len(found)
        await raw.close()
        return raw.sent

    found = Model(describe(fabric={"nodes": 3})).run([program] * 3, limit=LIMIT).results
    assert sum(found) == len(ways)


def test_a_lost_frame_is_counted_by_its_nic():
    """Corrupt frames are dropped where they arrive. (In the model the NIC itself does not count
    them: here the test does.)"""
    async def program(node):
        raw, found = Raw(node), []
        await raw.open()
        await node.port.delay(1000)
        place = node.allocate(64)
        for _ in range(30 if node.number == 0 else 0):
            await raw.send(1, place, 64)
        await raw.drain()
        await node.port.delay(50_000)
        while await raw.poll(found.append):
            pass
        return raw.sent, raw.received, await raw.lost()

    model = Model(describe())
    dropped = []

    def lose(data):
        if len(dropped) < 7:
            dropped.append(data)
            model.nics[1].registers["crc_errors"] += 1
            return True
        return False

    model.nics[0].lose = lose
    (sent, _, _), (_, received, lost) = model.run([program, program], limit=LIMIT).results
    assert (sent, received, lost) == (30, 23, 7)


def test_marks_bracket_what_is_sent_taken_and_looked_for():
    async def program(node):
        raw = Raw(node)
        await raw.open()
        place = node.allocate(8)
        await raw.poll(lambda frame: None)
        await raw.send(0, place, 8)
        await raw.wait(lambda: raw.received, lambda frame: None)

    runtime = Model(describe()).run([program, None], limit=LIMIT)
    seen = [(Activity(mark.activity), mark.number) for mark in runtime.marks
            if mark.kind == Kind.END]
    assert seen[0] == (Activity.CONTROL, 0) and seen[1] == (Activity.EMPTY_POLL, 0)
    number = seen[-1][1]
    assert (Activity.REQUEST_SEND, number) in seen and number
    assert seen[-1] == (Activity.REQUEST_HANDLE, number)


def test_all_time_of_the_cpu_is_charged_work():
    async def program(node):
        raw = Raw(node)
        await raw.open()
        place = node.allocate(512)
        for length in (8, 512):
            await raw.send(0, place, length)
        await raw.wait(lambda: raw.received == 2, lambda frame: None)

    [port, *_] = Model(describe()).run([program, None], limit=LIMIT).ports
    assert cpu_cycles(port) and {"frame_send", "frame_window", "frame_take", "frame_check",
                                 "frame_release"} <= {*port.paths()}


def test_one_cpu_has_the_nic():
    async def program(cpu):
        Raw(cpu)

    with pytest.raises(RuntimeError, match="raw frames on CPU 1 of node 0: CPU 0 drives this NIC"):
        Model(describe(node={"cpus": 2})).run([[program, program], None], limit=LIMIT)


def test_the_nic_is_told_of_free_slots_a_quarter_of_the_ring_at_a_time():
    async def program(node):
        raw = Raw(node)
        await raw.open()
        place = node.allocate(8)
        for number in range(1, 5):
            await raw.send(0, place, 8)
            await raw.wait(lambda number=number: raw.received == number, lambda frame: None)
        return node.port.paths()["frames_taken"]

    assert Model(describe(nic={"receive_ring": 8})).run([program, None],
                                                        limit=LIMIT).results[0] == 2
