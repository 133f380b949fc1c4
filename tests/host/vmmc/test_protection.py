"""VMMC's protection: an adversary that writes every field of its commands reaches nothing that it
has not imported, and is told; nor does it disturb others."""

import random

import pytest
from nicbed.host.vmmc import Status
from nicbed.layouts.operations import NIC_BASE
from nicbed.layouts.packet import HEADER, Protocol
from nicbed.layouts.registers import SEND_WINDOW
from nicbed.layouts.vmmc import (
    COMMAND,
    DESTINATION,
    VMMC_DETAIL,
    VMMC_HEADER,
    VMMC_PART,
    CommandKind,
    PacketKind,
)

from tests.models.target import Model
from tests.programs.vmmc import LIMIT, Station, data_of, describe, stations

OK = Status.SUCCESS
TELL = COMMAND.mask("tell")
SEND = int(CommandKind.SEND)


def run(programs, **knobs):
    return Model(describe(**knobs)).run(programs, limit=LIMIT).results


async def raw(station: Station, command: int, *words: int, data: bytes | None = None) -> Status:
    """A command as no library would write it; how it ended."""
    queue = station.vmmc._queue
    await queue.until(lambda: queue.free >= 4, station.vmmc._spin)
    return await station.vmmc.wait(await queue.put(command, words, data, 0))


@pytest.mark.parametrize("reliable", [True, False])
def test_bounds_and_owners_are_checked_by_the_nic(reliable):
    """Every proxy address and length beside what was imported is refused with an error."""
    async def send(station: Station):
        other = await Station(station.node, 2).open()
        mine = await station.import_(1)
        foreign = await other.import_(1, name=9)
        source = station.place(data_of(1, 9000))
        await station.vmmc._translated(source, 9000)

        async def to(proxy: int, length: int) -> Status:
            return await raw(station, SEND, source, DESTINATION.pack(proxy=proxy, length=length))
        refused = [
            await to(mine.proxy + 5000, 1), await to(mine.proxy + 4990, 11),
            await to(mine.proxy, 5001), await to(mine.proxy + 4096, 905),
            await to(mine.proxy, 0xFFFF_FFFF), await to(mine.proxy + 1, 0xFFFF_FFFF),
            await to(foreign.proxy, 10), await to(0xFFFF_FFFF, 10), await to(511 * 4096, 10),
            await raw(station, SEND, DESTINATION.pack(proxy=foreign.proxy, length=8),
                      data=b"overhere")]
        faults = [await raw(station, SEND, address, DESTINATION.pack(proxy=mine.proxy, length=200))
                  for address in (0, 1 << 40, (1 << 64) - 8, source + (1 << 33))]
        good = await to(mine.proxy, 5000)
        await station.put(mine, 0, b"end!")
        await station.vmmc.idle()
        return refused, faults, good

    async def receive(station: Station):
        export, hidden = await station.export(5000), await station.export(4096, name=9)
        await station.seen(export, 0, b"end!")
        return (station.read(export, 4, 4996), station.guarded(export),
                station.read(hidden, 0, 4096))

    (refused, faults, good), (memory, guarded, hidden) = run(
        stations(send, receive), vmmc__reliable=reliable)
    assert set(refused) == {Status.OUT_OF_BOUNDS, Status.NOT_IMPORTED} and good is OK
    assert faults == [Status.FAULT] * 4
    assert memory == data_of(1, 9000)[4:5000] and guarded and hidden == bytes(4096)


def test_permissions_names_and_ends_of_exports():
    async def send(station: Station):
        vmmc = station.vmmc
        mine = await station.import_(1)
        found = [(await vmmc.import_(1, name, 4096))[0] for name in (2, 77)]
        found.append((await vmmc.import_(1, 1, 4096))[0])
        found.append((await vmmc.import_(5, 1, 4096))[0])
        await station.put(mine, 0, b"go")
        await station.pause(60_000)
        sending = await station.put(mine, 0, data_of(1, 3000))
        after = await station.put(mine, 8, b"short")
        found += [await vmmc.wait(sending), await vmmc.wait(after)]
        again = await station.import_(1)
        found.append(await vmmc.wait(await station.put(again, 0, b"new")))
        return found

    async def receive(station: Station):
        export = await station.export(8192)
        await station.export(4096, name=2, nodes=0b10)
        status, _ = await station.vmmc.export(export.address, 4096, 2)
        assert status is Status.BUSY
        await station.seen(export, 0, b"go")
        assert await station.vmmc.unexport(export) is OK
        new = await station.export(4096)
        await station.seen(new, 0, b"new")
        await station.pause(30_000)
        return station.read(export, 2, 8190), station.read(new, 3, 4093)

    found, (old, new) = run(stations(send, receive))
    assert found == [Status.DENIED, Status.NOT_EXPORTED, Status.NO_ROOM, Status.INVALID,
                     Status.REFUSED, Status.REFUSED, OK]
    assert not any(old) and not any(new)


def test_a_foreign_process_cannot_write_into_a_queue():
    async def body(station: Station):
        export = await station.export(4096)
        to = await station.import_(0)
        other = await Station(station.node, 7).open()
        cpu, processor = station.node.port, station.vmmc.driver.processor
        page = processor.address("port_pages")
        words = [DESTINATION.pack(proxy=to.proxy, length=8),
                 COMMAND.pack(kind=SEND, inlined=1, valid=1)]
        cpu.process = 7
        await cpu.pio_write(page + 40, 0x4141_4141_4141_4141, *words, posted=False)
        seen = await cpu.pio_read(page)
        await cpu.pio_write(processor.address("counters"), 1, posted=False)
        found = await other.vmmc.send(other.place(b"x"), to, 0, 1)
        await station.pause(20_000)
        await station.put(to, 8, b"mine")
        await station.vmmc.idle()
        return station.read(export, 0, 8), station.read(export, 8, 4), seen, found.status

    assert run(stations(body, None))[0] == (bytes(8), b"mine", 0, Status.NOT_IMPORTED)


@pytest.mark.parametrize("seed", range(3))
def test_noise_in_a_queue_crashes_nothing_and_reaches_nothing(seed):
    """Random words in all slots of a process beside one that goes on sending."""
    talk = 6

    async def body(station: Station):
        here = station.node.number
        rng = random.Random(2 * seed + here)
        export = await station.export(8192)
        secret = await station.export(4096, name=50)
        to = await station.import_(1 - here)
        bad = await Station(station.node, 9).open()
        cpu = station.node.port
        page = station.vmmc.driver.processor.address("port_pages", 4096)
        for number in range(talk):
            for _ in range(25):
                slot = rng.randrange(32)
                command = COMMAND.pack(
                    kind=rng.randrange(8), inlined=rng.randrange(2), tell=rng.randrange(2),
                    notify=rng.randrange(2), further=rng.randrange(4), valid=1)
                words = [rng.getrandbits(64), rng.choice([bad.process.allocate(8), 0]),
                         rng.choice([rng.getrandbits(64), to.proxy | 100 << 32]), command]
                cpu.process = 9
                await cpu.pio_write(page + 64 * slot + 32, *words)
            sending = await station.put(to, 400 * number, data_of(number, 400))
            assert await station.vmmc.wait(sending) is OK
            await station.seen(export, 400 * number, data_of(number, 400))
        await station.vmmc.idle()
        await station.pause(30_000)
        return (station.read(export, 400 * talk, 8192 - 400 * talk), station.guarded(export),
                station.read(secret, 0, 4096))

    for rest, guarded, secret in run(stations(body, body)):
        assert not any(rest) and guarded and not any(secret)


@pytest.mark.parametrize("seed", range(2))
def test_stray_packets_do_no_harm(seed):
    """Packets of pages that are not exported, of other generations, epochs and lengths, made up by
    a kernel: no byte of them lands, and the messages beside them all do."""
    async def body(station: Station):
        here = station.node.number
        rng = random.Random(seed * 2 + here)
        export = await station.export(8192)
        to = await station.import_(1 - here)
        cpu, node = station.node.port, station.node
        for number in range(10):
            for _ in range(4):
                kind = rng.choice([PacketKind.DATA, PacketKind.DATA, *PacketKind])
                length = rng.choice([0, 8, 16, 24, 40])
                header = HEADER.pack(
                    route=node.route(1 - here), length=length, source=here, destination=1 - here,
                    protocol=Protocol.VMMC, detail=VMMC_DETAIL.pack(
                        kind=kind, first=rng.randrange(2), last=rng.randrange(2),
                        tell=rng.randrange(2)))
                words = [header, VMMC_HEADER.pack(
                    sequence=rng.getrandbits(16), epoch=rng.choice([77, 200]),
                    generation=rng.getrandbits(8), page=rng.getrandbits(14),
                    source=rng.randrange(4), offset=rng.getrandbits(16)),
                    VMMC_PART.pack(extent=rng.getrandbits(32), key=rng.getrandbits(32)),
                    *(rng.getrandbits(64) for _ in range(3))]
                cpu.process = 0
                await cpu.pio_write(NIC_BASE + SEND_WINDOW, *words[:1 + length // 8])
                await cpu.delay(rng.randrange(1000))
            sending = await station.put(to, 300 * number, data_of(number, 300))
            assert await station.vmmc.wait(sending) is OK
            await station.seen(export, 300 * number, data_of(number, 300))
        await station.pause(20_000)
        return station.read(export, 3000, 8192 - 3000), station.guarded(export)

    for rest, guarded in run(stations(body, body)):
        assert not any(rest) and guarded
