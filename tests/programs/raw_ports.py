"""Host ports driven block by block, without the runtime: every CPU of every node."""

import random
from collections.abc import Iterator
from typing import Any

from nicbed.layouts.operations import ANSWER, BLOCK, ENTRY, NIC_BASE, NIC_BYTES, Flag, Op
from nicbed.layouts.registers import address
from nicbed.layouts.timing import timing_values
from nicbed.testbench.backends.switches import Switches
from nicbed.testbench.lab import Lab

__all__ = ["drive", "entry", "random_operations"]

ALL = (1 << 64) - 1


def entry(op: Op, *, flags: int = 0, count: int = 0, work: int = 0, address: int = 0,
          length: int = 0, data: tuple[int, ...] = ()) -> bytes:
    """An entry of a block."""
    words = [*data, 0, 0, 0, 0][:4]
    return ENTRY.pack(op | flags << 8 | count << 16, work, address, length, *words, 0)


def operation(rng: random.Random, lines: int, nics: int = 1) -> bytes:
    """Any operation, on one of the first ``lines`` lines of memory or on one of the NICs."""
    at = 8 * rng.randrange(4 * lines)
    work = rng.choice((0, 0, 0, 100, 256, 700))
    kind = rng.randrange(10)
    if kind < 5:
        return entry(Op.TOUCH, flags=rng.choice((0, Flag.STORE)), work=work, address=at,
                     length=rng.choice((1, 8, 32, 100)))
    if kind < 7:
        return entry(Op.CAS, work=work, address=at, data=(rng.randrange(3), rng.randrange(3)))
    if kind == 7:
        return entry(Op.POLL, work=work, address=at, data=(rng.randrange(3), ALL),
                     length=rng.randrange(1, 80))
    if kind == 8 and nics > 1:
        place = NIC_BASE + NIC_BYTES * rng.randrange(nics)
        if rng.randrange(3):
            return entry(Op.PIO_READ, work=work, address=place + address_of("node"))
        return entry(Op.PIO_WRITE, work=work, address=place + address_of("receive_base"),
                     flags=rng.choice((0, Flag.POSTED)), count=1, data=(64 * rng.randrange(9),))
    if kind == 8:
        return entry(Op.PIO_READ, work=work, address=NIC_BASE)
    return entry(Op.DELAY, work=rng.randrange(10_000))


def address_of(register: str) -> int:
    """Address of ``register`` within its NIC."""
    return address(register) - NIC_BASE


def random_operations(seed: int, port: int, count: int, lines: int, nics: int = 1
                      ) -> Iterator[list[bytes]]:
    """Blocks of ``count`` operations in all."""
    rng = random.Random(f"{seed} {port}")
    while count:
        block = [operation(rng, lines, nics)
                 for _ in range(min(count, rng.randrange(1, BLOCK + 1)))]
        count -= len(block)
        yield block


async def drive(lab: Lab, seed: int = 1, count: int = 60, lines: int = 12, skip: bool = True
                ) -> dict[str, Any]:
    """Each port's answers in a run of random operations, the events, and node 0's first lines."""
    description, backend = lab.description, lab._backend
    mailbox = backend.mailbox
    ports = description.fabric.nodes * description.node.cpus
    assert mailbox.ports == ports and len(backend.memories) == description.fabric.nodes
    blocks = [random_operations(seed, port, count, lines, description.node.nics)
              for port in range(ports)]
    given = [0] * ports
    answers: list[list[tuple[int, ...]]] = [[] for _ in range(ports)]
    stopped: set[int] = set()

    def attention() -> bool:
        _, needs, expired = mailbox.look()
        for port in range(ports):
            if not needs >> port & 1:
                continue
            answers[port] += list(ANSWER.iter_unpack(mailbox.answers(port)))[:given[port]]
            block = next(blocks[port], None)
            if block is None:
                stopped.add(port)
                block = [entry(Op.STOP)]
            given[port] = len(block)
            entries = b"".join(block)
            mailbox.block(port)[:len(entries)] = entries
            mailbox.give(port, len(block))
        return len(stopped) < ports and not expired

    await backend.reset(Switches(timing_values(description), True, False, skip, 1_000_000))
    await backend.serve(attention)
    assert len(stopped) == ports, "the ports do not come to an end"
    return {"answers": answers, "events": sorted(await backend.events()),
            "memory": backend.memories[0].read(0, 32 * lines)}
