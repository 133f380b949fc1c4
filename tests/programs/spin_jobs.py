"""Programs that spin in every way that a leap over the checks of a poll must not change."""

import random
from typing import Any

from nicbed.host.am.gam import Gam
from nicbed.host.port.words import F_NOT_EQUAL, F_ONCE, W_POLL, W_WATCH
from nicbed.layouts.registers import Irq, address
from nicbed.testbench.lab import Lab

from tests.programs.target_jobs import as_rows

IRQ_ENABLE, IRQ_STATUS, CYCLE = map(address, ("irq_enable", "irq_status", "cycle"))
ALL = (1 << 64) - 1


def put(port: Any, word: int, place: int, work: int, compare: int, mask: int, timeout: int = 0,
        own: int = 0) -> None:
    """A watch of a poll with ``work`` ticks for each check, and ``own`` before the first."""
    port.parts = work * port.costs.denominator
    port._put(word, place, timeout, compare, mask, own, 0, 0)


async def poll(port: Any, *watch: Any, **options: Any) -> tuple[int, ...]:
    """A poll of one word, and all that its answer says."""
    await port.flush()
    put(port, *watch, **options)
    await port.executed
    return port.cycle, port.ticks, port.status, port.data


def works(rng: random.Random) -> int:
    """Ticks of work for a check: none, whole cycles, any."""
    return rng.choice([0, 1, 255, 256, 257, 512, rng.randrange(256), rng.randrange(2000),
                       rng.randrange(20000)])


def pair(seed: int, requests: int = 3, steps: int = 12) -> Any:
    """Random operations, most of them polls that spin, while the neighbour does the same and sends
    requests in between."""
    async def program(node: Any) -> list[Any]:
        rng = random.Random(f"{seed} {node.number}")
        port, memory = node.port, node.memory
        seen: list[Any] = []
        peer = node.number ^ 1

        async def on_request(am: Any, source: int, word: int) -> None:
            seen.append(("request", word))
            await am.reply(1, word)

        def on_reply(am: Any, source: int, word: int) -> None:
            seen.append(("reply", word))

        gam = Gam(node, [on_request, on_reply])
        await gam.enable()
        quiet = node.allocate(64)
        if rng.random() < 0.5:
            await port.pio_write(IRQ_ENABLE, int(Irq.RECEIVE))
        sent = 0
        for _ in range(steps):
            kind = rng.choice(["quiet", "quiet", "ring", "ring", "ring", "forever", "request",
                               "delay", "several", "nic", "changed", "cas"])
            work, own = works(rng), rng.choice([0, rng.randrange(3000)])
            timeout = rng.choice([1, 2, rng.randrange(1, 60), rng.randrange(1, 900)])
            slot, phase = gam._ring.slot, gam._ring.phase
            if kind == "quiet":
                seen.append(await poll(
                    port, W_POLL | rng.choice([0, 0, F_ONCE]), quiet + 8 * rng.randrange(8), work,
                    *rng.choice([(5, ALL), (0, 0), (1, 1)]), timeout=timeout, own=own))
            elif kind == "changed":
                # The word that is kept is not the one that the program writes in no time.
                seen.append(await poll(port, W_POLL, quiet, work, 9, ALL, timeout=timeout))
                memory.write(quiet, bytes([rng.choice([0, 9])]))
                seen.append(await poll(port, W_POLL | F_NOT_EQUAL, quiet, work, memory.word(quiet),
                                       ALL, timeout=timeout))
            elif kind == "forever" and node.number % 2 == 0 and len(seen) < 2:
                # The neighbour never waits like this, and sends all that it has to.
                seen.append(await poll(port, W_POLL, slot, work, phase, 1, own=own))
            elif kind == "ring":
                seen.append(await poll(port, W_POLL, slot, work, phase, 1, timeout=timeout,
                                       own=own))
            elif kind == "nic":
                seen.append((await poll(port, W_POLL, CYCLE, work, 1, ALL, timeout=timeout))[2:3])
            elif kind == "several":
                await port.flush()
                put(port, W_WATCH, quiet, work, 5, ALL)
                put(port, W_POLL, slot, works(rng), phase, 1, timeout=timeout, own=own)
                await port.executed
                seen.append((port.cycle, port.ticks, port.status))
            elif kind == "cas":
                seen.append(await port.cas(quiet, memory.word(quiet), rng.randrange(3)))
            elif kind == "request" and sent < requests:
                await gam.request(peer, 0, sent)
                sent += 1
            else:
                await port.delay(rng.randrange(1, 400))
            if rng.random() < 0.3:
                await port.pio_write(IRQ_STATUS, int(Irq.RECEIVE))
            if rng.random() < 0.5:
                await gam.poll()
        for number in range(sent, requests):
            await gam.request(peer, 0, number)
        await gam.wait(lambda: sum(item[0] in ("request", "reply") for item in seen
                                   if isinstance(item, tuple)) == 2 * requests)
        await gam.disable()
        return [seen, await port.flush(), memory.read(quiet, 64)]
    return program


def arrival(shift: int, work: int, wait: int, timeout: int) -> Any:
    """Node 1's request comes to node 0 ``shift`` cycles later, while that spins on the ring's next
    slot, from ``wait`` cycles after the ring was set up on."""
    async def program(node: Any) -> Any:
        port = node.port
        seen: list[Any] = []
        gam = Gam(node, [lambda am, source, word: seen.append((port.ticks, source, word))])
        await gam.enable()
        await port.delay(6000 - await port.flush())
        if node.number == 1:
            await port.delay(200 + shift)
            await gam.request(0, 0, 7)
        elif node.number == 0:
            await port.delay(wait)
            for _ in range(2):
                seen.append(await poll(port, W_POLL, gam._ring.slot, work, gam._ring.phase, 1,
                                       timeout=timeout))
            await gam.wait(lambda: any(len(item) == 3 for item in seen))
        await gam.disable()
        return [seen, await port.flush()]
    return program


def sharer(seed: int, steps: int = 30) -> Any:
    """A CPU that spins on words that the other CPUs of its node store to, swap and share, and lets
    all of them sleep now and then."""
    async def program(cpu: Any) -> list[Any]:
        rng = random.Random(f"{seed} {cpu.number} {cpu.cpu}")
        port, words = cpu.port, cpu.shared("words", 256)
        seen: list[Any] = []
        for _ in range(steps):
            place = words + 8 * rng.randrange(32)
            kind = rng.choice(["poll", "poll", "poll", "store", "store", "cas", "load", "delay"])
            if kind == "poll":
                timeout = rng.choice([1, rng.randrange(1, 60), rng.randrange(1, 900)])
                seen.append(await poll(
                    port, W_POLL | rng.choice([0, 0, F_ONCE]), place, works(rng),
                    rng.randrange(3), ALL, timeout=timeout, own=rng.choice([0, 700])))
            elif kind == "store":
                size = 8 * rng.choice([1, 1, (words + 256 - place) // 8])
                await cpu.store(place, bytes([rng.randrange(3), *(7 * [0])] * (size // 8)))
            elif kind == "cas":
                seen.append(await port.cas(place, rng.randrange(3), rng.randrange(3)))
            elif kind == "load":
                seen.append((await cpu.load(place, 8)).hex())
            else:
                await port.delay(rng.choice([1, rng.randrange(1, 50), rng.randrange(1, 1500)]))
        return [seen, await port.flush(), cpu.memory.read(words, 256)]
    return program


async def both_ways(lab: Lab, programs: list[Any], **options: Any) -> tuple[Any, Any]:
    """A run in which time is skipped, and one in which it is not."""
    return tuple([as_rows(await lab.run(programs, trace=True, skip=skip, **options))
                  for skip in (True, False)])


async def pairs(lab: Lab, seeds: range) -> list[str]:
    """Of random programs, the seeds whose two runs differ, and in what."""
    found = []
    for seed in seeds:
        rng = random.Random(seed)
        settings = {"nic.irq_latency": rng.choice([0, 1, 20, 300]),
                    "link.latency": rng.choice([1, 4, 200]),
                    "cpu.poll_check": rng.choice([0, 1, 3, 40])}
        found += different(str(seed), await both_ways(
            lab, [pair(seed)] * lab.description.fabric.nodes, settings=settings))
    return found


async def sharers(lab: Lab, seeds: range) -> list[str]:
    """As :func:`pairs` of nodes with several CPUs: the first one has its requests, the others share
    words."""
    description = lab.description
    found = []
    for seed in seeds:
        settings = {"cpu.poll_check": random.Random(seed).choice([0, 1, 3, 40])}
        programs = [[pair(seed)] + [sharer(seed)] * (description.node.cpus - 1)]
        found += different(str(seed), await both_ways(
            lab, programs * description.fabric.nodes, settings=settings))
    return found


async def arrivals(lab: Lab, shifts: range, cases: list[tuple[int, int, int]]) -> list[str]:
    """Of requests that come at each of ``shifts``, the runs that differ."""
    found = []
    for case in cases:
        for shift in shifts:
            found += different(f"{case} {shift}", await both_ways(
                lab, [arrival(shift, *case)] * lab.description.fabric.nodes))
    return found


def different(name: str, runs: tuple[Any, Any]) -> list[str]:
    leaping, plain = runs
    return [f"{name}: {key}" for key in plain if plain[key] != leaping[key]]


async def rows(lab: Lab, seeds: range) -> list[Any]:
    """The random programs' runs."""
    return [as_rows(await lab.run([pair(seed)] * lab.description.fabric.nodes, trace=True))
            for seed in seeds]


async def long_spins(lab: Lab, cases: list[tuple[int, int]]) -> list[Any]:
    """Polls of (work, timeout) that nothing ends but time, and their limit."""
    async def program(node: Any) -> list[Any]:
        place = node.allocate(64)
        found = []
        for work, timeout in cases:
            await node.port.touch(place, 8)
            await node.port.flush()
            begin = node.port.ticks
            found.append((begin, *await poll(node.port, W_POLL, place, work, 1, ALL,
                                             timeout=timeout)))
        return found

    run = await lab.run([program] * lab.description.fabric.nodes, limit=1 << 40)
    return run.results
