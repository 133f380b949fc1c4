"""VMMC on the functional target: exports, imports, sends, events, signals."""

import random

import pytest
from nicbed.host.vmmc import Status

from tests.models.target import Model
from tests.programs.vmmc import LIMIT, Station, data_of, describe, stations

OK = Status.SUCCESS
LENGTHS = [1, 4, 7, 8, 39, 40, 41, 47, 48, 49, 112, 113, 127, 128, 129, 1000, 1024, 1025, 5000]
WAYS = {
    "VMMC": {"vmmc__translation": "interrupt", "vmmc__reliable": False},
    "VMMC-2": {},
    "interrupts": {"vmmc__translation": "interrupt"},
    "smallest": {"vmmc__queue_slots": 4, "vmmc__window": 1, "vmmc__translations": 4,
                 "vmmc__ways": 1, "vmmc__prefetch": 1},
    "no short sends": {"vmmc__short": 0, "nic__mtu": 200},
}


def run(programs, **knobs):
    return Model(describe(**knobs)).run(programs, limit=LIMIT).results


@pytest.mark.parametrize("way", WAYS)
def test_sends_of_every_length_and_alignment_land_and_nothing_else_does(way):
    """The memory is that of a model after each send, and so are the guards around it."""
    size = 3 * 4096 - 100
    rng = random.Random(way)
    steps = [(length, rng.randrange(size - length), rng.randrange(4096)) for length in LENGTHS]

    async def send(station: Station):
        to = await station.import_(1)
        statuses = []
        for seed, (length, at, offset) in enumerate(steps):
            for keyed in (None, seed):
                data = data_of(2 * seed + (keyed is not None), length)
                sending = await station.vmmc.send(station.place(data, offset), to, at, length,
                                                  key=keyed)
                if seed % 3 == 0:
                    statuses.append(await station.vmmc.wait(sending))
        await station.vmmc.idle()
        await station.put(to, size - 4, b"end!")
        await station.vmmc.idle()
        return set(statuses), await station.counters()

    async def receive(station: Station):
        export = await station.export(size)
        await station.seen(export, size - 4, b"end!")
        events = [await station.event() for _ in steps]
        return station.read(export, 0, size), station.guarded(export), events

    (statuses, counters), (memory, guarded, events) = run(stations(send, receive), **WAYS[way])
    model = bytearray(size)
    for seed, (length, at, _) in enumerate(steps):
        model[at:at + length] = data_of(2 * seed + 1, length)
    model[size - 4:] = b"end!"
    assert memory == model and guarded and statuses == {OK}
    assert [(event.place, event.length, event.key) for event in events] == [
        (at, length, seed) for seed, (length, at, _) in enumerate(steps)]
    assert not any(event.redirection or event.lost or event.notify for event in events)
    if "interrupt" in WAYS[way].get("vmmc__translation", ""):
        assert counters["interrupts"] > 0
    else:
        assert counters["interrupts"] == 0


def test_a_send_needs_no_call_and_no_interrupt_of_the_receiver():
    async def send(station: Station):
        await station.put(await station.import_(1), 4000, data_of(1, 3000))
        await station.vmmc.idle()

    async def receive(station: Station):
        export = await station.export(8192)
        await station.node.port.delay(200_000)
        await station.node.port.flush()
        return station.read(export, 4000, 3000), station.vmmc.driver.interrupts

    assert run(stations(send, receive))[1] == (data_of(1, 3000), 0)


def test_a_signal_runs_its_handler_once_and_other_events_are_kept():
    async def send(station: Station):
        to = await station.import_(1)
        await station.put(to, 0, b"quiet", key=1)
        await station.put(to, 8, b"signal", key=2, notify=True)
        await station.put(to, 16, b"more", key=3)
        await station.vmmc.idle()

    async def receive(station: Station):
        export = await station.export(4096)
        signals = []
        station.vmmc.on_signal = lambda event: signals.append((event.key, event.place))
        await station.seen(export, 16, b"more")
        await station.pause(50_000)
        keys = [(await station.event()).key for _ in range(2)]
        return signals, keys, station.vmmc.driver.interrupts

    assert run(stations(send, receive))[1] == ([(2, 8)], [1, 3], 1)


def test_a_process_that_waits_gives_up_the_cpu():
    async def send(station: Station):
        to = await station.import_(1)
        for number in range(3):
            await station.node.port.delay(30_000)
            await station.put(to, 0, b"wake up", key=number)
            await station.vmmc.idle()

    async def receive(station: Station):
        await station.export(4096)
        keys = [(await station.vmmc.next(block=True)).key for _ in range(3)]
        return keys, station.vmmc.driver.interrupts

    keys, interrupts = run(stations(send, receive))[1]
    assert keys == [0, 1, 2] and interrupts >= 3


def test_events_that_find_no_room_are_lost_and_the_next_one_says_so():
    async def send(station: Station):
        to = await station.import_(1)
        for number in range(135):
            await station.put(to, 0, b"x", key=number)
        await station.put(to, 8, b"full")
        await station.pause(60_000)
        await station.put(to, 0, b"x", key=135)
        await station.vmmc.idle()

    async def receive(station: Station):
        export = await station.export(4096)
        await station.seen(export, 8, b"full")
        events = [await station.event() for _ in range(129)]
        return [event.key for event in events], [event.lost for event in events]

    keys, lost = run(stations(send, receive))[1]
    assert keys == [*range(128), 135] and lost == [False] * 128 + [True]


@pytest.mark.parametrize("nodes", [3])
def test_all_to_all_both_ways(nodes):
    rounds = 5

    async def body(station: Station):
        here = station.node.number
        export = await station.export(nodes * 4096)
        others = [node for node in range(nodes) if node != here]
        imports = {node: await station.import_(node) for node in others}
        for number in range(rounds):
            for node in others:
                await station.put(imports[node], here * 4096 + 700 * number,
                                  data_of(here * 10 + number, 700), key=number)
        for _ in range(rounds * len(others)):
            await station.event()
        await station.vmmc.idle()
        return [station.read(export, node * 4096, 700 * rounds) for node in others], others

    for found, others in run(stations(*[body] * nodes), fabric__nodes=nodes):
        assert found == [b"".join(data_of(node * 10 + number, 700) for number in range(rounds))
                         for node in others]


def test_to_itself():
    async def body(station: Station):
        export = await station.export(4096)
        to = await station.import_(0)
        await station.put(to, 5, data_of(3, 2000))
        await station.vmmc.idle()
        return station.read(export, 5, 2000)

    assert run(stations(body, None))[0] == data_of(3, 2000)


@pytest.mark.parametrize("length", [8, 40_000])
def test_a_stream_without_losses_is_sent_once(length):
    """Peers' acknowledgements are taken while there is more to send: a window takes longer than the
    time-out."""
    async def body(station: Station):
        peer = 1 - station.node.number
        await station.export(65536)
        to = await station.import_(peer)
        for number in range(40 if length == 8 else 4):
            await station.put(to, 0, data_of(number, length))
        await station.vmmc.idle()
        await station.pause(100_000)
        return (await station.counters())["resent"]

    assert run(stations(body, body), vmmc__retry_timeout=12_000) == [0, 0]
