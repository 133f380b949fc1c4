"""Jobs for a target whose nodes have several NICs: a layer of Active Messages on each."""

import random
from collections import Counter
from collections.abc import Callable, Coroutine
from typing import Any, NamedTuple

from nicbed.host.am import Gam
from nicbed.layouts.operations import NIC_BASE, NIC_BYTES
from nicbed.layouts.packet import HEADER
from nicbed.layouts.registers import SEND_WINDOW, Irq, address
from nicbed.testbench.lab import Lab

from tests.programs.target_jobs import as_rows

__all__ = ["interrupts", "random_nics", "reads"]

ROOM = 640
"""Bytes that a NIC's layer has for the stores of each other one."""


def _plan(seed: int, number: int, addresses: int, count: int) -> list[tuple[int, int]]:
    """What the layer at wire address ``number`` sends: destination, and length of a store, 0 for a
    request."""
    draw = random.Random(f"{seed} {number}")
    others = [other for other in range(addresses) if other != number]
    return [(draw.choice(others), draw.choice((0, 0, 0, 40, 333, ROOM))) for _ in range(count)]


def _pattern(number: int, index: int, length: int) -> bytes:
    return random.Random(f"{number} {index}").randbytes(length)


class _Layer(NamedTuple):
    """A layer of a random program. ``send`` sends its next message; ``sent``: all messages from it
    and to it have ended. Then it sends a ``farewell`` to each other one; ``ready``: all have, so
    that no other one needs it any more."""

    gam: Gam
    send: Callable[[int], Coroutine[Any, Any, None]]
    sent: Callable[[], bool]
    farewell: Callable[[], Coroutine[Any, Any, None]]
    ready: Callable[[], bool]
    seen: list[Any]


def _layer(cpu: Any, nic: int, seed: int, count: int, box: int) -> _Layer:
    here = cpu.nic(nic)
    draw = random.Random(f"{seed} {here.number} words")
    plan = _plan(seed, here.number, here.nodes, count)
    due = sum(to == here.number for other in range(here.nodes) if other != here.number
              for to, _ in _plan(seed, other, here.nodes, count))
    seen: list[Any] = []
    done: Counter[str] = Counter()

    async def on_request(am: Any, source: int, *words: int) -> None:
        seen.append(("request", source, words))
        done["served"] += 1
        await am.reply(1, *words)

    def on_reply(am: Any, source: int, *words: int) -> None:
        seen.append(("reply", source, words))
        done["ended"] += 1

    def on_store(am: Any, source: int, place: int, length: int, index: int) -> None:
        assert cpu.memory.read(place, length) == _pattern(source, index, length)
        seen.append(("store", source, length))
        done["served"] += 1

    def on_end(am: Any, _: Any) -> None:
        done["ended"] += 1

    async def on_farewell(am: Any, source: int) -> None:
        done["farewells"] += 1
        await am.reply(4)

    def on_answer(am: Any, source: int) -> None:
        done["answers"] += 1

    gam = Gam(here, [on_request, on_reply, on_store, on_farewell, on_answer])
    others = [to for to in here.active if to != here.number]

    async def send(index: int) -> None:
        to, length = plan[index]
        if not length:
            await gam.request(to, 0, *(draw.getrandbits(32) for _ in range(draw.randrange(5))))
            return
        source = cpu.allocate(length)
        await cpu.store(source, _pattern(here.number, index, length))
        place = box + ROOM * (to % cpu.nics * here.nodes + here.number)
        await gam.store_async(to, source, place, length, 2, index, on_end)

    def sent() -> bool:
        return done["served"] == due and done["ended"] == count

    async def farewell() -> None:
        for to in others:
            await gam.request(to, 3)

    def ready() -> bool:
        return done["farewells"] == done["answers"] == len(others)

    return _Layer(gam, send, sent, farewell, ready, seen)


def random_program(seed: int, count: int, found: dict[tuple[int, int], bytes]) -> Any:
    """Each NIC has a layer on the CPU that it interrupts, which sends ``count`` requests and stores
    to NICs at random. Returns all that the CPU saw."""
    async def program(cpu: Any) -> list[Any]:
        draw = random.Random(f"{seed} {cpu.number} {cpu.cpu}")
        addresses = cpu.nodes * cpu.nics
        box = cpu.shared("box", ROOM * cpu.nics * addresses)
        layers = [_layer(cpu, nic, seed, count, box) for nic in range(cpu.nics)
                  if nic % cpu.cpus == cpu.cpu]

        async def poll() -> None:
            for layer in layers:
                await layer.gam.poll()

        for layer in layers:
            await layer.gam.enable()
        for index in range(count):
            for layer in layers:
                await layer.send(index)
                await cpu.port.delay(draw.choice((1, 40, 700)))
            if draw.random() < 0.5:
                await poll()
        while not all(layer.sent() for layer in layers):
            await poll()
        for layer in layers:
            await layer.farewell()
        while not all(layer.ready() for layer in layers):
            await poll()
        if len(layers) == 1:
            # It serves one layer alone.
            await layers[0].gam.disable()
        found[cpu.number, cpu.cpu] = cpu.memory.read(0, 1 << 17)
        return [[layer.seen for layer in layers], await cpu.port.flush()]
    return program


async def random_nics(lab: Lab, seeds: list[int], count: int = 12, **options: Any
                      ) -> list[dict[str, Any]]:
    """All of a run of each seed, and the memories as each CPU left them."""
    description = lab.description
    cpus = min(description.node.cpus, description.node.nics)
    outcomes = []
    for seed in seeds:
        memories: dict[tuple[int, int], bytes] = {}
        program = random_program(seed, count, memories)
        programs = [program] * cpus + [None] * (description.node.cpus - cpus)
        run = await lab.run([programs] * description.fabric.nodes, **options)
        outcomes.append({**as_rows(run), "memories": memories})
    return outcomes


async def reads(lab: Lab, nics: list[int], count: int = 40) -> list[tuple[int, list[int]]]:
    """CPU ``c`` of node 0 reads the register ``node`` of NIC ``nics[c]`` ``count`` times, all at
    the same time. For each CPU the cycle of the end, and what it read."""
    def reader(nic: int) -> Any:
        async def program(cpu: Any) -> tuple[int, list[int]]:
            words = [await cpu.port.pio_read(address("node") + NIC_BYTES * nic)
                     for _ in range(count)]
            return await cpu.port.flush(), words
        return program

    idle = [None] * lab.description.node.cpus
    programs = [reader(nic) for nic in nics]
    run = await lab.run([[*programs, *idle[len(nics):]]]
                        + [idle] * (lab.description.fabric.nodes - 1))
    return run.results[0][:len(nics)]


async def interrupts(lab: Lab, nic: int) -> list[bool]:
    """NIC ``nic`` of node 1 gets a packet from NIC 0 of node 0: which CPUs of node 1 it
    interrupts."""
    description = lab.description
    cpus, nics = description.node.cpus, description.node.nics
    to = nics + nic

    async def send(cpu: Any) -> None:
        await cpu.port.delay(3000)
        header = HEADER.pack(route=cpu.topology.route(0, to), length=8, source=0, destination=to)
        await cpu.port.pio_write(NIC_BASE + SEND_WINDOW, header, 77, posted=False)

    async def wait(cpu: Any) -> bool:
        if cpu.cpu == 0:
            ring = cpu.allocate(description.nic.receive_ring * description.slot_bytes)
            for name, value in (("receive_base", ring), ("irq_enable", Irq.RECEIVE),
                                ("control", 2)):
                await cpu.port.pio_write(address(name) + NIC_BYTES * nic, value, posted=False)
        return await cpu.port.wait_irq(9000)

    run = await lab.run([[send] + [None] * (cpus - 1), [wait] * cpus]
                        + [[None] * cpus] * (description.fabric.nodes - 2))
    return run.results[1]
