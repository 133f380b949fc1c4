"""GM on the functional target: messages, tokens, sizes, priorities, order, directed sends.

``tests/host/gm/test_target.py`` runs the same functions on RTL.
"""

import pytest
from nicbed.host.gm import GM_EVENT, GM_STATUS, gm_max_length_for_size

from tests.models.target import Model
from tests.programs.gm import LIMIT, PORT, Station, class_of, data_of, describe, stations

OK = GM_STATUS.GM_SUCCESS
LENGTHS = [0, 1, 4, 8, 15, 16, 17, 24, 25, 120, 1000, 1016, 1017, 1025, 2040, 5000]


def run(programs, **knobs):
    return Model(describe(**knobs)).run(programs, limit=LIMIT).results


def sender(lengths, priority=0):
    """Sends a message of each of these lengths to node 1; how they ended."""
    async def body(station: Station):
        for number, length in enumerate(lengths):
            while not station.port.free_sends:
                await station.step()
            assert await station.send(data_of(number, length), 1, context=number,
                                      priority=priority) is OK
        await station.idle()
        return station.ended
    return body


def receiver(count, sizes, priorities=(0,), buffers=2):
    """Takes ``count`` messages; those."""
    async def body(station: Station):
        for size in sorted(set(sizes)):
            for priority in priorities:
                await station.provide(size, priority, buffers)
        await station.until(lambda: len(station.got) == count)
        return station.got
    return body


@pytest.mark.parametrize("mtu", [1024, 64, 200])
def test_messages_of_every_length_arrive_whole(mtu):
    """Inline, in one packet and in many, over page boundaries; each callback once, in order."""
    sizes = [class_of(length) for length in LENGTHS]
    ended, got = run(stations(sender(LENGTHS), receiver(len(LENGTHS), sizes)), nic__mtu=mtu)
    assert ended == [(number, OK) for number in range(len(LENGTHS))]
    for number, (length, one) in enumerate(zip(LENGTHS, got, strict=True)):
        assert one == (data_of(number, length), 0, 0, PORT, class_of(length), 0)


@pytest.mark.parametrize("offset", [1, 4093])
def test_messages_of_any_alignment(offset):
    async def send(station: Station):
        base = await station.memory(16000)
        data = data_of(1, 6000)
        station.process.write(base + offset, data)
        await station.send(base + offset, 1, length=6000)
        await station.idle()
        return station.ended

    async def receive(station: Station):
        base = await station.memory(20000)
        station.process.write(base, bytes(20000))
        await station.gm.gm_provide_receive_buffer(station.port, base + offset + 2, 13, 0)
        station.keeps = False
        await station.until(lambda: station.got)
        return station.got[0].data, station.process.read(base, 20000)

    ended, (data, memory) = run(stations(send, receive))
    assert ended == [(None, OK)] and data == data_of(1, 6000)
    assert memory[:offset + 2] == bytes(offset + 2)
    assert memory[offset + 6002:] == bytes(20000 - offset - 6002)


def test_size_and_priority_must_match_exactly():
    """What finds no buffer of its class and priority ends with GM_SEND_TIMED_OUT."""
    async def send(station: Station):
        for size, priority in ((6, 0), (8, 0), (7, 1)):
            await station.send(data_of(0, 50), 1, size=size, priority=priority,
                               context=(size, priority))
            await station.idle()
            await station.gm.gm_drop_sends(station.port, priority, 1, PORT)
            await station.idle()
        await station.send(data_of(0, 50), 1, size=7, context=(7, 0))
        await station.idle()
        return station.ended

    ended, got = run(stations(send, receiver(1, [7])))
    late = GM_STATUS.GM_SEND_TIMED_OUT
    assert ended == [((6, 0), late), ((8, 0), late), ((7, 1), late), ((7, 0), OK)]
    assert [one.size for one in got] == [7]


def test_a_buffer_that_comes_late():
    """The message waits for it, within the time that it has."""
    async def send(station: Station):
        await station.send(data_of(3, 900), 1)
        await station.idle()
        return station.ended

    async def receive(station: Station):
        await station.node.port.delay(30_000)
        await station.provide(class_of(900), tag=77)
        await station.until(lambda: station.got)
        return station.got

    ended, got = run(stations(send, receive))
    assert ended == [(None, OK)]
    assert got == [(data_of(3, 900), 0, 0, PORT, 10, 77)]


def test_order_within_a_priority():
    count = 60

    async def send(station: Station):
        for number in range(count):
            while not station.port.free_sends:
                await station.step()
            length = (number * 37) % 200 + 2
            data = number.to_bytes(2, "little") + bytes(length - 2)
            assert await station.send(data, 1, priority=number % 3 == 0) is OK
        await station.idle()

    sizes = {class_of((number * 37) % 200 + 2) for number in range(count)}
    _, got = run(stations(send, receiver(count, sizes, (0, 1), buffers=1)))
    for priority in (0, 1):
        numbers = [int.from_bytes(one.data[:2], "little") for one in got
                   if one.priority == priority]
        assert numbers == [n for n in range(count) if (n % 3 == 0) == priority]


def test_high_priority_overtakes():
    async def send(station: Station):
        for number in range(6):
            await station.send(data_of(number, 8000), 1)
        await station.send(b"first!", 1, priority=1)
        await station.idle()
        return station.ended

    async def receive(station: Station):
        await station.provide(13, count=6)
        await station.provide(class_of(6), 1)
        await station.until(lambda: len(station.got) == 7)
        return [one.data for one in station.got]

    _, got = run(stations(send, receive))
    assert sorted(got) == sorted([b"first!", *(data_of(n, 8000) for n in range(6))])
    assert got.index(b"first!") < 3


def test_tokens_are_taken_and_come_back():
    async def send(station: Station):
        gm, port = station.gm, station.port
        assert gm.gm_num_send_tokens(port) == 4 and gm.gm_num_receive_tokens(port) == 2
        seen = []
        for number in range(4):
            seen.append(len(port.free_sends))
            assert await station.send(b"x" * 20, 1, context=number) is OK
        assert await station.send(b"x" * 20, 1) is GM_STATUS.GM_TRY_AGAIN
        assert await gm.gm_resume_sending(port, 0, 1, PORT) is GM_STATUS.GM_TRY_AGAIN
        await station.until(lambda: station.ended)
        seen.append(len(port.free_sends))
        assert await station.send(b"x" * 20, 1, context=4) is OK
        await station.idle()
        assert [gm.gm_alloc_send_token(port) for _ in range(5)] == [True] * 4 + [False]
        assert not gm.gm_send_token_available(port)
        gm.gm_free_send_tokens(port, 0, 2)
        assert gm.gm_send_token_available(port)
        return seen, station.ended

    async def receive(station: Station):
        await station.provide(5, count=2)
        assert await station.gm.gm_provide_receive_buffer(
            station.port, await station.memory(32), 5, 0) is GM_STATUS.GM_TRY_AGAIN
        await station.until(lambda: len(station.got) == 5)

    (seen, ended), _ = run(stations(send, receive), gm__send_tokens=4, gm__receive_tokens=2)
    assert seen == [4, 3, 2, 1, 1] and ended == [(number, OK) for number in range(5)]


def test_unknown_events_run_callbacks_once():
    async def send(station: Station):
        calls = []

        async def later(port, context, status):
            calls.append((context, status))
            if context < 3:
                await station.gm.gm_send_with_callback(port, 0, 3, 0, 0, 1, PORT, later,
                                                       context + 1)
        await station.gm.gm_send_with_callback(station.port, 0, 3, 0, 0, 1, PORT, later, 0)
        events = []
        while len(calls) < 4:
            event = await station.gm.gm_blocking_receive(station.port)
            events.append(event)
            await station.gm.gm_unknown(station.port, event)
        await station.gm.gm_unknown(station.port, events[0])
        return calls, [event.type for event in events]

    (calls, types), _ = run(stations(send, receiver(4, [3])))
    assert calls == [(number, OK) for number in range(4)]
    assert types == [GM_EVENT.GM_SENT_EVENT] * 4


def test_to_the_peer_and_to_itself():
    async def both(station: Station):
        gm, port, here = station.gm, station.port, station.node.number
        await station.provide(class_of(40), count=4, tag=9)
        ptr = await station.place(data_of(here, 40))
        for to in (1 - here, here):
            await gm.gm_send_to_peer_with_callback(port, ptr, class_of(40), 40, 0, to, station.end,
                                                   to)
        await station.until(lambda: len(station.got) == 2)
        await station.idle()
        assert (await gm.gm_get_node_id(port)) == (OK, here)
        return sorted((one.node, one.data, one.tag) for one in station.got), sorted(station.ended)

    expected = [(node, data_of(node, 40), 9) for node in (0, 1)]
    for got, ended in run(stations(both, both)):
        assert got == expected and ended == [(0, OK), (1, OK)]


@pytest.mark.parametrize("nodes", [3])
def test_everybody_to_everybody(nodes):
    rounds = 4

    async def body(station: Station):
        here = station.node.number
        others = [node for node in range(nodes) if node != here]
        await station.provide(class_of(1500), count=6)
        for number in range(rounds):
            for to in others:
                await station.send(data_of(here * 100 + number, 1500), to)
        await station.until(lambda: len(station.got) == rounds * len(others))
        await station.idle()
        for node in others:
            found = [one.data for one in station.got if one.node == node]
            assert found == [data_of(node * 100 + number, 1500) for number in range(rounds)]
        return station.ended

    for ended in run(stations(*[body] * nodes), fabric__nodes=nodes):
        assert [status for _, status in ended] == [OK] * rounds * (nodes - 1)


@pytest.mark.parametrize("window", [1, 3])
def test_small_windows(window):
    lengths = [5000, 20, 3000]
    ended, got = run(stations(sender(lengths), receiver(3, map(class_of, lengths))),
                     gm__window=window, nic__mtu=256)
    assert [one.data for one in got] == [data_of(n, length) for n, length in enumerate(lengths)]
    assert ended == [(0, OK), (1, OK), (2, OK)]


def test_directed_sends_put_data_and_tell_nobody():
    async def send(station: Station):
        await station.until(lambda: station.got)
        there = int.from_bytes(station.got[0].data, "little")
        source = await station.place(data_of(5, 3000))
        for part in range(3):
            assert await station.gm.gm_directed_send_with_callback(
                station.port, source + 1000 * part, there + 100 + 1000 * part, 1000, 0, 1, PORT,
                station.end, part) is OK
        await station.send(b"done", 1, context="done")
        await station.idle()
        return station.ended

    async def first(station: Station):
        await station.provide(class_of(8))
        return await send(station)

    async def receive(station: Station):
        assert await station.gm.gm_allow_remote_memory_access(station.port) is OK
        await station.provide(class_of(4))
        target = await station.memory(4096)
        station.process.write(target, bytes(4096))
        await station.send(target.to_bytes(8, "little"), 0)
        await station.until(lambda: station.got)
        return station.process.read(target, 4096), station.got

    ended, (memory, got) = run(stations(first, receive))
    assert ended == [(0, OK), (1, OK), (2, OK), ("done", OK)]
    assert memory == bytes(100) + data_of(5, 3000) + bytes(996)
    assert [one.data for one in got] == [b"done"]


def test_blocking_receive_gives_up_the_cpu():
    async def send(station: Station):
        for delay in (5_000, 100_000):
            await station.node.port.delay(delay)
            await station.send(b"wake up", 1)
            await station.idle()

    async def receive(station: Station):
        await station.provide(class_of(7), count=2)
        found = []
        while len(found) < 2:
            event = await station.gm.gm_blocking_receive_no_spin(station.port)
            found.append((event.type, event.length))
            assert not await station.gm.gm_receive_pending(station.port)
        return found

    _, found = run(stations(send, receive))
    assert found == [(GM_EVENT.GM_RECV_EVENT, 7)] * 2


def test_more_commands_than_the_queue_and_the_doorbells_hold():
    """Three ports provide all their buffers at once; not a doorbell is missed for good."""
    async def receive(station: Station):
        others = [await Station(station.node, number).open() for number in (3, 4)]
        for one in (station, *others):
            await one.provide(class_of(20), count=32)
        everyone = [station, *others]
        while sum(len(one.got) for one in everyone) < 96:
            for one in everyone:
                await one.quiet(1)
        return [len(one.got) for one in everyone]

    async def send(station: Station):
        for number in range(96):
            while not station.port.free_sends:
                await station.step()
            await station.send(bytes(20), 1, port=PORT + number % 3)
        await station.idle()
        return {status for _, status in station.ended}

    statuses, counts = run(stations(send, receive), processor__doorbell_queue=4, gm__retries=8)
    assert statuses == {OK} and counts == [32] * 3


@pytest.mark.parametrize("attachment, doorbells", [
    ("local_bus", "queue"), ("memory_bus", "queue"), ("io_bus", "words")])
def test_every_attachment_and_kind_of_doorbell(attachment, doorbells):
    """Commands by PIO or in coherent memory that the NIC pulls; more than the queue holds."""
    lengths = [(5, 40, 1500)[number % 3] for number in range(50)]

    async def both(station: Station):
        there = 1 - station.node.number
        for size in {class_of(length) for length in lengths}:
            await station.provide(size, count=5)
        for number, length in enumerate(lengths):
            while not station.port.free_sends:
                await station.step()
            await station.send(data_of(number, length), there)
        await station.until(lambda: len(station.got) == len(lengths))
        await station.idle()
        return [one.data for one in station.got]

    expected = [data_of(number, length) for number, length in enumerate(lengths)]
    assert run(stations(both, both), nic__attachment=attachment,
               processor__doorbells=doorbells) == [expected] * 2


def test_size_classes():
    assert [class_of(n) for n in (0, 1, 8, 9, 24, 25, 1016, 1017)] == [3, 4, 4, 5, 5, 6, 10, 11]
    assert all(class_of(gm_max_length_for_size(size)) == size for size in range(3, 21))
    with pytest.raises(ValueError, match="must not be negative"):
        class_of(-1)


def test_a_delay_behind_each_packet_is_in_the_gap():
    """Of 16 packets each is a delay later than the one before; one packet alone waits for none, but
    its acknowledgement is looked at behind the delay."""
    def taken(length, work):
        async def timed(station: Station):
            begin = station.node.port.cycle
            ended = await sender([length])(station)
            return ended, station.node.port.cycle - begin

        (ended, cycles), got = run(stations(timed, receiver(1, [class_of(length)])),
                                   gm__work_send=work)
        assert ended == [(0, OK)] and got[0][0] == data_of(0, length)
        return cycles

    short, long = ([taken(length, work) for work in (0, 4000, 8000)] for length in (16, 16384))
    assert long[2] - long[1] == pytest.approx(16 * 4000, rel=0.1)
    assert long[1] - long[0] > 15 * 1000
    assert short[1] - short[0] < 2000 and short[2] - short[1] < 4100
