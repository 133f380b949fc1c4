"""Jobs for a target whose nodes have several CPUs: random programs on shared memory, and the
lock-free queue of a shared-memory protocol."""

import random
from typing import Any

from nicbed.host.smp import Barrier, QueueLock, SpinLock
from nicbed.host.smp.words import lines, spin, store
from nicbed.layouts.registers import address
from nicbed.testbench.lab import Lab

from tests.programs.target_jobs import as_rows

WORDS = 12
"""Shared words of a random program, on lines that hold several."""
FREE, CLAIMED, READY = range(3)
"""States of a packet in the queue, its first word."""


def random_program(seed: int, operations: int, found: dict[tuple[int, int], bytes]) -> Any:
    """Each CPU loads, stores, swaps and polls words that all CPUs of its node use, computes, and
    reads and writes registers of the NIC; in the end each counts under both locks. Returns all that
    it saw."""
    async def program(cpu: Any) -> list[Any]:
        draw = random.Random(f"{seed} {cpu.number} {cpu.cpu}")
        port, seen = cpu.port, []
        words = cpu.shared("words", 16 * WORDS)
        for number in range(operations):
            place = words + 16 * draw.randrange(WORDS) + 8 * draw.randrange(2)
            what = draw.choice(("load", "load", "store", "cas", "cas", "poll", "compute", "touch",
                                "read", "write"))
            if what == "load":
                seen.append((await cpu.load(place, 8)).hex())
            elif what == "store":
                await cpu.store(place, bytes([number & 255, cpu.cpu + 1]))
            elif what == "cas":
                old = int.from_bytes(await cpu.load(place, 8), "little")
                seen.append(await port.cas(place, old, draw.getrandbits(64)))
            elif what == "poll":
                port.put_poll(place, 0, 1, draw.randrange(1, 200))
                await port.executed
                seen.append((port.status & 255, port.data))
            elif what == "compute":
                port.work("alu", draw.randrange(200))
            elif what == "touch" and port.costs.block_bytes and draw.random() < 0.6:
                line = port.costs.block_bytes
                await port.store_blocks(place & -line, line * draw.choice((1, 3)))
            elif what == "touch":
                await port.touch(place, draw.randrange(1, 200), store=draw.random() < 0.5)
            elif what == "read":
                seen.append(await port.pio_read(address("id")))
            else:
                await port.pio_write(address("irq_enable"), 0, posted=draw.random() < 0.5)
            if draw.random() < 0.2:
                seen.append(await port.flush())
        barrier, counter = Barrier(cpu, "all"), cpu.shared("counter", 8)
        for lock in (SpinLock(cpu, "spin"), QueueLock(cpu, "queue")):
            await barrier.wait()
            await lock.acquire()
            count = int.from_bytes(await cpu.load(counter, 8), "little")
            await cpu.store(counter, (count + 1).to_bytes(8, "little"))
            await lock.release()
        await barrier.wait()
        seen.append(int.from_bytes(await cpu.load(counter, 8), "little"))
        if cpu.cpu == 0:
            found[seed, cpu.number] = cpu.memory.read(0, 2048)
        return [*seen, await port.flush()]
    return program


async def random_cpus(lab: Lab, seeds: list[int], operations: int = 40, **options: Any
                      ) -> list[dict[str, Any]]:
    """All of a run of each seed, and the memories' first bytes."""
    description = lab.description
    outcomes = []
    for seed in seeds:
        memories: dict[tuple[int, int], bytes] = {}
        program = random_program(seed, operations, memories)
        run = await lab.run([[program] * description.node.cpus] * description.fabric.nodes,
                            **options)
        counts = {found[-2] for node in run.results for found in node}
        assert counts == {2 * description.node.cpus}, counts
        outcomes.append({**as_rows(run), "memories": memories})
    return outcomes


async def shared_queue(lab: Lab, messages: int, entries: int, seed: int = 0, **options: Any
                       ) -> dict[str, Any]:
    """All CPUs of node 0 but the first send ``messages`` messages each to CPU 0, through one queue
    without locks in shared memory: a sender takes a place by a CAS of the tail, claims the packet
    by a CAS of its type, fills it, and stores the type last. CPU 0 looks at the packet at its head,
    and frees it when it has read it. Checks that each message comes once, and whole. (A sender that
    waits for a packet may lose it to one that comes a round later, so a full queue keeps no
    order.)"""
    cpus = lab.description.node.cpus

    async def send(cpu: Any, tail: int, packets: int, size: int) -> int:
        draw = random.Random(f"{seed} {cpu.cpu}")
        port, waits = cpu.port, 0
        for number in range(messages):
            port.work("alu", draw.randrange(60))
            mine = int.from_bytes(await cpu.load(tail, 8), "little")
            while True:
                found = await port.cas(tail, mine, mine + 1)
                if found == mine:
                    break
                mine = found
            packet = packets + mine % entries * size
            back_off = 8
            while await port.cas(packet, FREE, CLAIMED) != FREE:
                waits += 1
                await port.delay(draw.randrange(back_off))
                back_off = min(2 * back_off, 512)
            await store(cpu, packet + 8, cpu.cpu, number, ~number & (1 << 64) - 1)
            await store(cpu, packet, READY)
        return waits

    async def receive(cpu: Any, packets: int, size: int) -> list[int]:
        missing = {(cpu, number) for cpu in range(1, cpus) for number in range(messages)}
        order = []
        for head in range(messages * (cpus - 1)):
            packet = packets + head % entries * size
            await spin(cpu, packet, READY)
            data = await cpu.load(packet + 8, 24)
            sender, number, check = (int.from_bytes(data[at:at + 8], "little")
                                     for at in (0, 8, 16))
            assert (sender, number) in missing and check == ~number & (1 << 64) - 1, (
                head, sender, number, hex(check))
            missing.remove((sender, number))
            order.append(sender)
            await store(cpu, packet, FREE)
        assert not missing
        return order

    async def program(cpu: Any) -> Any:
        tail, _ = lines(cpu, "tail")
        packets, size = lines(cpu, "packets", entries)
        await Barrier(cpu, "start").wait()
        return await (send(cpu, tail, packets, size) if cpu.cpu else receive(cpu, packets, size))

    run = await lab.run([[program] * cpus] + [None] * (lab.description.fabric.nodes - 1), **options)
    return as_rows(run)


async def stuck(lab: Lab) -> None:
    """CPU 1 of node 0 waits for a word that nobody stores."""
    async def program(cpu: Any) -> None:
        cpu.port.waiting_for("a word")
        await spin(cpu, cpu.shared("word", 8), 1)

    async def other(cpu: Any) -> None:
        await cpu.port.delay(10)
        await cpu.port.flush()

    await lab.run([[other, program], other])
