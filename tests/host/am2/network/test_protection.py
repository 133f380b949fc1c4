"""The network way's protection: frames and their pages; nothing that a process writes to the NIC,
or that comes from the link, crashes the firmware or harms another.

``tests/host/am2/network/test_on_target.py`` runs the same functions on RTL.
"""

import random

import pytest
from nicbed.layouts.am2 import LONG, Opcode
from nicbed.layouts.am2_nic import (
    AM2_DETAIL,
    AM2_HEADER,
    AM2_MESSAGE,
    AM2_PLACE,
    QUEUES,
    SEND_SLOTS,
    KernelCommand,
    PacketKind,
    Slot,
    Words,
)
from nicbed.layouts.operations import NIC_BASE
from nicbed.layouts.packet import HEADER, Protocol
from nicbed.layouts.processor import SLOT_BYTES
from nicbed.layouts.registers import SEND_WINDOW, address

from tests.models.am2_network import run
from tests.programs.am2_network import (
    REPLIES,
    REQUESTS,
    TAG,
    Party,
    data_of,
    name,
    parties,
)


async def nothing(party: Party):
    await party.quiet(100_000)


async def kernel_read(party: Party, register: str) -> int:
    party.node.port.process = 0
    return await party.node.port.pio_read(address(register))


def test_a_foreign_process_s_frame_and_doorbell():
    """Refused, counted, and what the frame's own process sends is not disturbed."""
    async def body(party: Party):
        port, frame = party.node.port, party.endpoint.parts[party.way]
        before = [await kernel_read(party, one) for one in ("page_refused", "window_refused")]
        port.process = 77
        await port.pio_write(frame.doorbell, 1)
        await port.pio_write(frame.page + SLOT_BYTES - 8, 1 << 20)
        await port.pio_write(frame.page + QUEUES + 8 * Words.TAG, 0)
        seen = await port.pio_read(frame.page + QUEUES + 8 * Words.TAG)
        await port.pio_write(party.way.driver.processor.address("counters"), 1, posted=False)
        after = [await kernel_read(party, one) for one in ("page_refused", "window_refused")]
        await party.request(name(0), 5)
        await party.until(lambda: len(party.got) == 2)
        return [b - a for a, b in zip(before, after, strict=True)], seen

    assert run(parties(body, nothing))[0] == ([1, 4], 0)


def test_the_frame_of_a_closed_endpoint_is_taken_back():
    async def body(party: Party):
        other = await party.another(1).open()
        page = other.endpoint.parts[party.way].page
        await party.way.close(other.endpoint)
        party.parties.remove(other)
        before = await kernel_read(party, "window_refused")
        party.node.port.process = 1
        await party.node.port.pio_write(page, 1, posted=False)
        return await kernel_read(party, "window_refused") - before

    assert run(parties(body, nothing))[0] == 1


def malformed(rng: random.Random) -> list[int]:
    """The words of a slot: a message with some of it wrong, or noise."""
    words = [rng.getrandbits(64) for _ in range(Slot.MESSAGE + 1)]
    if rng.random() < 0.3:
        return words
    words[Slot.PLACE] = AM2_PLACE.pack(
        offset=rng.getrandbits(32), length=rng.choice([0, 1, 100, LONG, LONG + 1, 0xFFFF]),
        buffer=rng.choice([0, 1, 3, 4, 15, 0xFFFF]))
    words[Slot.TAG] = rng.choice([TAG, 0, rng.getrandbits(64)])
    words[Slot.MESSAGE] = AM2_MESSAGE.pack(
        opcode=rng.randrange(8), handler=rng.randrange(256), count=rng.choice([0, 1, 8, 9, 15]),
        returned=rng.choice([0, 0, 1, 9, 15]), endpoint=rng.choice([1, 1, 2, 63]),
        nic=rng.choice([0, 1, 1, 2, 63]), epoch=rng.randrange(256), trace=rng.getrandbits(24))
    return words


@pytest.mark.parametrize("seed", range(4))
def test_malformed_messages_harm_nobody(seed):
    """Random slots, counts and doorbells of one endpoint beside others that go on talking, to a
    third one that takes what comes: the firmware lives, their messages arrive, and no memory but
    the endpoint's own is written."""
    talk = 10

    async def body(party: Party):
        here = party.node.number
        rng = random.Random(seed * 2 + here)
        bad = await party.another(1).open()
        port, frame = party.node.port, bad.endpoint.parts[party.way]
        party.parties.remove(bad)
        private = party.node.allocate(4096)
        party.node.memory.write(private, data_of(99, 4096))
        posted = [0, 0]
        for number in range(talk):
            await party.request(name(1 - here), number, data=data_of(number, 300))
            for _ in range(8):
                reply = rng.randrange(2)
                slot, slots = (16, 8) if reply else (0, 16)
                words = malformed(rng)
                mask = AM2_MESSAGE.mask("phase")
                if not posted[reply] & slots:
                    words[Slot.MESSAGE] |= mask
                else:
                    words[Slot.MESSAGE] &= ~mask
                at = frame.page + (slot + posted[reply] % slots) * SLOT_BYTES
                posted[reply] += rng.random() < 0.9
                port.process = frame.process
                await port.pio_write(at, *words)
                await port.pio_write(frame.doorbell + rng.choice([0, 0, 8, 64]),
                                     rng.getrandbits(32))
                if rng.random() < 0.3:
                    await port.pio_write(frame.page + QUEUES + 8 * rng.choice(
                        [Words.COUNTS, Words.TAKEN, Words.ARMED]), rng.getrandbits(64))
                if rng.random() < 0.3:
                    await port.delay(rng.randrange(4000))
            await party.until(lambda wanted=number: min(
                len(party.of(*REQUESTS)), len(party.of(*REPLIES))) > wanted)
        await party.quiet(20_000)
        assert party.node.memory.read(private, 4096) == data_of(99, 4096)
        counters = await party.counters()
        return [one.data for one in party.of(Opcode.REQUEST_I)], counters["malformed"]

    for got, malformed_count in run(parties(body, body)):
        assert got == [data_of(number, 300) for number in range(talk)] and malformed_count


def stray(rng: random.Random, node: int, to: int, route: int) -> list[int]:
    """The words of a packet that no firmware would send now: of another epoch, of no endpoint, too
    short, too long."""
    kind = rng.choice(list(PacketKind))
    length = 8 * rng.choice([0, 1, 2, 3, 4, 5, 6])
    detail = AM2_DETAIL.pack(kind=kind, reply=rng.randrange(2), asks=rng.random() < 0.1,
                             answers=rng.random() < 0.2)
    header = HEADER.pack(route=route, length=length, source=node, destination=to,
                         protocol=Protocol.AM2, detail=detail)
    wrong = rng.randrange(3)
    second = AM2_HEADER.pack(
        sequence=rng.choice([0, 1, 2, rng.getrandbits(16)]),
        epoch=0 if wrong == 0 else rng.choice([1, 77, 200, 0xFFFF]),
        source=rng.choice([32, 63, 64, 255]) if wrong == 0 else rng.choice([0, 1]),
        target=rng.choice([0, 1, 63, 64, 255]))
    rest = [rng.getrandbits(rng.choice([3, 64])) for _ in range(6)]
    return [header, second, *rest][:1 + length // 8]


@pytest.mark.parametrize("seed", range(3))
def test_stray_packets_do_no_harm(seed):
    """From a kernel that makes them up, beside messages: not one of these is lost or doubled."""
    count = 20

    async def body(party: Party):
        here = party.node.number
        there = 1 - here
        rng = random.Random(seed * 2 + here)
        for number in range(count):
            await party.request(name(there), number, data=data_of(number, 1500)
                                if number % 3 == 0 else None)
            for _ in range(3):
                party.node.port.process = 0
                words = stray(rng, here, there, party.node.route(there))
                await party.node.port.pio_write(NIC_BASE + SEND_WINDOW, *words)
        await party.until(lambda: len(party.got) == 2 * count)
        await party.quiet(50_000)
        return party.got, (await party.counters())["malformed"]

    for got, malformed_count in run(parties(body, body), am2__retries=20):
        for kinds in (REQUESTS, REPLIES):
            assert [one.arguments[0] for one in got if one.opcode in kinds] == list(range(count))
        assert malformed_count and not any(one.returned for one in got)


@pytest.mark.parametrize("slot", [0, SEND_SLOTS - 1])
def test_a_slot_changed_while_it_is_sent(slot):
    """Its receiver gets one thing or the other, and the NICs live."""
    async def body(party: Party):
        port, frame = party.node.port, party.endpoint.parts[party.way]
        for number in range(8):
            await party.request(name(1), number)
            port.process = frame.process
            await port.pio_write(frame.page + slot * SLOT_BYTES, *[(1 << 64) - 1] * 8)
            await party.quiet(2000)
        await party.quiet(50_000)
        return len(party.got)

    assert run(parties(body, nothing))[0] >= 7


@pytest.mark.parametrize("nic, endpoint, taken", [(1, 0, True), (2, 0, False), (63, 0, False)])
def test_a_message_to_no_nic_is_dropped(nic, endpoint, taken):
    """And counted, and its slot is free again."""
    async def body(party: Party):
        frame, port = party.endpoint.parts[party.way], party.node.port
        words = [0] * (Slot.MESSAGE + 1)
        words[Slot.TAG] = TAG
        words[Slot.MESSAGE] = AM2_MESSAGE.pack(opcode=Opcode.REQUEST, handler=1, phase=1, nic=nic,
                                               endpoint=endpoint, trace=5)
        port.process = frame.process
        await port.pio_write(frame.page, *words)
        await port.pio_write(frame.doorbell, 1)
        frame.queues[0].slot()
        await party.quiet(30_000)
        for number in range(17):
            await party.request(name(1), number)
        await party.until(lambda: len(party.got) == 17 + taken)
        return (await party.counters())["malformed"]

    assert run(parties(body, nothing))[0] == (not taken)


@pytest.mark.parametrize("offset, length", [(LONG, 8), (LONG - 8, 16), (0xFFFF_FFF8, 16), (8, 0)])
def test_data_never_go_beyond_their_buffer(offset, length):
    """A packet with a place outside of it is refused; what is behind the buffers stays."""
    async def send(party: Party):
        party.node.port.process = 0
        for sequence, where in enumerate((0, offset)):
            size = 8 if sequence == 0 else length
            header = HEADER.pack(
                route=party.node.route(1), length=16 + size, source=0, destination=1,
                protocol=Protocol.AM2, detail=AM2_DETAIL.pack(kind=PacketKind.DATA,
                                                              sync=sequence == 0))
            second = AM2_HEADER.pack(sequence=sequence, epoch=1, source=9)
            await party.node.port.pio_write(NIC_BASE + SEND_WINDOW, header, second, where,
                                            *[(1 << 64) - 1] * (size // 8))
        await party.quiet(100_000)

    async def receive(party: Party):
        memory = party.endpoint.parts[party.way].memory
        party.node.memory.write(memory.receive, bytes(8 * LONG))
        behind = party.node.allocate(2 * LONG)
        party.node.memory.write(behind, bytes(2 * LONG))
        await party.quiet(50_000)
        found = party.node.memory.read(memory.receive, 8 * LONG)
        assert party.node.memory.read(behind, 2 * LONG) == bytes(2 * LONG)
        return found, (await party.counters())["malformed"]

    found, malformed_count = run(parties(send, receive))[1]
    assert found[:8] == b"\xff" * 8 and not any(found[8:]) and malformed_count == 1


def senseless(rng: random.Random, frames: int, opened: int) -> tuple[int, int]:
    """A kernel command that cannot be carried out where endpoint 0 alone is open, in frame
    ``opened`` of ``frames``, or that asks what is wanted: its word 0, and its answer."""
    while True:
        kind = rng.choice([*KernelCommand, 0, 7, 255])
        number = rng.choice([0, 0, 1, 31, 32, 63, 64, 255])
        frame = rng.choice([opened, *range(frames + 1), 7, 8, 255])
        here = number < 32 and frame < frames
        carried = {
            KernelCommand.OPEN: number > 0 and frame != opened,
            KernelCommand.STOP: number == 0, KernelCommand.OUT: number == 0}.get(kind, False)
        if here and carried:
            continue
        return (kind | number << 8 | frame << 16 | rng.randrange(2) << 24,
                0 if here and kind == KernelCommand.WANTED else 2)


@pytest.mark.parametrize("seed", range(2))
def test_senseless_kernel_commands_are_refused(seed):
    """Of endpoints that are not open, of frames that there are not, of no kind: the answer says so,
    nothing is done, and messages go on."""
    count = 6

    async def body(party: Party):
        here = party.node.number
        rng = random.Random(seed * 2 + here)
        driver, frame = party.way.driver, party.endpoint.parts[party.way]
        frames = party.node.description.am2.frames
        answers = []
        for number in range(count):
            await party.request(name(1 - here), number, data=data_of(number, 1500))
            for _ in range(8):
                word, answer = senseless(rng, frames, frame.place)
                words = [rng.getrandbits(64) for _ in range(3)]
                answers.append((await driver._mailbox.call(word, *words), answer))
        await party.until(lambda: len(party.got) == 2 * count)
        return [one.data for one in party.of(*REQUESTS)], answers

    for got, answers in run(parties(body, body)):
        assert got == [data_of(number, 1500) for number in range(count)]
        assert all(found == expected for found, expected in answers), answers
