"""Jobs that a board and a simulator are held against each other with, beside target_jobs."""

import hashlib
import random
from collections.abc import Mapping
from typing import Any

from nicbed.host.am.endpoint import AmEndpoint
from nicbed.host.endpoint import Exchange
from nicbed.layouts.via import Reliability
from nicbed.testbench.benches.common.programs import close_to, open_to, stream_of
from nicbed.testbench.benches.common.transfers import transfers
from nicbed.testbench.lab import Lab

from tests.programs.target_jobs import as_rows
from tests.programs.vipl import SUCCESS, Side

__all__ = ["content", "digest", "messages", "transfer"]


def content(number: int, size: int) -> bytes:
    """What node ``number`` has in its memory to be read."""
    return random.Random(number).randbytes(size)


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


async def transfer(lab: Lab, kind: str, size: int) -> dict[str, Any]:
    """One ``kind`` ("store", "get") of ``size`` bytes by node 0, with what is then in the memory
    that it went to."""
    async def asks(node: Any) -> str:
        side = AmEndpoint(node, Exchange())
        node.memory.write(side.source, content(0, size))
        await open_to(side, [1])
        await stream_of(side, transfers(side, kind, 1, size), 1)
        await close_to(side, [1])
        return digest(node.memory.read(side.target, size))

    async def serves(node: Any) -> str:
        side = AmEndpoint(node, Exchange())
        node.memory.write(side.source, content(1, size))
        await side.open()
        await side.serve(1)
        await side.close()
        return digest(node.memory.read(side.target, size))

    return as_rows(await lab.run([asks, serves]))


def stream(sizes: tuple[int, ...]) -> Any:
    """A node of two that send each other a message of each size, all posted at once, on a VI with
    reliable delivery; returns whether each came whole."""
    room = sum(-(-max(1, size) // 64) * 64 for size in sizes)

    async def program(node: Any) -> list[bool]:
        side = await Side(node, Reliability.RELIABLE_DELIVERY, length=2 * room).open()
        places, offset = [], 0
        for size in sizes:
            places.append(offset)
            offset += -(-max(1, size) // 64) * 64
        for place, size in zip(places, sizes, strict=True):
            await side.receive(side.segment(room + place, size))
        await side.connect()
        for place, size in zip(places, sizes, strict=True):
            side.process.write(side.va + place, content(node.number, size))
            await side.send(side.segment(place, size))
        for wait in side.vipl.VipRecvWait, side.vipl.VipSendWait:
            for _ in sizes:
                result, _ = await wait(side.vi, None)
                assert result is SUCCESS, result
        assert not side.errors, side.errors
        return [side.process.read(side.va + room + place, size) == content(side.other, size)
                for place, size in zip(places, sizes, strict=True)]
    return program


async def messages(lab: Lab, sizes: tuple[int, ...], settings: Mapping[str, Any]
                   ) -> dict[str, Any]:
    """VIA's :func:`stream`, every event with it."""
    return as_rows(await lab.run([stream(sizes)] * 2, settings=settings, trace=True,
                                 limit=2_000_000))
