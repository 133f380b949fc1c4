"""Jobs for nodes whose NIC is on the memory bus beside several CPUs, all of which post to it."""

import random
from typing import Any

from nicbed.host.port.port import Watch
from nicbed.host.smp import Barrier, QueueLock
from nicbed.layouts.packet import HEADER, Protocol
from nicbed.layouts.rings import LINE_BYTES, LINE_WORD
from nicbed.testbench.lab import Lab

from tests.programs.target_jobs import as_rows

__all__ = ["posts"]

ORDER = "order of the posts"
AROUND = 1 << 12
"""Bytes of memory around the ring that CPUs load and store, to drive its lines out of caches."""


async def _set_up(cpu: Any, nic: int, names: dict[str, int]) -> None:
    """CPU 0 gives the NIC its ring of lines."""
    if cpu.cpu == 0:
        here = cpu.nic(nic)
        entries = cpu.description.nic.send_ring
        await cpu.store(names["ring"], bytes(entries * LINE_BYTES))
        await cpu.port.pio_write(here.register("send_base"), names["ring"])
        await cpu.port.pio_write(here.register("send_report"), names["report"])
        await cpu.port.pio_write(here.register("control"), 5, posted=False)


def _poster(seed: int, count: int, nics: int) -> Any:
    """Each CPU posts ``count`` packets of two words to each NIC's opposite, lines of a ring that
    all CPUs of the node share; in between it loads and stores what is around the ring."""
    async def program(cpu: Any) -> int:
        draw = random.Random(f"{seed} {cpu.cpu}")
        entries = cpu.description.nic.send_ring
        rings = []
        for nic in range(nics):
            rings.append({"ring": cpu.shared(f"ring {nic}", entries * LINE_BYTES, 64),
                          "report": cpu.shared(f"report {nic}", 64),
                          "posted": cpu.shared(f"posted {nic}", 64)})
        around = cpu.shared("around", AROUND)
        locks = [QueueLock(cpu, f"lock {nic}") for nic in range(nics)]
        for nic, names in enumerate(rings):
            await _set_up(cpu, nic, names)
        await Barrier(cpu, "set up").wait()
        port, memory = cpu.port, cpu.memory
        for number in range(count):
            for nic, names in enumerate(rings):
                for _ in range(draw.randrange(3)):
                    await port.touch(around + 8 * draw.randrange(AROUND // 8), 8,
                                     store=draw.random() < 0.5)
                await port.delay(draw.choice((1, 3, 40, 300)))
                if draw.random() < 0.3:
                    # A line that another CPU will store to.
                    await cpu.load(names["ring"] + LINE_BYTES * draw.randrange(entries), 8)
                await locks[nic].acquire()
                posted = int.from_bytes(await cpu.load(names["posted"], 8), "little")
                if posted >= entries:
                    full = Watch(names["report"], posted - entries & 0xFFFF, 0xFFFF, True)
                    await port.poll(full)
                here = cpu.nic(nic)
                to = (here.number + cpu.nics) % here.nodes
                first = LINE_WORD.pack(route=here.route(to), length=16, protocol=Protocol.AM,
                                       destination=to, trace=cpu.trace_number(),
                                       phase=1 - posted // entries % 2)
                line = names["ring"] + posted % entries * LINE_BYTES
                if draw.random() < 0.3:
                    # It is in this cache now, and clean.
                    await cpu.load(line, 8)
                    await port.delay(draw.choice((1, 60)))
                await port.touch(line, LINE_BYTES, store=True)
                await port.executed
                memory.write(line, b"".join(word.to_bytes(8, "little") for word in (
                    first, cpu.cpu, number, 0)))
                await cpu.store(names["posted"], (posted + 1).to_bytes(8, "little"))
                await locks[nic].release()
        return await port.flush()
    return program


def _taker(count: int, nic: int) -> Any:
    """Takes ``count`` packets; the words of each."""
    async def program(cpu: Any) -> list[Any]:
        here, port, description = cpu.nic(nic), cpu.port, cpu.description
        entries, stride = description.nic.receive_ring, description.slot_bytes
        ring = cpu.allocate(entries * stride)
        cpu.memory.write(ring, bytes(entries * stride))
        await port.pio_write(here.register("receive_base"), ring)
        await port.pio_write(here.register("control"), 2, posted=False)
        found = []
        for taken in range(count):
            slot = ring + taken % entries * stride
            port.waiting_for(f"packet {taken} of {count}")
            await port.poll(Watch(slot, 1 - taken // entries % 2, 1))
            words = await cpu.load(slot + 8, 24)
            header, *rest = (int.from_bytes(words[at:at + 8], "little") for at in (0, 8, 16))
            found.append((HEADER.get(header, "source"), *rest))
            await port.pio_write(here.register("receive_taken"), taken + 1 & 0xFFFF)
        return [found, await port.flush()]
    return program


async def posts(lab: Lab, seeds: list[int], count: int = 12, **options: Any
                ) -> list[dict[str, Any]]:
    """All of a run of each seed: all CPUs of node 0 post to all NICs, and CPU ``k`` of node 1 takes
    what comes for its NIC ``k``. Each NIC's packets come once, and those of a CPU in order."""
    description = lab.description
    cpus, nics = description.node.cpus, description.node.nics
    outcomes = []
    for seed in seeds:
        takers = [_taker(count * cpus, nic) if nic < nics else None for nic in range(cpus)]
        run = await lab.run([[_poster(seed, count, nics)] * cpus, takers]
                            + [[None] * cpus] * (description.fabric.nodes - 2), **options)
        for nic in range(nics):
            found, _ = run.results[1][nic]
            assert sorted(found) == [(nic, cpu, number) for cpu in range(cpus)
                                     for number in range(count)], found
            for cpu in range(cpus):
                assert [number for _, who, number in found if who == cpu] == list(range(count))
        outcomes.append(as_rows(run))
    return outcomes
