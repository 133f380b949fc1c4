"""The traffic of a check: frames of every length both ways, and registers."""

import random
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from ...host.nic.kinds import Frames
from ...host.port.node import Node, Programs
from ...layouts.registers import Access, Register

__all__ = ["frames", "lengths", "one_frame", "registers", "used_registers"]

PAUSES = 0.5
"""Probability that a node waits behind a frame."""


def lengths(mtu: int, few: bool) -> list[int]:
    """Lengths of frames from 1 to ``mtu``: all, or ``few`` about those where something changes."""
    if not few:
        return [*range(1, mtu + 1)]
    edges = {1, 2, 7, 8, 9, 15, 16, 17, 23, 24, 25, 31, 32, 33, 63, 64, 65, 255, 256, 257}
    return sorted({one for one in edges | {mtu - 9, mtu - 8, mtu - 7, mtu - 1, mtu}
                   if 1 <= one <= mtu})


def frames(sizes: Sequence[int], seed: int) -> Programs:
    """Both nodes send frames of ``sizes``, in an order of their own, and take those of the other,
    each of which must come once and as it was sent."""
    sent: list[Counter[bytes]] = [Counter(), Counter()]

    def program(number: int) -> Callable[[Node], Any]:
        chance = random.Random(f"{seed} frames {number}")
        order = chance.sample([*sizes], len(sizes))
        data = [chance.randbytes(size) for size in order]
        sent[number].update(data)

        async def run(node: Node) -> None:
            driver = node.nic_driver(Frames)
            await driver.open()
            place = node.allocate(sum(-(-size // 8) * 8 for size in order) + 8)
            left = [*data]
            came: Counter[bytes] = Counter()
            expected = len(data)
            while left or expected:
                if left and await driver.room():
                    frame = left.pop()
                    node.memory.write(place, frame)
                    await driver.send(node.address_on(1 - number), place, len(frame))
                    place += -(-len(frame) // 8) * 8
                    if chance.random() < PAUSES:  # the NIC may fall asleep
                        await node.port.delay(chance.randrange(1, 100))
                if left and expected:
                    found = await driver.poll()
                elif expected:
                    await driver.wait()
                    found = await driver.poll()
                else:
                    found = None
                if found is None:
                    continue
                expected -= 1
                _took(node, number, found, came, sent[1 - number])
                await driver.release(found)
            await driver.close()

        return run

    return [program(0), program(1)]


def _took(node: Node, number: int, found: Any, came: Counter[bytes], sent: Counter[bytes]) -> None:
    got = node.memory.read(found.address, found.length)
    came[got] += 1
    if found.source != node.address_on(1 - number):
        raise AssertionError(f"delivery: node {number} got a frame of {found.length} bytes from "
                             f"{found.source}, which node {1 - number} had sent")
    if came[got] <= sent[got]:
        return
    if sent[got]:
        raise AssertionError(f"delivery: node {number} got a frame of {found.length} bytes twice")
    near = min((one for one in sent if len(one) == found.length), default=b"",
               key=lambda one: sum(a != b for a, b in zip(one, got, strict=True)))
    wrong = next((at for at, (a, b) in enumerate(zip(near, got, strict=False)) if a != b), 0)
    what = (f"the first wrong byte is {wrong}: {got[wrong]:#04x}, not {near[wrong]:#04x}" if near
            else "no frame has this length")
    raise AssertionError(f"delivery: node {number} got a frame of {found.length} bytes that was "
                         f"not sent: {what}")


def one_frame(size: int, count: int = 1) -> Programs:
    """Node 0 sends ``count`` frames of ``size`` bytes to node 1."""
    async def send(node: Node) -> None:
        driver = node.nic_driver(Frames)
        await driver.open()
        place = node.allocate(size)
        await node.port.delay(200)
        for _ in range(count):
            await driver.send(node.address_on(1), place, size)
        await driver.close()

    async def receive(node: Node) -> None:
        driver = node.nic_driver(Frames)
        await driver.open()
        for _ in range(count):
            await driver.wait()
            found = await driver.poll()
            if found is not None:
                await driver.release(found)

    return [send, receive]


def registers(declared: Sequence[Register], seed: int) -> Programs:
    """Reads and writes of the ``declared`` registers, after a reset."""
    async def run(node: Node) -> None:
        chance = random.Random(f"{seed} registers")
        for one in declared:
            await _register(node, one, chance)

    return [run, None]


def used_registers(declared: Sequence[Register], seed: int) -> Programs:
    """Frames, and then what clears bits of registers, which traffic may have set."""
    def behind(program: Any) -> Any:
        async def run(node: Node) -> None:
            await program(node)
            await node.port.delay(100)
            for one in declared:
                if one.access is Access.W1C and not one.acts:
                    await _clears(node, one, await node.port.pio_read(node.nic_address(one.offset)))

        return run

    return [behind(program) for program in frames([8, 64], seed)]


def _wrong(rule: str, one: Register, got: int, what: str) -> AssertionError:
    return AssertionError(f"register {rule}: {one.name} ({one.access.value}, offset "
                          f"{one.offset:#x}) reads {got:#x}: {what}")


async def _register(node: Node, one: Register, chance: random.Random) -> None:
    port, mask = node.port, (1 << one.width) - 1
    address = node.nic_address(one.offset)
    first = await port.pio_read(address)
    if first & ~mask:
        raise _wrong("width", one, first, f"it has {one.width} bits")
    fixed = one.access in (Access.RW, Access.WO, Access.W1C) or one.reset
    if fixed and first != one.reset:
        raise _wrong("reset", one, first, f"after reset it must be {one.reset:#x}")
    if one.acts or one.access is Access.WO:
        return
    patterns = [chance.getrandbits(64), chance.getrandbits(64)]
    patterns += [~patterns[0] & (1 << 64) - 1]
    if one.access is Access.RW:
        for value in patterns:
            await port.pio_write(address, value, posted=False)
            got = await port.pio_read(address)
            if got != value & mask:
                raise _wrong("rw", one, got, f"written {value:#x}, it must keep {value & mask:#x}")
        await port.pio_write(address, first, posted=False)
    elif one.access is Access.RO:
        before = [await port.pio_read(address)]
        for value in patterns:
            await port.pio_write(address, value, posted=False)
            before.append(await port.pio_read(address))
        if one.reset and any(got != one.reset for got in before):
            raise _wrong("ro", one, before[-1], f"it is a constant, {one.reset:#x}")
        kept = [got == value & mask for got, value in zip(before[1:], patterns, strict=True)]
        if one.width > 1 and all(kept):
            raise _wrong("ro", one, before[-1], "it keeps what is written")
    else:
        await _clears(node, one, first)


async def _clears(node: Node, one: Register, first: int) -> None:
    port, address, mask = node.port, node.nic_address(one.offset), (1 << one.width) - 1
    await port.pio_write(address, 0, posted=False)
    kept = await port.pio_read(address)
    if first & ~kept:
        raise _wrong("w1c", one, kept, f"0 was written to it, and it was {first:#x}")
    await port.pio_write(address, mask, posted=False)
    got = await port.pio_read(address)
    if got:
        raise _wrong("w1c", one, got, f"{mask:#x} was written to it: all bits must be clear")
