"""Measures CPUs of a node at once: copies, CAS of one word, locks, a barrier, a word to and fro."""

from collections.abc import Callable, Coroutine
from typing import Any

from ....host.port.node import Node
from ....host.smp import Barrier, QueueLock, SpinLock
from ....host.smp.words import lines, spin, store
from ....layouts.description import Description
from ..common.programs import programs, stamp
from .accesses import free_after

__all__ = ["LOCKS", "copied_bytes", "measure_barrier", "measure_cas", "measure_copy",
           "measure_lock", "measure_ping_pong"]

LOCKS = {"spin lock": SpinLock, "queue lock": QueueLock}
COPY = 16 << 10
"""Bytes that each CPU copies, at most."""


def copied_bytes(description: Description) -> int:
    """Bytes that each CPU copies: a quarter of the cache at most, in whole lines."""
    lines_of_cache = description.cpu.outer_lines
    least = min((lines_of_cache - 2) // 2, lines_of_cache // 4) * description.cpu.line_bytes
    return min(COPY, least)


async def _run(lab: Any, cpus: int, program: Callable[[Node], Coroutine[Any, Any, Any]]
               ) -> list[Any]:
    """Results of ``program`` on the first ``cpus`` CPUs of node 0."""
    there = lab.description.node.cpus
    run = await lab.run(programs(lab, {0: [program] * cpus + [None] * (there - cpus)}))
    return run.results[0][:cpus]


def _whole(found: list[Any]) -> int:
    """Ticks from the first CPU's begin to the last one's end."""
    return max(end[0] for _, end in found) - min(begin[0] for begin, _ in found)


async def measure_copy(lab: Any, cpus: int) -> int:
    """Ticks in which each of ``cpus`` CPUs copies ``copied_bytes`` from lines in memory to lines in
    memory, as in the middle of a long copy: a line read takes the place of one written before, or,
    by block stores, of one read before."""
    description = lab.description
    line, cache, size = (description.cpu.line_bytes, description.cpu.cache_bytes,
                         copied_bytes(description))
    block = description.cpu.copy_by == "block"

    async def program(cpu: Node) -> Any:
        port = cpu.port
        # In the cache: the barrier's two lines, then the source's, then the target's.
        cpu.shared("start", 2 * line, cache)
        source = cpu.allocate(2 * cache, cache) + 2 * line
        target = source + (description.cpu.outer_lines - 2) // 2 * line
        for at in range(0, size, line):
            await port.touch(source + cache + at, 8, store=not block)
        await Barrier(cpu, "start", cpus).wait()
        await port.delay(free_after(description))
        begin = stamp(cpu)
        for at in range(0, size, line):
            if block:
                port.work("copy_line")
            else:
                port.work("copy_word", line // 8)
            await port.touch(source + at, line)
            if block:
                await port.store_blocks(target + at, line)
            else:
                await port.touch(target + at, line, store=True)
        end = stamp(cpu)
        await port.flush()
        return begin, end

    return _whole(await _run(lab, cpus, program))


async def measure_cas(lab: Any, cpus: int, each: int) -> dict[str, Any]:
    """``cpus`` CPUs count one word up by CAS, ``each`` times each: ticks, attempts, and the word in
    the end."""
    attempts = [0] * cpus

    async def program(cpu: Node) -> Any:
        word, _ = lines(cpu, "word")
        await Barrier(cpu, "start", cpus).wait()
        begin = stamp(cpu)
        seen = 0
        for _ in range(each):
            while True:
                attempts[cpu.cpu] += 1
                expected, seen = seen, await cpu.port.cas(word, seen, seen + 1)
                if seen == expected:
                    break
            seen += 1
        end = stamp(cpu)
        await Barrier(cpu, "end", cpus).wait()
        return begin, end, cpu.memory.word(word)

    found = await _run(lab, cpus, program)
    return {"ticks": _whole([one[:2] for one in found]), "attempts": sum(attempts),
            "word": found[0][2]}


async def measure_lock(lab: Any, kind: Any, cpus: int, each: int) -> dict[str, Any]:
    """``cpus`` CPUs take a lock ``each`` times each and give it back at once: ticks, and how often
    two had it at a time."""
    holders: set[int] = set()
    together = 0

    async def program(cpu: Node) -> Any:
        nonlocal together
        lock = kind(cpu, "lock")
        await Barrier(cpu, "start", cpus).wait()
        begin = stamp(cpu)
        for _ in range(each):
            await lock.acquire()
            together += bool(holders)
            holders.add(cpu.cpu)
            await lock.release()
            holders.remove(cpu.cpu)  # no other can have seen the store that released it
        end = stamp(cpu)
        await cpu.port.flush()
        return begin, end

    return {"ticks": _whole(await _run(lab, cpus, program)), "together": together}


async def measure_barrier(lab: Any, cpus: int, rounds: int) -> int:
    """Ticks in which ``cpus`` CPUs meet ``rounds`` times."""
    async def program(cpu: Node) -> Any:
        barrier = Barrier(cpu, "barrier", cpus)
        await barrier.wait()
        begin = stamp(cpu)
        for _ in range(rounds):
            await barrier.wait()
        end = stamp(cpu)
        await cpu.port.flush()
        return begin, end

    return _whole(await _run(lab, cpus, program))


async def measure_ping_pong(lab: Any, trips: int) -> int:
    """Ticks of ``trips`` round trips of a word between two CPUs, each of which waits for the
    other's store and answers with one."""
    async def program(cpu: Node) -> Any:
        word, _ = lines(cpu, "word")
        await Barrier(cpu, "start", 2).wait()
        begin = stamp(cpu)
        for trip in range(1 + trips):
            if trip == 1:
                begin = stamp(cpu)
            if cpu.cpu == 0:
                await store(cpu, word, 2 * trip + 1)
                await spin(cpu, word, 2 * trip + 2)
            else:
                await spin(cpu, word, 2 * trip + 1)
                await store(cpu, word, 2 * trip + 2)
        end = stamp(cpu)
        await cpu.port.flush()
        return begin, end

    begin, end = (await _run(lab, 2, program))[0]
    return end[0] - begin[0]
