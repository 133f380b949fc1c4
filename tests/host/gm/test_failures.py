"""GM when something goes wrong: failed sends, resuming and dropping, lost packets.

``tests/host/gm/test_target.py`` runs the same functions on RTL.
"""

import pytest
from nicbed.host.gm import GM_STATUS

from tests.labs.rows import more
from tests.models.target import Model
from tests.programs.gm import LIMIT, PORT, Station, class_of, data_of, describe, stations

OK = GM_STATUS.GM_SUCCESS
LATE, CLOSED = GM_STATUS.GM_SEND_TIMED_OUT, GM_STATUS.GM_SEND_TARGET_PORT_CLOSED
DROPPED, REJECTED = GM_STATUS.GM_SEND_DROPPED, GM_STATUS.GM_SEND_REJECTED
UNREACHABLE = GM_STATUS.GM_SEND_TARGET_NODE_UNREACHABLE
FAULTS = {
    "drop": {"faults__drop": 0.15}, "corrupt": {"faults__corrupt": 0.15},
    "duplicate": {"faults__duplicate": 0.3},
    "all": {"faults__drop": 0.06, "faults__corrupt": 0.06, "faults__duplicate": 0.1,
            "faults__delay": 0.05, "faults__delay_cycles": 3000},
}


def run(programs, **knobs):
    return Model(describe(**knobs)).run(programs, limit=LIMIT).results


def after_a_failure(mend):
    """Sends for which there is no buffer, then ``mend``; how they ended."""
    async def send(station: Station):
        for number in range(3):
            await station.send(data_of(number, 100), 1, context=number)
        await station.until(lambda: station.ended)
        await station.quiet(60_000)
        assert station.ended == [(0, LATE)]
        # Another priority, another port of the node, another node are not stopped.
        await station.send(b"other priority", 1, context="priority", priority=1)
        await station.send(b"other port", 1, port=3, context="port")
        await station.send(b"other node", 0, context="node")
        await station.until(lambda: len(station.ended) == 4)
        # But these are.
        await station.send(data_of(3, 100), 1, context=3)
        await station.quiet(30_000)
        assert len(station.ended) == 4
        await station.send(b"now", 1, port=3, context="now")
        await station.until(lambda: len(station.ended) == 5)
        await mend(station)
        await station.idle()
        return station.ended

    async def first(station: Station):
        await station.provide(class_of(10))
        return await send(station)

    async def receive(station: Station):
        other = await Station(station.node, 3, owner=station.process).open()
        await station.provide(class_of(14), 1)
        for size in (class_of(10), class_of(3)):
            await other.provide(size)
        await other.until(lambda: len(other.got) == 2)
        await station.provide(class_of(100), count=4)
        await station.provide(class_of(4))
        await station.until(lambda: station.got and station.got[-1].data == b"end!")
        return [one.data for one in station.got]

    ended, got = run(stations(first, receive))
    assert sorted(map(str, ended[1:4])) == sorted(
        map(str, [("priority", OK), ("port", OK), ("node", OK)]))
    assert ended[4] == ("now", OK)
    return ended[5:], got


def test_resuming_after_a_failure():
    async def mend(station: Station):
        await station.node.port.delay(5000)
        await station.gm.gm_resume_sending(station.port, 0, 1, PORT, station.end, "resumed")
        await station.send(b"end!", 1, context="end")

    ended, got = after_a_failure(mend)
    assert ended == [("resumed", OK), (1, OK), (2, OK), (3, OK), ("end", OK)]
    assert got == [b"other priority", *(data_of(number, 100) for number in (1, 2, 3)), b"end!"]


def test_dropping_after_a_failure():
    async def mend(station: Station):
        await station.node.port.delay(5000)
        await station.gm.gm_drop_sends(station.port, 0, 1, PORT, station.end, "dropped")
        await station.send(b"end!", 1, context="end")

    ended, got = after_a_failure(mend)
    assert ended == [(1, DROPPED), (2, DROPPED), (3, DROPPED), ("dropped", OK), ("end", OK)]
    assert got == [b"other priority", b"end!"]


def test_a_port_that_is_not_open():
    async def send(station: Station):
        for port in (5, 0):
            await station.send(data_of(0, 3000), 1, port=port, context=port)
            await station.idle()
        return station.ended

    ended, _ = run(stations(send, receiving_nothing))
    assert ended == [(5, CLOSED), (0, CLOSED)]


async def receiving_nothing(station: Station):
    await station.quiet(100_000)


def test_a_port_closed_in_the_middle_of_a_message_and_opened_again():
    async def send(station: Station):
        await station.send(data_of(0, 60_000), 1, context=0)
        await station.idle()
        assert station.ended == [(0, CLOSED)]
        await station.node.port.delay(100_000)
        await station.gm.gm_resume_sending(station.port, 0, 1, PORT)
        await station.send(data_of(1, 60_000), 1, context=1)
        await station.idle()
        return station.ended

    async def receive(station: Station):
        size = class_of(60_000)
        buffer = await station.memory(1 << size)
        await station.gm.gm_provide_receive_buffer(station.port, buffer, size, 0)
        while station.process.read(buffer + 2000, 1) == b"\0":
            await station.node.port.delay(500)
            await station.node.port.flush()
        assert await station.gm.gm_close(station.port) is OK
        before = station.process.read(buffer, 60_000)
        await station.node.port.delay(50_000)
        await station.node.port.flush()
        assert station.process.read(buffer, 60_000) == before
        assert before != data_of(0, 60_000)
        await station.open()
        await station.provide(size)
        await station.until(lambda: station.got)
        return station.got[0].data

    ended, got = run(stations(send, receive))
    assert ended == [(0, CLOSED), (1, OK)] and got == data_of(1, 60_000)


def test_closing_with_sends_under_way():
    """They are abandoned; the port opened again begins anew, and nothing old comes."""
    async def send(station: Station):
        await station.send(data_of(0, 50_000), 1)
        for number in range(5):
            await station.send(bytes([number]) * 20, 1)
        await station.node.port.delay(20_000)
        await station.gm.gm_close(station.port)
        await station.open()
        assert len(station.port.free_sends) == station.port.send_tokens
        await station.send(b"the second life is good", 1, context="new")
        await station.idle()
        return station.ended

    async def receive(station: Station):
        await station.provide(class_of(50_000))
        await station.provide(class_of(20), count=4)
        await station.until(lambda: station.got and station.got[-1].data.startswith(b"the"))
        return [one.data for one in station.got]

    ended, got = run(stations(send, receive))
    assert ended == [("new", OK)] and got == [b"the second life is good"]


def test_sizes_that_are_not_acceptable():
    async def send(station: Station):
        await station.node.port.delay(20_000)
        for length in (100, 1000):
            await station.send(data_of(length, length), 1, context=length)
        await station.idle()
        return station.ended

    async def receive(station: Station):
        await station.gm.gm_set_acceptable_sizes(station.port, 0, 1 << 7)
        await station.provide(7)
        await station.provide(10)
        await station.until(lambda: station.got)
        await station.quiet(50_000)
        return len(station.got)

    ended, count = run(stations(send, receive))
    assert ended == [(100, OK), (1000, REJECTED)] and count == 1


def test_a_node_that_does_not_answer():
    """All that is under way fails, and that node is stopped."""
    async def send(station: Station):
        for number in range(3):
            await station.send(data_of(number, 100), 1, context=number)
        await station.until(lambda: len(station.ended) == 3)
        await station.send(data_of(3, 100), 1, context=3)
        await station.quiet(100_000)
        return station.ended

    ended, got = run(stations(send, receiving_nothing), faults__drop=1.0)
    assert ended == [(number, UNREACHABLE) for number in range(3)]


@pytest.mark.parametrize("name", FAULTS)
@pytest.mark.parametrize("seed", [1, more(2)])
def test_faults_lose_nothing_and_deliver_once(name, seed):
    """Both ways at once, two priorities, messages of one packet and of many; in order."""
    count = 24
    lengths = [(4, 100, 1500)[number % 3] for number in range(count)]

    async def body(station: Station):
        here = station.node.number
        for size in {class_of(length) for length in lengths}:
            for priority in (0, 1):
                await station.provide(size, priority, 3)
        for number, length in enumerate(lengths):
            while not station.port.free_sends:
                await station.step()
            assert await station.send(data_of(number + 1000 * here, length), 1 - here,
                                      context=number, priority=number % 2) is OK
        await station.until(lambda: len(station.got) == count)
        await station.idle()
        await station.quiet(400_000)
        return station.got, station.ended

    found = run(stations(body, body), faults__seed=seed, gm__retries=10, gm__window=4, nic__mtu=512,
                gm__retry_timeout=10_000, **FAULTS[name])
    for here, (got, ended) in enumerate(found):
        assert sorted(ended) == [(number, OK) for number in range(count)]
        for priority in (0, 1):
            assert [one.data for one in got if one.priority == priority] == [
                data_of(number + 1000 * (1 - here), lengths[number]) for number in range(count)
                if number % 2 == priority]


@pytest.mark.parametrize("seed", [3, 4])
def test_failures_among_faults_deliver_at_most_once(seed):
    """Sends that fail for want of a buffer, resumed, with packets lost: a message whose callback
    says success comes exactly once, in order; others at most once."""
    count = 12

    async def send(station: Station):
        for number in range(count):
            await station.send(number.to_bytes(2, "little") + bytes(18), 1, context=number)
        failures = 0
        while len(station.port.free_sends) < station.port.send_tokens:
            await station.step()
            if station.ended and station.ended[-1][1] not in (OK, "seen"):
                failures += 1
                station.ended.append(("mark", "seen"))
                await station.gm.gm_resume_sending(station.port, 0, 1, PORT)
        return [one for one in station.ended if one[0] != "mark"], failures

    async def receive(station: Station):
        station.keeps = False
        for _ in range(6):
            await station.provide(class_of(20), count=1)
            await station.quiet(200_000)
        await station.provide(class_of(20), count=count)
        await station.quiet(2_000_000)
        return [int.from_bytes(one.data[:2], "little") for one in station.got]

    (ended, failures), got = run(stations(send, receive), gm__retries=1, gm__retry_timeout=8_000,
                                 faults__seed=seed, faults__drop=0.1, faults__duplicate=0.2)
    assert failures and sorted(context for context, _ in ended) == list(range(count))
    assert got == sorted(set(got))
    assert {context for context, status in ended if status is OK} <= set(got)
