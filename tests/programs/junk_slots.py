"""Slots and doorbells that make no sense, for firmware am, fm, lanai, elan, tb2, and for elan
questions and acknowledgements: programs for any target."""

import random
import struct
from collections.abc import Sequence
from typing import Any

from nicbed.host.am.costs import Prices
from nicbed.host.am.ways.entry_queue import LAP
from nicbed.host.am.ways.nic_queues import SentCount
from nicbed.host.processor.loader import NicProcessor
from nicbed.host.processor.queue import PioQueue, SendQueue
from nicbed.layouts.operations import NIC_BASE
from nicbed.layouts.packet import FLIT_BYTES, HEADER, Protocol
from nicbed.layouts.processor import NIC_MEMORY, SEND_WORD, SLOT_BYTES, SendKind, State
from nicbed.layouts.registers import SEND_WINDOW, address

COUNTERS = {"am": ("forward", 32), "lanai": ("lanai", 16), "elan": ("elan", 0),
            "tb2": ("tb2", 32)}
"""Where the firmware counts malformed slots: an object, and the place in it. fm's is am's."""
SLOTS = 32
RECEIVE = 8
"""Slots of a receive queue in NIC memory."""
PATIENCE = 2000
"""Cycles in which firmware elan waits for acknowledgements of packets that went astray."""
STRANGER = 3
FIRST = 0x5EED_0000_0000_0000


def sense(words: list[int], nodes: int, mtu: int, memory: int, firmware: str) -> bool:
    """Whether the firmware should send what is in a slot."""
    word = SEND_WORD.unpack(words[0])
    if word["destination"] >= nodes:
        return False
    if firmware == "tb2":
        return 16 <= word["length"] <= 16 + mtu
    if word["kind"] == SendKind.INLINE:
        return (16 if firmware in ("lanai", "elan") else 0) <= word["length"] <= SLOT_BYTES - 8
    size, place = word["length"] - 16, words[3] & 0xFFFF_FFFF
    return (firmware != "fm" and word["kind"] == SendKind.BULK and 0 <= size <= mtu
            and place + size <= memory)


def draw(rand: random.Random, memory: int) -> list[int]:
    """A slot: nothing but chance, or nearly right."""
    words = [rand.getrandbits(64) for _ in range(8)]
    if rand.random() < 0.6:
        words[0] = SEND_WORD.pack(
            route=rand.getrandbits(16), length=rand.choice([0, 8, 15, 16, 17, 55, 56, 57, 1040,
                                                            1041, 2047, rand.getrandbits(11)]),
            phase=rand.getrandbits(1), kind=rand.choice([0, 1, 1, rand.getrandbits(4)]),
            destination=rand.choice([0, 1, 1, 2, 255]), trace=rand.getrandbits(24))
        words[3] = rand.choice([rand.randrange(memory), memory - 8, memory, memory + 1,
                                0xFFFF_FFF8, rand.getrandbits(32)])
    return words


def edges(route: int, mtu: int, memory: int) -> list[list[int]]:
    """Slots on both sides of each limit that the firmware has to know."""
    def slot(kind: int, length: int, destination: int = 1, place: int = 64) -> list[int]:
        word = SEND_WORD.pack(route=route, length=length, kind=kind, destination=destination)
        return [word, 0, 0, place, 0, 0, 0, 0]
    return [slot(0, 56), slot(0, 57), slot(0, 8, 2), slot(0, 8, 255), slot(2, 8),
            slot(1, 15), slot(1, 16), slot(1, 16 + mtu), slot(1, 17 + mtu), slot(1, 24, 2),
            slot(1, 24, 1, memory - 8), slot(1, 24, 1, memory - 7), slot(1, 24, 1, memory),
            slot(1, 24, 1, 0xFFFF_FFF8)]


class FlagQueue(SendQueue):
    """The queue of firmware lanai: each slot has a flag, and there is no doorbell."""

    def __init__(self, processor: NicProcessor) -> None:
        super().__init__(processor, 1, SLOTS, processor.address("lanai"))
        price = processor.node.service(Prices).space
        self.room = SentCount(processor.node, SLOTS, 0xFFFF_FFFF, price, self.room.place)
        self._slots = processor.address("slots")

    async def put(self, words: Sequence[int], trace: int = 0) -> None:
        at = self._slots + self.room.posted % SLOTS * SLOT_BYTES
        await self.port.pio_write(at + 8, *words[1:])
        await self.port.pio_write(at, words[0] | SEND_WORD.mask("phase"))
        self.room.posted += 1


async def open_lanai(node: Any) -> tuple[NicProcessor, FlagQueue, int]:
    """Firmware lanai with a receive queue of its own: the address of its first slot."""
    description = node.description
    processor = node.service(NicProcessor)
    await processor.start("lanai", parameters={
        "send_slots": SLOTS, "receive_slots": RECEIVE, "receive_bytes": description.slot_bytes,
        "receive_base": node.allocate(RECEIVE * description.slot_bytes),
        "routes": [node.route(number) for number in range(node.nodes)], "nodes": node.nodes,
        "mtu": description.nic.mtu, "host_bytes": node.memory.size})
    place = await node.port.pio_read(processor.address("lanai", 8))
    return processor, FlagQueue(processor), NIC_BASE + NIC_MEMORY + place


class LoadedSlots(SendQueue):
    """The queue of firmware elan: slots in host memory, and a doorbell."""

    def __init__(self, processor: NicProcessor, slots: int, report: int) -> None:
        super().__init__(processor, 1, SLOTS, report)
        self._slots = slots

    async def put(self, words: Sequence[int], trace: int = 0) -> None:
        at = self._slots + self.room.posted % SLOTS * SLOT_BYTES
        self.memory.write(at, b"".join(word.to_bytes(8, "little") for word in words))
        await self.port.touch(at, 8 * len(words), store=True)
        self.room.posted += 1
        await self.port.pio_write(self._doorbell, self.room.posted & 0xFFFF_FFFF)


async def open_elan(node: Any) -> tuple[NicProcessor, LoadedSlots, int]:
    """Firmware elan, and the NIC's receive ring."""
    description = node.description
    slots, report = node.allocate(SLOTS * SLOT_BYTES), node.allocate(8)
    ring = node.allocate(description.nic.receive_ring * description.slot_bytes)
    await node.port.pio_write(address("receive_base"), ring)
    await node.port.pio_write(address("control"), 2)
    processor = node.service(NicProcessor)
    await processor.start("elan", parameters={
        "send_slots": SLOTS, "send_base": slots, "send_report": report, "nodes": node.nodes,
        "routes": [node.route(number) for number in range(node.nodes)], "patience": PATIENCE,
        "mtu": description.nic.mtu, "host_bytes": node.memory.size})
    return processor, LoadedSlots(processor, slots, report), ring


class Entries(SendQueue):
    """The queue of firmware tb2: entries in host memory, and their lengths in NIC memory. The
    length of an entry is that which its send word has, one to a write."""

    def __init__(self, processor: NicProcessor, entries: int, report: int) -> None:
        super().__init__(processor, 1, SLOTS, report)
        self._entries = entries
        self._entry_bytes = processor.description.slot_bytes
        self._lengths = processor.address("lengths")
        self._words = [0] * (SLOTS // 4)

    async def put(self, words: Sequence[int], trace: int = 0) -> None:
        posted = self.room.posted
        at = self._entries + posted % SLOTS * self._entry_bytes
        self.memory.write(at, b"".join(word.to_bytes(8, "little") for word in words))
        await self.port.touch(at, 8 * len(words), store=True)
        length = 8 + SEND_WORD.get(words[0], "length") | (0 if posted & SLOTS else LAP)
        index, shift = posted % SLOTS // 4, 16 * (posted % 4)
        self._words[index] = self._words[index] & ~(0xFFFF << shift) | length << shift
        self.room.posted += 1
        await self.port.pio_write(self._lengths + 8 * index, self._words[index])


async def open_tb2(node: Any) -> tuple[NicProcessor, Entries, int]:
    """Firmware tb2 with entries as large as the slots of its ring."""
    description = node.description
    entries, report = node.allocate(SLOTS * description.slot_bytes), node.allocate(8)
    ring = node.allocate(description.nic.receive_ring * description.slot_bytes)
    processor = node.service(NicProcessor)
    await processor.start("tb2", parameters={
        "send_entries": SLOTS, "send_base": entries, "send_bytes": description.slot_bytes,
        "send_report": report, "receive_base": ring,
        "receive_entries": description.nic.receive_ring, "receive_bytes": description.slot_bytes,
        "nodes": node.nodes, "mtu": description.nic.mtu})
    return processor, Entries(processor, entries, report), ring


async def open_firmware(node: Any, firmware: str
                        ) -> tuple[NicProcessor, SendQueue, int]:
    """Firmware with a queue and a ring of its own."""
    if firmware == "lanai":
        return await open_lanai(node)
    if firmware == "elan":
        return await open_elan(node)
    if firmware == "tb2":
        return await open_tb2(node)
    description = node.description
    ring = node.allocate(description.nic.receive_ring * description.slot_bytes)
    report = node.allocate(8)
    processor = node.service(NicProcessor)
    parameters = {"send_slots": SLOTS, "send_host": 0, "send_report": report, "receive_base": ring,
                  "receive_entries": description.nic.receive_ring,
                  "receive_bytes": description.slot_bytes, "process": 0, "nodes": node.nodes}
    if firmware == "am":
        parameters |= {"mtu": description.nic.mtu, "host_bytes": node.memory.size}
    await processor.start(firmware, parameters=parameters)
    return processor, PioQueue(processor, 1, "slots", SLOTS, report), ring


def programs(firmware: str, count: int, seed: int) -> list[Any]:
    """Node 0 posts ``count`` drawn slots, and rings at random, as the kernel and as others; then
    sends a packet that is right. Node 1 takes what comes."""

    async def posts(node):
        rand = random.Random(seed)
        port, memory, mtu = node.port, node.memory.size, node.description.nic.mtu
        processor, queue, _ = await open_firmware(node, firmware)
        nonsense, tried = 0, 0
        drawn = [draw(rand, memory) for _ in range(count)]
        for words in edges(node.route(1), mtu, memory) + drawn:
            nonsense += not sense(words, node.nodes, mtu, memory, firmware)
            await queue.post(words)
            if rand.random() < 0.2:
                # Counts that are no count of slots: backwards, or beyond the queue.
                bogus = queue.room.posted + rand.choice([-1, -5, SLOTS + 1, 1 << 31, 1 << 20])
                await port.pio_write(processor.doorbell(1), bogus & 0xFFFF_FFFF)
                await port.pio_write(processor.doorbell(1, 8 * rand.randrange(1, 63)),
                                     rand.getrandbits(64))
                await port.pio_write(processor.doorbell(0), rand.getrandbits(64))
            if rand.random() < 0.2:
                port.process = STRANGER
                place = rand.randrange(0, node.description.processor.memory, 8)
                await port.pio_write(NIC_BASE + NIC_MEMORY + place,
                                     *(rand.getrandbits(64) for _ in range(4)))
                await port.pio_write(processor.doorbell(1), rand.getrandbits(64))
                port.process = 0
                tried += 1
        await queue.post([SEND_WORD.pack(route=node.route(1), length=16, destination=1,
                                         kind=SendKind.INLINE), FIRST, 0])
        while queue.room.free < SLOTS - SLOTS // 2:
            await queue.room.look()
            await port.delay(500)
            await port.flush()
        await port.delay(100_000)
        await port.flush()
        counted = await port.pio_read(processor.address(*COUNTERS.get(firmware, COUNTERS["am"])))
        notes = await port.pio_read(processor.address("elan", 8)) if firmware == "elan" else 0
        refused = (await port.pio_read(address("window_refused")),
                   await port.pio_read(address("page_refused")))
        return nonsense, counted, (await processor.state()).name, refused, tried, notes

    async def takes(node):
        description, port = node.description, node.port
        processor, _, ring = await open_firmware(node, firmware)
        if firmware == "lanai":
            return await takes_by_pio(node, processor, ring)
        phase, taken, packets, notes, rand = 1, 0, [], 0, random.Random(seed)
        while not packets or packets[-1][1] != FIRST:
            slot = ring + taken % description.nic.receive_ring * description.slot_bytes
            while node.memory.word(slot) & 1 != phase:
                await port.delay(200)
                await port.flush()
            packets.append(struct.unpack("<2Q", node.memory.read(slot + 8, 16)))
            if firmware == "elan":
                notes += await junk_note(node, rand)
            taken += 1
            phase ^= taken % description.nic.receive_ring == 0
            await port.pio_write(address("receive_taken") if firmware == "elan"
                                 else processor.address("tb2" if firmware == "tb2" else "forward"),
                                 taken)
        return [HEADER.unpack(header)["source"] for header, _ in packets], \
            (await processor.state()).name, notes

    return [posts, takes]


async def junk_note(node: Any, rand: random.Random) -> bool:
    """Send node 0 a question or an acknowledgement that it did not wait for; return whether it is
    malformed, too."""
    length = rand.choice([FLIT_BYTES, FLIT_BYTES, 2 * FLIT_BYTES])
    source = rand.choice([0, 1, 1, node.nodes, 255])
    header = HEADER.pack(route=node.route(0), length=length, source=source, destination=0,
                         protocol=Protocol.NOTE)
    number = rand.choice([0, 1, rand.getrandbits(6), rand.getrandbits(32)])
    words = [number | rand.choice([0, 1, rand.getrandbits(32)]) << 32, rand.getrandbits(64)]
    await node.port.pio_write(NIC_BASE + SEND_WINDOW, header, *words[:length // FLIT_BYTES],
                              trace=node.trace_number())
    return length != FLIT_BYTES or source >= node.nodes


async def takes_by_pio(node: Any, processor: NicProcessor, queue: int
                       ) -> tuple[list[int], str, int]:
    """What node 1 does with firmware lanai."""
    port, taken, sources, word = node.port, 0, [], 0
    while word != FIRST:
        slot = queue + taken % RECEIVE * node.description.slot_bytes
        while not (flag := await port.pio_read(slot)) & 1:
            await port.delay(200)
        word = await port.pio_read(slot + 16)
        sources.append(HEADER.unpack(await port.pio_read(slot + 8))["source"])
        assert sources[-1] == flag >> 48
        await port.pio_write(slot, 0)
        taken += 1
    return sources, (await processor.state()).name, 0


def check(results: list[Any]) -> None:
    (nonsense, counted, state, (window, page), tried, found), (sources, other, notes) = results
    assert counted == nonsense > 0 and found == notes
    assert State[state] in (State.ASLEEP, State.RUNNING)
    assert State[other] in (State.ASLEEP, State.RUNNING)
    assert window == 4 * tried and page >= tried > 0
    assert sources and set(sources) == {0}


async def run_inside(lab: Any, jobs: list[tuple[str, int, int]]) -> list[str]:
    """In the simulator's process: of each job what went wrong, "" for nothing."""
    found = []
    for firmware, count, seed in jobs:
        run = await lab.run(programs(firmware, count, seed), limit=20_000_000)
        try:
            check(run.results)
            found.append("")
        except AssertionError as error:
            found.append(f"{firmware} {seed}: {error} {run.results}")
    return found
