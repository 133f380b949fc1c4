"""U-Net's protection: whatever a process writes into its page, it reaches its own memory and
channels alone, and is told.

``tests/host/unet/test_target.py`` runs the same functions on RTL.
"""

import random

import pytest
from nicbed.host.kernel.process import Process
from nicbed.host.unet import STATUS
from nicbed.layouts.operations import NIC_BASE
from nicbed.layouts.registers import address
from nicbed.layouts.unet import FREE, FREE_AT, SEND, TAKEN_AT
from nicbed.layouts.via import DOORBELL_PAGES, PAGE

from tests.models.target import Model
from tests.programs.unet import LIMIT, Station, data_of, describe, stations

DIRECT = {"unet__buffers": "direct"}


def run(programs, **knobs):
    return Model(describe(**knobs)).run(programs, limit=LIMIT).results


async def idle(station: Station):
    await station.channel(0, 5)
    await station.ready()
    await station.quiet(150_000)
    return [one.data for one in station.got]


async def kernel_read(station: Station, name: str) -> int:
    station.node.port.process = 0
    return await station.node.port.pio_read(address(name))


def test_another_process_reaches_neither_page_nor_doorbell():
    """It writes, reads and rings: refused, counted, and the endpoint goes on undisturbed."""
    async def body(station: Station):
        channel = await station.channel(1, 5)
        await station.ready()
        cpu, processor = station.node.port, station.unet.driver.processor
        page = processor.address("endpoint_pages")
        before = [await kernel_read(station, name) for name in ("page_refused", "window_refused")]
        cpu.process = 7
        await cpu.pio_write(NIC_BASE + DOORBELL_PAGES + PAGE, 5)
        await cpu.pio_write(page, 1, 2, 3, 4)
        seen = await cpu.pio_read(page)
        await cpu.pio_write(processor.address("counters"), 1, posted=False)
        after = [await kernel_read(station, name) for name in ("page_refused", "window_refused")]
        await station.send(channel, b"undisturbed")
        await station.endpoint.drain()
        return [b - a for a, b in zip(before, after, strict=True)], seen

    (refused, seen), got = run(stations(body, idle))
    assert refused == [1, 6] and seen == 0 and got == [b"undisturbed"]


@pytest.mark.parametrize("size, knobs", [(65000, {}), (65536, DIRECT)], ids=["segment", "direct"])
def test_every_field_of_a_descriptor_is_checked(size, knobs):
    """Channels of others, offsets and lengths outside, to the byte in a segment: each ends with
    its status, is counted, and nothing but the good ones arrives."""
    async def send(station: Station):
        other = await Station(station.node, 2).open()
        foreign = await other.channel(1, 6)
        channel = await station.channel(1, 5)
        await station.ready()
        endpoint, queue = station.endpoint, station.endpoint.send_queue
        low = endpoint.place(endpoint.segment)
        assert endpoint.size == size
        wanted = {}
        good = data_of(3, 100)
        station.process.write(endpoint.segment + size - 100, good)
        for number in (0, foreign.number, 255, 256, 1023):
            post = await queue.post(SEND.pack(channel=number, length=8, inlined=1), [1])
            wanted[post] = STATUS.BAD_CHANNEL
        for place, length in ((low + size, 1), (low + size - 99, 100), (low + size - 1, 65535),
                              (0xFFFF_FFFF, 1), (0xFFFF_FFFF, 65535), (0x8000_0000, 4),
                              (low | 1 << 32, 4), (low | 1 << 63, 4)):
            while not (post := await queue.post(SEND.pack(channel=channel.number, length=length),
                                                [place])):
                pass
            wanted[post] = STATUS.BAD_ADDRESS
        for length in (65536, 0x1FFFF):
            post = await queue.post(SEND.pack(channel=channel.number, length=length), [low])
            wanted[post] = STATUS.BAD_LENGTH
        for length in (57, 65535):
            post = await queue.post(
                SEND.pack(channel=channel.number, length=length, inlined=1), [low])
            wanted[post] = STATUS.BAD_LENGTH
        await endpoint.drain()
        await endpoint.post_send(channel, size - 100, 100)
        await endpoint.drain()
        count = await kernel_counter(station, 2)
        return endpoint.failed, wanted, count

    (failed, wanted, count), got = run(stations(send, idle, size=size, frees=15), **knobs)
    assert failed == wanted and count == len(wanted)
    assert got == [data_of(3, 100)]


async def kernel_counter(station: Station, index: int) -> int:
    """Number ``index`` of the firmware's counters."""
    cpu, processor = station.node.port, station.unet.driver.processor
    cpu.process = 0
    word = await cpu.pio_read(processor.address("counters", index // 2 * 8))
    return word >> 32 * (index & 1) & 0xFFFF_FFFF


def test_a_buffer_outside_the_segment_comes_back():
    """It is refused, and what had asked for a buffer takes the next; no byte lands outside."""
    async def send(station: Station):
        channel = await station.channel(1, 5)
        await station.ready()
        await station.send(channel, data_of(1, 1500))
        await station.endpoint.drain()

    async def receive(station: Station):
        endpoint = station.endpoint
        secret = Process(station.node, 9)
        private = secret.allocate(4096, fresh=True)
        secret.write(private, data_of(9, 4096))
        bad = ((endpoint.size, 8), (endpoint.size - 2047, 2048), (0xFFFF_FFFF, 2048), (0, 0),
               (0, 0xFF_FFFF))
        for place, length in bad:
            assert await endpoint.receive_queue.free(place, length)
        assert await endpoint.post_free(0, 2048)
        await station.channel(0, 5)
        await station.until(lambda: station.got)
        assert secret.read(private, 4096) == data_of(9, 4096)
        return [one.buffers[0] for one in station.refused], list(bad), station.got[0].data

    refused, bad, data = run(stations(send, receive, frees=0))[1]
    assert refused == bad and data == data_of(1, 1500)


def test_a_placed_message_lands_in_registered_memory_alone():
    """With unet.buffers = direct the receiver's place rides in the message: inside what is
    registered it lands with no copy; elsewhere not a byte of it does."""
    async def send(station: Station):
        channel = await station.channel(1, 5)
        source = station.process.allocate(5000, fresh=True)
        station.process.write(source, data_of(1, 5000))
        await station.unet.register(station.endpoint, source, 5000)
        await station.until(lambda: station.got)
        there = int.from_bytes(station.got[0].data, "little")
        for place in (there + 4096 * 3, there + 4096 * 2, 0xFFFF_F000, there):
            post = await station.endpoint.post_from(channel, source, 5000, place)
            while not await station.endpoint.over(post):
                pass
        return station.endpoint.failed

    async def receive(station: Station):
        channel = await station.channel(0, 5)
        process = station.process
        target = process.allocate(3 * 4096, fresh=True)
        fence = process.allocate(8 * 4096, fresh=True)
        process.write(fence, bytes(8 * 4096))
        await station.unet.register(station.endpoint, target, 5000)
        await station.ready()
        await station.send(channel, station.endpoint.place(target).to_bytes(8, "little"))
        message = await station.endpoint.receive()
        await station.quiet(20_000)
        assert process.read(fence, 8 * 4096) == bytes(8 * 4096)
        return (message.placed, message.length,
                message.buffers == ((station.endpoint.place(target), 5000),),
                process.read(target, 5000), len(station.got))

    failed, (placed, length, where, data, more) = run(stations(send, receive), **DIRECT)
    assert not failed and placed and length == 5000 and where and not more
    assert data == data_of(1, 5000)


@pytest.mark.parametrize("seed", range(3))
def test_noise_in_a_page_harms_nobody(seed):
    """A process that writes noise into all of its page and rings beside two that go on talking:
    the firmware lives, their messages arrive, and no other memory is written."""
    talk = 10

    async def body(station: Station):
        here, rng = station.node.number, random.Random(2 * seed + station.node.number)
        channel = await station.channel(1 - here, 5)
        bad = await Station(station.node, 9).open(size=8192, frees=0)
        await bad.channel(1 - here, 6)
        secret = Process(station.node, 1)
        private = secret.allocate(4096, fresh=True)
        secret.write(private, data_of(99, 4096))
        await station.ready()
        cpu, page = station.node.port, station.unet.driver.processor.address(
            "endpoint_pages", 4096)
        bell = NIC_BASE + DOORBELL_PAGES + 2 * PAGE
        for number in range(talk):
            await station.send(channel, data_of(number, 300))
            for _ in range(12):
                cpu.process = 9
                place = rng.choice([rng.randrange(FREE_AT // 8) * 8, 64 * rng.randrange(8),
                                    FREE_AT + 8 * rng.randrange(64), TAKEN_AT])
                word = rng.choice([rng.getrandbits(64), FREE.pack(
                    place=rng.choice([0, 4096, 8192, rng.getrandbits(32)]),
                    length=rng.choice([8, 4096, rng.getrandbits(24)]), phase=rng.randrange(2)),
                    SEND.pack(length=rng.randrange(200), channel=rng.choice([1, 2, 3]),
                              inlined=rng.randrange(2), placed=rng.randrange(2))])
                await cpu.pio_write(page + place, word)
                await cpu.pio_write(bell + 8 * rng.randrange(2), rng.choice(
                    [rng.randrange(40), rng.getrandbits(64)]))
                await cpu.delay(rng.randrange(800))
            await station.until(lambda wanted=number: len(station.got) > wanted)
        assert secret.read(private, 4096) == data_of(99, 4096)
        return [one.data for one in station.got], station.endpoint.failed

    for got, failed in run(stations(body, body)):
        assert got == [data_of(number, 300) for number in range(talk)] and not failed
