"""Redirection: in time nothing is copied, late the data are in the default buffer; the event says
which, whenever the redirection was posted."""

import pytest
from nicbed.host.vmmc import Status

from tests.labs.rows import more
from tests.models.target import Model
from tests.programs.vmmc import LIMIT, Station, data_of, describe, stations

OK = Status.SUCCESS
FAULTS = {"none": {}, "faults": {"faults__drop": 0.1, "faults__duplicate": 0.1}}


def run(programs, **knobs):
    return Model(describe(**knobs)).run(programs, limit=LIMIT).results


@pytest.mark.parametrize("length", [4, 100, 900, 7000])
@pytest.mark.parametrize("skip", [0, 16])
def test_in_time_the_data_go_to_the_address_and_the_default_buffer_stays(length, skip):
    async def send(station: Station):
        to = await station.import_(1)
        await station.pause(60_000)
        await station.put(to, 100, data_of(1, length + skip), key=7)
        await station.put(to, 100, data_of(2, length + skip), key=7)
        await station.vmmc.idle()

    async def receive(station: Station):
        export = await station.export(8192)
        target = station.place(bytes(length + 200), 77)
        assert await station.vmmc.redirect(export, target + 100, length, key=7, skip=skip) is OK
        assert await station.vmmc.redirect(export, target, 1) is Status.BUSY
        first = await station.event()
        inside = station.read(export, 0, 8192)
        second = await station.event()
        return (first.redirection is not None, second.redirection,
                station.process.read(target, length + 200), inside,
                station.read(export, 100, length + skip))

    went, then, memory, inside, default = run(stations(send, receive))[1]
    assert went and then is None
    assert memory == bytes(100) + data_of(1, length + skip)[skip:] + bytes(100)
    assert default == data_of(2, length + skip)
    assert inside[:100 + skip] == bytes(100) + data_of(1, length + skip)[:skip]


@pytest.mark.parametrize("faults", FAULTS)
@pytest.mark.parametrize("seed", [1, more(2), more(3)])
def test_posted_before_during_and_after_arrival_each_byte_is_in_one_place(faults, seed):
    """A message after another, the redirection of each posted at another time: the event says where
    it is, and there it is whole; nothing lands where the event does not say."""
    count, length = 14, 5000

    async def send(station: Station):
        to = await station.import_(1)
        back = await station.export(4096)
        for number in range(count):
            await station.put(to, 0, data_of(number, length), key=number)
            await station.seen(back, 0, number.to_bytes(4, "little") + b"taken")
        await station.vmmc.idle()

    async def receive(station: Station):
        export = await station.export(8192)
        back = await station.import_(0)
        ways = []
        for number in range(count):
            target = station.place(bytes(length + 64))
            await station.node.port.delay(1700 * number)
            await station.node.port.flush()
            assert await station.vmmc.redirect(export, target, length, key=number) is OK
            event = await station.event()
            assert event.key == number and export.redirection is None
            there = station.process.read(target, length + 64)
            if event.redirection is not None:
                assert there == data_of(number, length) + bytes(64)
            else:
                assert there == bytes(length + 64)
                assert station.read(export, 0, length) == data_of(number, length)
            ways.append(event.redirection is not None)
            await station.put(back, 0, number.to_bytes(4, "little") + b"taken")
        await station.vmmc.idle()
        return ways, (await station.counters())["redirected"]

    ways, redirected = run(stations(send, receive), faults__seed=seed, **FAULTS[faults])[1]
    assert {True, False} == set(ways) and redirected == sum(ways)


def test_what_does_not_match_goes_to_the_default_buffer():
    """Of another key, the redirection stays; too long, it ends: both are told by the event."""
    async def send(station: Station):
        to = await station.import_(1)
        await station.pause(60_000)
        for key, length in ((1, 10), (2, 101), (2, 100)):
            await station.put(to, 0, data_of(key, length), key=key)
        await station.vmmc.idle()

    async def receive(station: Station):
        export = await station.export(4096)
        target = station.place(bytes(100))
        await station.vmmc.redirect(export, target, 100, key=2)
        found = []
        for _ in range(3):
            event = await station.event()
            found.append((event.key, event.redirection is not None,
                          export.redirection is not None))
        return found, station.process.read(target, 100)

    found, memory = run(stations(send, receive))[1]
    assert found == [(1, False, True), (2, False, False), (2, False, False)]
    assert memory == bytes(100)


def test_after_it_was_cancelled_nothing_goes_there():
    async def send(station: Station):
        to = await station.import_(1)
        await station.pause(80_000)
        await station.put(to, 0, data_of(1, 500), key=2)
        await station.vmmc.idle()

    async def receive(station: Station):
        export = await station.export(4096)
        target = station.place(bytes(500))
        await station.vmmc.redirect(export, target, 500, key=2)
        await station.vmmc.cancel(export)
        cancelled = await station.event()
        assert cancelled.cancelled and export.redirection is None
        event = await station.event()
        return event.redirection, station.process.read(target, 500), station.read(export, 0, 500)

    assert run(stations(send, receive))[1] == (None, bytes(500), data_of(1, 500))


def test_without_the_user_managed_tlb_there_is_none():
    async def body(station: Station):
        export = await station.export(4096)
        return await station.vmmc.redirect(export, station.place(bytes(9)), 9)

    assert run(stations(body, None), vmmc__translation="interrupt")[0] is Status.NOT_SUPPORTED
