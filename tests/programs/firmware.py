"""Host programs for tests of firmware: packets of protocol RAW out of the window, into the ring."""

import random
from pathlib import Path
from typing import Any

from nicbed.host.port.node import Node
from nicbed.host.port.port import Watch
from nicbed.host.processor import (
    CoherentQueue,
    FirmwareCrash,
    Mailbox,
    NicProcessor,
    PioQueue,
    ProcessorError,
)
from nicbed.host.runtime import Stuck
from nicbed.layouts.description import Description
from nicbed.layouts.operations import NIC_BASE
from nicbed.layouts.packet import HEADER, Protocol
from nicbed.layouts.processor import SEND_WORD, SLOT_BYTES
from nicbed.layouts.registers import SEND_WINDOW, address
from nicbed.layouts.rings import COMPLETION

FIRMWARE = Path(__file__).parent.parent / "firmware"
LIMIT = 3_000_000


def describe(core: str, **sections: Any) -> Description:
    """Two nodes with that core."""
    wanted = {"nic": {"processor": core}}
    for section, knobs in sections.items():
        wanted[section] = wanted.get(section, {}) | knobs
    return Description.model_validate(wanted)


class Raw:
    """A node's packets, without a layer."""

    def __init__(self, node: Node) -> None:
        self.node, self.port = node, node.port
        self.slots = node.description.nic.receive_ring
        self.bytes = node.description.slot_bytes
        self.base = node.allocate(self.slots * self.bytes, 64)
        self.taken = 0

    async def enable(self) -> None:
        await self.port.pio_write(address("receive_base"), self.base)
        await self.port.pio_write(address("control"), 2, posted=False)

    async def send(self, peer: int, data: bytes, trace: int) -> None:
        header = HEADER.pack(route=self.node.route(peer), length=len(data), source=self.node.number,
                             destination=peer, protocol=Protocol.RAW)
        padded = data + bytes(-len(data) % 8)
        words = [header, *(int.from_bytes(padded[at:at + 8], "little")
                           for at in range(0, len(padded), 8))]
        await self.port.poll(Watch(address("send_space"), self.node.description.nic.send_fifo,
                                   (1 << 64) - 1), timeout=LIMIT)
        await self.port.pio_write(NIC_BASE + SEND_WINDOW, *words, trace=trace)

    async def receive(self) -> tuple[dict[str, int], bytes]:
        """Wire header and bytes of the next packet."""
        slot = self.base + self.taken % self.slots * self.bytes
        poll = await self.port.poll(Watch(slot, 1 - (self.taken // self.slots & 1), 1),
                                    timeout=LIMIT)
        assert not poll.timed_out, "no packet came"
        self.taken += 1
        header = HEADER.unpack(self.node.memory.word(slot + 8))
        data = self.node.memory.read(slot + 16, header["length"])
        await self.port.pio_write(address("receive_taken"), self.taken & 0xFFFF)
        return header, data


def lengths(count: int, mtu: int, seed: int) -> list[bytes]:
    """Packets of random lengths, the shortest and longest among them."""
    rng = random.Random(seed)
    sizes = [0, 1, 7, 8, 9, mtu - 1, mtu, *(rng.randrange(mtu + 1) for _ in range(count))][:count]
    return [rng.randbytes(size) for size in sizes]


def turning(count: int, seed: int = 1) -> list[Any]:
    """Node 0 sends ``count`` packets, two under way at most; node 1's firmware turns them around.
    Node 0's result is what came back, node 1's how many the firmware counted."""
    async def sender(node: Node) -> Any:
        raw = Raw(node)
        await raw.enable()
        await node.port.delay(200_000 if node.description.nic.processor == "serv" else 20_000)
        found = []
        packets = lengths(count, node.description.nic.mtu, seed)
        for number, data in enumerate(packets):
            await raw.send(1, data, number + 1)
            if number:
                found.append(await raw.receive())
        if packets:
            found.append(await raw.receive())
        return found

    async def turner(node: Node) -> int:
        processor = node.service(NicProcessor)
        await processor.start("turnaround",
                              {"routes": [node.route(peer) for peer in range(node.nodes)]})
        poll = await node.port.poll(Watch(processor.address("turned"), count, 0xFFFF_FFFF),
                                    timeout=20 * LIMIT)
        assert not poll.timed_out
        return poll.data & 0xFFFF_FFFF
    return [sender, turner]


def echoing(count: int, seed: int, coherent: bool, keep: int = 1) -> Any:
    """What went into firmware echo's queue, as (trace number, words behind the first) each, and
    what came back. The firmware keeps ``keep`` slots at a time, of which ``count`` and the queue's
    slots are a multiple."""
    entries, page, slots, process = 16, 3, 8, 7

    async def program(node: Node) -> Any:
        rng = random.Random(seed)
        port, processor = node.port, node.service(NicProcessor)
        await processor.start(FIRMWARE / "echo", {"keep": keep})
        ring = node.allocate(entries * SLOT_BYTES, 64)
        report, host = node.allocate(8), node.allocate(slots * SLOT_BYTES, 64) if coherent else 0
        assert await Mailbox(processor).call(1, host, report, ring, entries) == 0
        await processor.own("slots", process)
        await processor.own_doorbell(page, process)
        ring_taken = processor.address("ring")
        queue = (CoherentQueue(processor, page, host, slots, report) if coherent
                 else PioQueue(processor, page, "slots", slots, report))
        sent: list[Any] = []
        found: list[Any] = []
        while len(found) < count:
            while len(sent) < count and rng.random() < 0.8 and await queue.wait(1):
                words = [rng.getrandbits(64) for _ in range(rng.randrange(7))]
                number = rng.randrange(1, 1 << 24)
                sent.append((number, words))
                port.process = process
                await queue.post([SEND_WORD.pack(trace=number, length=len(words)), *words])
                port.process = 0
                if rng.random() < 0.2:
                    await port.delay(rng.randrange(3000))
            if len(found) < len(sent) // keep * keep and (rng.random() < 0.5 or not queue.room.free
                                           or len(sent) == count):
                place = ring + len(found) % entries * SLOT_BYTES
                poll = await port.poll(Watch(place, 1 - (len(found) // entries & 1), 1),
                                       timeout=LIMIT)
                assert not poll.timed_out, f"slot {len(found)} did not come"
                data = COMPLETION.unpack(poll.data)
                assert data["index"] == len(found) % entries
                words = [node.memory.word(place + 8 * at) for at in range(1, SLOT_BYTES // 8)]
                assert words[-1] == len(found) + 1, "what the firmware wrote into it"
                found.append((data["trace"], words[:len(sent[len(found)][1])]))
                await port.pio_write(ring_taken, len(found))
        assert await queue.wait(LIMIT)
        return sent, found
    return program


def crashing(way: int, firmware: Path) -> list[Any]:
    """Node 1's firmware crashes as told when a packet comes."""
    async def sender(node: Node) -> None:
        await node.port.delay(50_000 if node.description.nic.processor != "serv" else 200_000)
        await Raw(node).send(1, b"crash!", 1)
        await node.port.delay(LIMIT)
        await node.port.flush()

    async def victim(node: Node) -> None:
        processor = node.service(NicProcessor)
        await processor.start(firmware, {"how": way}, limit=300_000)
        await node.port.delay(LIMIT)
        await node.port.flush()
    return [sender, victim]


async def turned(lab: Any, count: int, seed: int) -> Any:
    """Job: what :func:`turning` gives, and the cycles it took."""
    run = await lab.run(turning(count, seed), limit=40 * LIMIT)
    return run.results, run.cycles


async def echoed(lab: Any, count: int, seeds: list[int], settings: dict[str, Any]) -> Any:
    """Job: what :func:`echoing` gives, for each seed."""
    coherent = lab.description.nic.attachment == "memory_bus"
    idle = [None] * (lab.description.fabric.nodes - 1)
    return [(await lab.run([echoing(count, seed, coherent, keep), *idle], settings=settings,
                           limit=40 * LIMIT)).results[0]
            for seed in seeds for keep in (1, 8)]


async def crashed(lab: Any, ways: list[int]) -> list[tuple[str, dict[str, Any]]]:
    """Job: how each way to crash is reported."""
    found = []
    for way in ways:
        try:
            await lab.run(crashing(way, FIRMWARE / "crashes"), limit=40 * LIMIT)
        except (FirmwareCrash, ProcessorError) as error:
            found.append((str(error), vars(error)))
        else:
            found.append(("no crash", {}))
    return found


async def crashed_then_stuck(lab: Any) -> list[str]:
    """Job: how two runs end, one whose firmware crashes and one that reaches its limit."""
    async def waits(node: Node) -> None:
        await node.port.delay(LIMIT)
        await node.port.flush()

    found = []
    for programs, limit in ((crashing(0, FIRMWARE / "crashes"), 40 * LIMIT), ([waits] * 2, 1000)):
        try:
            await lab.run(programs, limit=limit)
        except (FirmwareCrash, Stuck) as error:
            found.append(type(error).__name__)
    return found
