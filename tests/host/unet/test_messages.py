"""U-Net's promises to a process: whole messages, done flags, back-pressure, drops that are counted.

``tests/host/unet/test_target.py`` runs the same functions on RTL.
"""

import pytest
from nicbed.host.unet import STATUS, UnetError
from nicbed.layouts.unet import INLINE, MAX_BUFFERS

from tests.models.target import Model
from tests.programs.unet import LIMIT, Station, data_of, describe, stations


def run(programs, **knobs):
    return Model(describe(**knobs)).run(programs, limit=LIMIT).results


LENGTHS = (0, 1, 7, 8, 24, 25, INLINE, INLINE + 1, 100, 1000, 1016, 1023, 1024, 1025, 2048, 2049,
           4096, 5000, MAX_BUFFERS * 2048)


@pytest.mark.parametrize("knobs", [{}, {"nic__mtu": 64}, {"nic__mtu": 200},
                                   {"nic__attachment": "memory_bus"},
                                   {"processor__doorbells": "words"},
                                   {"unet__buffers": "direct"}, {"unet__buffers": "tlb"}],
                         ids=lambda knobs: "-".join(map(str, knobs.values())) or "usual")
def test_messages_of_every_length_arrive_whole(knobs):
    """Both ways at once, and in the order of their channel."""
    async def body(station: Station):
        here = station.node.number
        channel = await station.channel(1 - here, 7)
        await station.ready()
        for number, length in enumerate(LENGTHS):
            await station.send(channel, data_of(2 * number + here, length))
            await station.until(lambda wanted=number: len(station.got) > wanted)
        await station.endpoint.drain()
        return [one.data for one in station.got], station.endpoint.failed

    for there, (got, failed) in enumerate(reversed(run(stations(body, body), **knobs))):
        assert got == [data_of(2 * number + there, length) for number, length in enumerate(LENGTHS)]
        assert not failed


def test_short_messages_lie_in_descriptors_and_long_ones_take_several_buffers():
    async def send(station: Station):
        channel = await station.channel(1, 7)
        await station.ready()
        for length in (INLINE, INLINE + 1, 128, 129, 300):
            await station.send(channel, data_of(length, length), inline=False)

    async def receive(station: Station):
        await station.channel(0, 7)
        await station.until(lambda: len(station.got) == 5)
        return [(one.buffers, one.data) for one in station.got]

    got = run(stations(send, receive, room=128))[1]
    assert [count for count, _ in got] == [0, 1, 1, 2, 3]
    assert [data for _, data in got] == [data_of(length, length)
                                         for length in (INLINE, INLINE + 1, 128, 129, 300)]


def test_the_done_flag_says_that_the_buffer_may_change():
    """A buffer that changes as soon as its send is over: what arrives is what was posted."""
    async def send(station: Station):
        channel = await station.channel(1, 7)
        await station.ready()
        endpoint = station.endpoint
        for number in range(20):
            station.process.write(endpoint.segment, data_of(number, 3000))
            post = await endpoint.post_send(channel, 0, 3000)
            assert post == number + 1
            while not await endpoint.over(post):
                pass
            station.process.write(endpoint.segment, bytes(3000))

    async def receive(station: Station):
        await station.channel(0, 7)
        await station.until(lambda: len(station.got) == 20)
        return [one.data for one in station.got]

    assert run(stations(send, receive))[1] == [data_of(number, 3000) for number in range(20)]


@pytest.mark.parametrize("sends", [4, 32])
def test_a_full_send_queue_is_told_at_once(sends):
    """As many posts as the queue has slots, and no more; what was posted arrives."""
    async def send(station: Station):
        channel = await station.channel(1, 7)
        await station.ready()
        cpu, posted, refused, longest = station.node.port, 0, 0, 0
        while posted < 3 * sends:
            before = cpu.cycle
            at = 1500 * (posted % (sends + 1))
            station.process.write(station.endpoint.segment + at, data_of(posted, 1500))
            number = await station.endpoint.post_send(channel, at, 1500)
            await cpu.flush()
            longest = max(longest, cpu.cycle - before)
            assert station.endpoint.under_way <= sends
            posted += number > 0
            refused += number == 0
        await station.endpoint.drain()
        return refused, longest

    async def receive(station: Station):
        await station.channel(0, 7)
        await station.until(lambda: len(station.got) == 3 * sends)
        return [one.data for one in station.got]

    (refused, longest), got = run(stations(send, receive, sends=sends, size=131072, frees=32))
    assert refused and longest < 2000
    assert got == [data_of(number, 1500) for number in range(3 * sends)]


def test_without_a_free_buffer_a_message_is_dropped_and_counted():
    """Its buffers, if it had some, take the next one."""
    async def send(station: Station):
        channel = await station.channel(1, 7)
        await station.ready()
        for number, length in enumerate((1000, 2000, 300, 1000, 40)):
            await station.send(channel, data_of(number, length))
        await station.endpoint.drain()

    async def receive(station: Station):
        station.keeps = False
        await station.channel(0, 7)
        await station.until(lambda: len(station.got) == 3)
        await station.quiet(20_000)
        return [one.data for one in station.got], await station.endpoint.dropped()

    # Three buffers of 700: the first message takes two, the second one and is dropped, the third
    # takes that, the fourth finds none; the last needs none.
    got, dropped = run(stations(send, receive, room=700, frees=3))[1]
    assert got == [data_of(0, 1000), data_of(2, 300), data_of(4, 40)] and dropped == (2, 0)


def test_a_full_receive_queue_drops_and_counts():
    count, receives = 20, 8

    async def send(station: Station):
        channel = await station.channel(1, 7)
        await station.ready()
        for number in range(count):
            await station.send(channel, data_of(number, 20 if number % 2 else 200))
        await station.endpoint.drain()

    async def receive(station: Station):
        await station.channel(0, 7)
        await station.ready()
        await station.node.port.delay(200_000)
        await station.quiet(20_000)
        return [one.data for one in station.got], await station.endpoint.dropped()

    got, dropped = run(stations(send, receive, receives=receives))[1]
    assert got == [data_of(number, 20 if number % 2 else 200) for number in range(receives)]
    assert dropped == (0, count - receives)


def test_a_tag_leads_to_its_own_endpoint_only():
    """Two endpoints of a node: each gets what is sent with its tags; a tag of nobody's is nobody's,
    and so is one from another node than its channel's."""
    async def send(station: Station):
        channels = [await station.channel(1, tag) for tag in (5, 9, 11, 13)]
        await station.ready()
        for number in range(4):
            for channel in channels:
                await station.send(channel, data_of(10 * channel.out + number, 30 + 70 * number))
        await station.endpoint.drain()

    async def receive(station: Station):
        other = await Station(station.node, 2).open()
        await station.channel(0, 5)
        await other.channel(0, 9)
        await other.channel(2, 13)
        await station.ready()
        while len(station.got) < 4 or len(other.got) < 4:
            await station.step()
            await other.step()
        await station.quiet(20_000)
        await other.quiet(20_000)
        return [[one.data for one in each.got] for each in (station, other)]

    got = run([*stations(send, receive), None], fabric__nodes=3)[1]
    assert got == [[data_of(10 * tag + number, 30 + 70 * number) for number in range(4)]
                   for tag in (5, 9)]


def test_waiting_processes_are_woken():
    """wait() and select() give up the CPU until a message comes; select ends at its time, too."""
    async def send(station: Station):
        channels = [await station.channel(1, tag) for tag in (5, 6)]
        await station.ready()
        for number in range(6):
            await station.node.port.delay(30_000)
            await station.send(channels[number % 2], data_of(number, 10 + 100 * number))
        await station.endpoint.drain()

    async def receive(station: Station):
        other = await Station(station.node, owner=station.process).open()
        await station.channel(0, 5)
        await other.channel(0, 6)
        await station.endpoint.wait()
        await station.step()
        both = {each.endpoint: each for each in (station, other)}
        while len(station.got) + len(other.got) < 6:
            for found in await station.unet.select(list(both)):
                await both[found].step()
        before = station.node.port.cycle
        assert await station.unet.select(list(both), timeout=5_000) == []
        return ([[one.data for one in each.got] for each in (station, other)],
                station.node.port.cycle - before)

    got, slept = run(stations(send, receive))[1]
    assert got == [[data_of(number, 10 + 100 * number) for number in range(first, 6, 2)]
                   for first in (0, 1)]
    assert 5_000 <= slept < 8_000


def test_an_upcall_runs_when_the_queue_becomes_non_empty():
    async def send(station: Station):
        channel = await station.channel(1, 5)
        await station.ready()
        for number in range(5):
            await station.send(channel, data_of(number, 50))
            await station.node.port.delay(10_000)
        await station.endpoint.drain()

    async def receive(station: Station):
        await station.channel(0, 5)
        calls = []

        async def upcall(endpoint):
            assert endpoint is station.endpoint
            calls.append(station.node.port.cycle)
            while await station.step():
                pass
        station.endpoint.upcall = upcall
        await station.ready()
        await station.unet.compute(100_000)
        return [one.data for one in station.got], len(calls), await station.node.port.flush()

    got, calls, end = run(stations(send, receive))[1]
    assert got == [data_of(number, 50) for number in range(5)]
    assert 1 <= calls <= 5 and end >= 350_000


def test_what_the_kernel_refuses():
    async def body(station: Station):
        unet, endpoint = station.unet, station.endpoint
        channel = await station.channel(1, 5)
        wrong = [unet.create_channel(endpoint, 1, 6, 5), unet.create_channel(endpoint, 1, 5, 6),
                 unet.create_channel(endpoint, 2, 6, 6), unet.create_channel(endpoint, -1, 6, 6),
                 unet.create_channel(endpoint, 1, 1024, 6),
                 unet.create_endpoint(0), unet.create_endpoint(1 << 20),
                 unet.create_endpoint(4096, sends=3), unet.create_endpoint(4096, receives=512),
                 unet.create_endpoint(4096, frees=5),
                 unet.register(endpoint, endpoint.segment, 8),
                 Station(station.node, 2).unet.destroy_endpoint(endpoint)]
        texts = []
        for call in wrong:
            with pytest.raises(UnetError) as error:
                await call
            texts.append(str(error.value))
        assert len(set(texts)) == len(texts) and all("\n" not in text for text in texts)
        await unet.destroy_channel(endpoint, channel)
        with pytest.raises(UnetError):
            await unet.destroy_channel(endpoint, channel)
        await station.channel(1, 5)
        others = [await unet.create_endpoint(4096) for _ in range(6)]
        with pytest.raises(UnetError, match="all in use"):
            await unet.create_endpoint(4096)
        await unet.destroy_endpoint(others[3])
        again = await unet.create_endpoint(4096)
        with pytest.raises(UnetError, match="is none of"):
            await unet.destroy_endpoint(others[3])
        return again.number == others[3].number

    assert run(stations(body, None))[0]


def test_an_endpoint_that_was_closed_is_nobodys():
    """Its tags deliver nothing, its slots and pages are new when it is opened again."""
    async def send(station: Station):
        channel = await station.channel(1, 5)
        await station.ready()
        for number in range(3):
            await station.send(channel, data_of(number, 900))
            await station.endpoint.drain()
            await station.node.port.delay(60_000)
        return station.endpoint.failed

    async def receive(station: Station):
        await station.channel(0, 5)
        await station.until(lambda: station.got)
        await station.unet.destroy_endpoint(station.endpoint)
        before = station.process.read(station.endpoint.segment, station.endpoint.size)
        await station.node.port.delay(80_000)
        await station.node.port.flush()
        assert station.process.read(station.endpoint.segment, station.endpoint.size) == before
        again = await Station(station.node, owner=station.process).open()
        await again.channel(0, 5)
        await again.until(lambda: again.got)
        return station.got[0].data, again.got[0].data

    failed, got = run(stations(send, receive))
    assert got == (data_of(0, 900), data_of(2, 900)) and not failed


def test_a_closed_channel_sends_nothing():
    async def send(station: Station):
        channel = await station.channel(1, 5)
        await station.ready()
        await station.unet.destroy_channel(station.endpoint, channel)
        number = await station.post(channel, b"gone")
        await station.endpoint.drain()
        return number, dict(station.endpoint.failed)

    number, failed = run(stations(send, None))[0]
    assert failed == {number: STATUS.BAD_CHANNEL}
