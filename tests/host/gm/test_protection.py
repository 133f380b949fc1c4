"""GM's protection: ports and their pages, registered memory, directed sends; nothing that a program
writes to the NIC crashes it.

``tests/host/gm/test_target.py`` runs the same functions on RTL.
"""

import random

import pytest
from nicbed.host.gm import GM_STATUS
from nicbed.host.gm.driver import Driver
from nicbed.host.kernel.process import BASE, Process
from nicbed.layouts.gm import (
    COMMAND,
    COMMAND_END,
    DETAIL,
    GM_HEADER,
    PORTS,
    CommandKind,
    KernelCommand,
    PacketKind,
)
from nicbed.layouts.operations import NIC_BASE
from nicbed.layouts.packet import HEADER, Protocol
from nicbed.layouts.registers import SEND_WINDOW, address
from nicbed.layouts.via import DOORBELL_PAGES, PAGE

from tests.models.target import Model
from tests.programs.gm import LIMIT, PORT, Station, class_of, data_of, describe, stations

OK = GM_STATUS.GM_SUCCESS
FAULT, REJECTED = GM_STATUS.GM_MEMORY_FAULT, GM_STATUS.GM_SEND_REJECTED


def run(programs, **knobs):
    return Model(describe(**knobs)).run(programs, limit=LIMIT).results


async def nothing(station: Station):
    await station.quiet(60_000)


async def kernel_read(station: Station, name: str) -> int:
    station.node.port.process = 0
    return await station.node.port.pio_read(address(name))


def test_a_foreign_process_s_doorbells_and_pages():
    """Refused, counted, and the port's own commands are not disturbed."""
    async def body(station: Station):
        other = await Station(station.node, 3, process=7).open()
        assert await other.gm.gm_provide_receive_buffer(station.port, 0, 5, 0) \
            is GM_STATUS.GM_INVALID_PARAMETER
        cpu = station.node.port
        before = [await kernel_read(station, name) for name in ("page_refused", "window_refused")]
        processor = station.gm.driver.processor
        page = processor.address("port_pages", (PORT - 1) * 4096)
        cpu.process = 7
        await cpu.pio_write(NIC_BASE + DOORBELL_PAGES + PAGE * PORT, 5)
        await cpu.pio_write(page, 1, 2, 3, 4)
        seen = await cpu.pio_read(page)
        await cpu.pio_write(processor.address("messages"), 1, posted=False)
        after = [await kernel_read(station, name) for name in ("page_refused", "window_refused")]
        await station.provide(class_of(5))
        await station.send(b"hello", 0)
        await station.until(lambda: station.got)
        return [b - a for a, b in zip(before, after, strict=True)], seen, station.got[0].data

    (refused, seen, data), _ = run(stations(body, nothing))
    assert refused == [1, 6] and seen == 0 and data == b"hello"


def test_what_is_not_registered_is_refused():
    async def send(station: Station):
        away = station.process.allocate(100, fresh=True)
        far = (0, 1 << 40, (1 << 64) - 8, BASE - 4096, BASE + (1 << 33), BASE + (1 << 31),
               BASE + (1 << 21))
        for number, ptr in enumerate((away, *far)):
            await station.send(ptr, 1, length=100, context=number)
        await station.idle()
        ends = await station.memory(100)
        station.process.allocate(1, fresh=True)
        await station.send(ends + 4096 - 50, 1, length=100, context="end")
        good = await station.place(data_of(1, 100))
        await station.send(good, 1, length=100, context="good")
        await station.idle()
        return station.ended

    async def receive(station: Station):
        await station.provide(class_of(100), count=4)
        away = station.process.allocate(100, fresh=True)
        for ptr in (away, 0, (1 << 64) - 8):
            await station.gm.gm_provide_receive_buffer(station.port, ptr, 7, 0)
        await station.until(lambda: station.got and len(station.refused) == 3)
        await station.quiet(20_000)
        return station.refused, [one.data for one in station.got], len(station.port.free_receives)

    ended, (refused, got, free) = run(stations(send, receive))
    assert dict(ended) == {**dict.fromkeys(range(8), FAULT), "end": FAULT, "good": OK}
    assert len(ended) == 10
    assert refused == [FAULT] * 3 and got == [data_of(1, 100)] and free == 32 - 4


def test_deregistered_memory_is_reached_no_more():
    """Registered twice it takes two; then not even a translation that the NIC had cached works."""
    async def send(station: Station):
        ptr = await station.place(data_of(1, 100))
        gm, port = station.gm, station.port
        assert await gm.gm_register_memory(port, ptr, 100) is OK
        await station.send(ptr, 1, length=100, context=0)
        await station.idle()
        assert await gm.gm_deregister_memory(port, ptr, 100) is OK
        await station.send(ptr, 1, length=100, context=1)
        await station.idle()
        assert await gm.gm_dma_free(port, ptr, 100) is OK
        await station.send(ptr, 1, length=100, context=2)
        await station.idle()
        assert await gm.gm_deregister_memory(port, ptr, 100) is GM_STATUS.GM_INVALID_PARAMETER
        return station.ended

    async def receive(station: Station):
        await station.provide(7, count=3)
        await station.until(lambda: len(station.got) == 2)

    ended, _ = run(stations(send, receive))
    assert ended == [(0, OK), (1, OK), (2, FAULT)]


def test_registered_for_one_port_is_not_for_another():
    async def body(station: Station):
        other = await Station(station.node, 3, owner=station.process).open()
        ptr = await station.place(data_of(1, 100))
        await other.send(ptr, 1, length=100, context="other")
        await other.idle()
        return other.ended

    ended, _ = run(stations(body, nothing))
    assert ended == [("other", FAULT)]


def test_a_message_whose_memory_goes_while_it_is_sent():
    """It fails in its turn; what is before it and what is behind it arrive, and the buffer that it
    had begun to fill takes another message."""
    async def send(station: Station):
        ptr = await station.place(data_of(0, 60_000))
        await station.send(data_of(1, 3000), 1, context="before")
        await station.send(ptr, 1, length=60_000, context="broken")
        await station.send(data_of(2, 3000), 1, context="behind")
        await station.until(lambda: station.ended)
        await station.gm.gm_deregister_memory(station.port, ptr + 45_000, 1)
        await station.idle()
        await station.send(data_of(3, 60_000), 1, context="whole")
        await station.idle()
        return station.ended

    async def receive(station: Station):
        await station.provide(class_of(60_000))
        await station.provide(class_of(3000), count=2)
        await station.until(lambda: len(station.got) == 3)
        return [one.data for one in station.got]

    ended, got = run(stations(send, receive))
    assert ended == [("before", OK), ("broken", FAULT), ("behind", OK), ("whole", OK)]
    assert got == [data_of(1, 3000), data_of(2, 3000), data_of(3, 60_000)]


def test_directed_sends_go_nowhere_else():
    """Not allowed; allowed, but not registered; over the end: rejected, and not a byte there."""
    async def send(station: Station):
        await station.provide(class_of(8), count=2)
        await station.until(lambda: station.got)
        target = int.from_bytes(station.got[0].data, "little")
        source = await station.place(b"\xee" * 2000)

        async def put(there, context):
            await station.gm.gm_directed_send_with_callback(
                station.port, source, there, 2000, 0, 1, PORT, station.end, context)
            await station.idle()
            await station.gm.gm_resume_sending(station.port, 0, 1, PORT)
            await station.idle()
        await put(target, "not allowed")
        await station.send(b"go", 1)
        await station.until(lambda: len(station.got) == 2)
        for context, there in (("far", target + (1 << 32)), ("low", 0), ("top", (1 << 64) - 100),
                               ("over the end", target + 4096 - 100), ("good", target)):
            await put(there, context)
        await station.send(b"ok", 1)
        await station.idle()
        return station.ended

    async def receive(station: Station):
        await station.provide(class_of(2), count=2)
        target = await station.memory(4096)
        station.process.allocate(1, fresh=True)
        station.process.write(target, bytes(4096))
        await station.send(target.to_bytes(8, "little"), 0)
        await station.until(lambda: station.got)
        assert station.process.read(target, 4096) == bytes(4096)
        await station.gm.gm_allow_remote_memory_access(station.port)
        await station.send(bytes(8), 0)
        await station.until(lambda: len(station.got) == 2)
        return station.process.read(target, 4096)

    ended, memory = run(stations(send, receive))
    statuses = {context: status for context, status in ended if context is not None}
    assert statuses == {"not allowed": REJECTED, "far": REJECTED, "low": REJECTED, "top": REJECTED,
                        "over the end": REJECTED, "good": OK}
    assert memory[:2000] == b"\xee" * 2000
    assert set(memory[2000:4096 - 100]) == {0}


def malformed(rng: random.Random, ptr: int) -> list[int]:
    """The words of a slot: a command with some of it wrong, or noise."""
    if rng.random() < 0.3:
        return [rng.getrandbits(64) for _ in range(4)]
    place = rng.choice([ptr, ptr + 4000, 0, rng.getrandbits(64), BASE + rng.getrandbits(20)])
    word = COMMAND.pack(
        kind=rng.choice([*CommandKind, 0, 9, 15]), port=rng.choice([PORT, 3, rng.randrange(16)]),
        size=rng.choice([3, 4, 5, 7, rng.randrange(32)]), priority=rng.randrange(2),
        inlined=rng.randrange(2), node=rng.choice([0, 1, 1, rng.randrange(256)]),
        trace=rng.getrandbits(24))
    length = rng.choice([0, 4, 16, 17, 100, 24, rng.getrandbits(32), 0xFFFF_FFFF])
    return [word, place, rng.choice([ptr, rng.getrandbits(64), 1]),
            COMMAND_END.pack(length=length, token=rng.choice([*range(16), rng.getrandbits(16)]))]


@pytest.mark.parametrize("seed", range(4))
def test_malformed_commands_crash_nothing(seed):
    """100 random commands and doorbells of a program beside two that go on talking: the firmware
    lives, their messages arrive, and no memory but the program's own is written."""
    talk = 12

    async def body(station: Station):
        here = station.node.number
        await station.provide(class_of(300), count=4)
        rng = random.Random(seed * 2 + here)
        bad = await Station(station.node, 3, process=9).open()
        own = await bad.memory(8192)
        secret = Process(station.node, 1)
        private = secret.allocate(4096, fresh=True)
        secret.write(private, data_of(99, 4096))
        cpu = station.node.port
        for number in range(talk):
            await station.send(data_of(number, 300), 1 - here, context=number)
            for _ in range(100 // talk + 1):
                queue = bad.port.queue
                cpu.process = 9
                await queue.put(malformed(rng, own))
                if rng.random() < 0.1:
                    await cpu.pio_write(queue._doorbell, rng.getrandbits(32))
                if rng.random() < 0.3:
                    await cpu.delay(rng.randrange(3000))
            await station.until(lambda wanted=number: min(len(station.got), len(station.ended))
                                > wanted)
        assert secret.read(private, 4096) == data_of(99, 4096)
        await station.quiet(5_000)
        processor = station.gm.driver.processor
        cpu.process = 0
        malformed_count = await cpu.pio_read(processor.address("counters")) & 0xFFFF_FFFF
        return [one.data for one in station.got], station.ended, malformed_count

    for got, ended, counted in run(stations(body, body), gm__retries=1):
        assert got == [data_of(number, 300) for number in range(talk)]
        assert ended == [(number, OK) for number in range(talk)] and counted


def test_tokens_that_are_out_are_refused():
    """A program that takes a token twice harms nobody and nothing, not even its first use."""
    async def body(station: Station):
        port, cpu = station.port, station.node.port
        ptr = await station.place(data_of(1, 9000))
        await station.send(ptr, 1, length=9000, context="first")
        token = next(iter(port.sends))
        into = await station.memory(256)
        await station.gm.gm_provide_receive_buffer(port, into, 7, 0)
        for kind, number in ((CommandKind.SEND, token), (CommandKind.RESUME, token),
                             (CommandKind.RECEIVE, next(iter(port.receives))),
                             (CommandKind.SEND, 16), (CommandKind.RECEIVE, 32)):
            await station.gm._commands.put(
                port, COMMAND.pack(kind=kind, port=PORT, size=7, node=1), ptr, 0,
                COMMAND_END.pack(length=100, token=number), 0)
        await station.idle()
        await station.send(data_of(2, 100), 0)
        await station.until(lambda: station.got)
        await station.idle()
        cpu.process = 0
        count = await cpu.pio_read(station.gm.driver.processor.address("counters"))
        return station.ended, [one.data for one in station.got], count & 0xFFFF_FFFF

    async def receive(station: Station):
        await station.provide(class_of(9000))
        await station.until(lambda: station.got)
        await station.quiet(50_000)
        return [one.data for one in station.got]

    (ended, got, count), there = run(stations(body, receive))
    assert ended == [("first", OK), (None, OK)] and got == [data_of(2, 100)]
    assert there == [data_of(1, 9000)] and count == 5


def stray(rng: random.Random, node: int, to: int, route: int) -> list[int]:
    """The words of a packet that no firmware would send now: of another epoch, of no port, too
    short, too long for its size class."""
    kind = rng.choice(list(PacketKind))
    length = rng.choice([0, 8, 16, 24, 40]) if kind < PacketKind.ACK else rng.choice([0, 8, 8, 16])
    detail = DETAIL.pack(kind=kind, first=rng.randrange(2), last=rng.randrange(2),
                         priority=rng.randrange(2))
    header = HEADER.pack(route=route, length=length, source=node, destination=to,
                         protocol=Protocol.GM, detail=detail)
    wrong = rng.randrange(3)
    second = GM_HEADER.pack(
        sequence=rng.choice([0, 1, 2, rng.getrandbits(16)]),
        epoch=0 if wrong == 0 else rng.choice([1, 77, 200]),
        source=rng.choice([0, 8, 15]) if wrong == 0 else PORT, port=rng.randrange(16),
        length=rng.choice([0, 1, 2, 3, 4, 100, 0xFFFF_FFFF]))
    rest = [rng.getrandbits(64) for _ in range(4)]
    return [header, second, *rest][:1 + length // 8]


@pytest.mark.parametrize("seed", range(2))
def test_stray_packets_do_no_harm(seed):
    """Packets of old epochs, of no port, cut short, from a kernel that makes them up, beside
    messages: not one of these is lost, and no send ends for another's acknowledgement."""
    count = 30

    async def body(station: Station):
        here = station.node.number
        rng = random.Random(seed * 2 + here)
        cpu = station.node.port
        await station.provide(class_of(300), count=4)
        for number in range(count):
            await station.send(data_of(number, 300), 1 - here, context=number)
            cpu.process = 0
            for _ in range(5):
                await cpu.pio_write(NIC_BASE + SEND_WINDOW,
                                    *stray(rng, here, 1 - here, station.node.route(1 - here)))
                await cpu.delay(rng.randrange(2000))
            await station.until(lambda wanted=number: min(len(station.got), len(station.ended))
                                > wanted)
        return [one.data for one in station.got], station.ended

    for got, ended in run(stations(body, body)):
        assert got == [data_of(number, 300) for number in range(count)]
        assert ended == [(number, OK) for number in range(count)]


def test_ports_belong_to_who_opened_them():
    async def body(station: Station):
        gm = station.gm
        statuses = [(await gm.gm_open(0, port))[0] for port in (PORT, 0, PORTS, -1)]
        statuses.append((await gm.gm_open(1, 4))[0])
        statuses.append((await gm.gm_open(0, 4, "x", 0x100))[0])
        other = Station(station.node, PORT, process=5)
        statuses.append((await other.gm.gm_open(0, PORT))[0])
        statuses.append(await other.gm.gm_close(station.port))
        assert await gm.gm_close(station.port) is OK
        statuses.append(await gm.gm_close(station.port))
        await other.open()
        assert station.node.service(Driver).ports[PORT].process.number == 5
        return statuses

    bad, busy = GM_STATUS.GM_INVALID_PARAMETER, GM_STATUS.GM_BUSY
    statuses, _ = run(stations(body, nothing))
    assert statuses == [busy, bad, bad, bad, bad, GM_STATUS.GM_FAILURE, busy, bad, bad]


def test_no_command_is_lost_among_doorbells_without_one():
    """A program rings more often than the NIC has places for doorbells: a command of its own and
    one of the kernel's, whose doorbells found none, are carried out, however many were there."""
    async def ring(station: Station, page: int, process: int, word: int, vain: int) -> None:
        cpu, queue = station.node.port, station.port.queue
        at = station.gm.driver.processor.doorbell
        cpu.process = 1
        for _ in range(vain):
            await cpu.room(1)
            cpu.put_write(at(PORT), 1, queue.room.posted - (page == PORT))
        await cpu.room(1)
        cpu.process = process
        cpu.put_write(at(page), 1, word)
        await cpu.flush()

    async def body(station: Station):
        cpu, queue = station.node.port, station.port.queue
        mailbox = station.gm.driver._mailbox
        await station.provide(class_of(5), count=10)
        lost = await kernel_read(station, "page_lost")
        for vain in range(20, 320, 30):
            queue.ring = lambda: None
            await station.send(b"hello", 0)
            del queue.ring
            await ring(station, PORT, 1, queue.room.posted, vain)
            await station.idle()
            cpu.process = 0
            mailbox._sequence += 1
            await cpu.pio_write(mailbox._base, KernelCommand.FORGET | PORT << 8)
            await cpu.pio_write(mailbox._base + 56, mailbox._sequence)
            await ring(station, 0, 0, 0, vain)
            await station.quiet(60_000)
            cpu.process = 0
            assert await cpu.pio_read(mailbox._base + 64) & 0xFFFF_FFFF == mailbox._sequence
        return await kernel_read(station, "page_lost") - lost

    lost, _ = run(stations(body, None), processor__doorbell_queue=4)
    assert lost > 100
