"""Runs raw host programs on the VI engine's model."""

from collections.abc import Callable, Coroutine
from typing import Any

from nicbed.layouts.via import Reliability, RemoteOperation, Status

from tests.models.target import Model
from tests.programs.am import describe
from tests.programs.via_raw import Raw, Region
from tests.programs.vipl import SMALL

__all__ = ["DONE", "NARROW", "RD", "RR", "SMALL", "TINY", "UD", "Side", "run", "run_pair", "status"]

DONE = int(Status.DONE)
UD, RD, RR = Reliability
NARROW = {"via__window": 1, "nic__mtu": 64, "via__page_bytes": 4096}
TINY = {"via__queue_depth": 4, "via__events": 4}
READY = 20_000
"""Cycles after which the other side has set itself up, too."""


def status(operation: RemoteOperation, errors: int = 0, immediate: bool = False) -> int:
    """A descriptor's Status."""
    return DONE | errors | operation << 16 | (Status.IMMEDIATE if immediate else 0)


def run(*programs: Any, limit: int = 20_000_000, **knobs: Any) -> list[Any]:
    """Results of ``programs``, each called with its node's Raw, opened."""
    model = Model(describe(SMALL, {name.replace("__", "."): value
                                   for name, value in knobs.items()}))

    def started(program: Any) -> Any:
        async def start(node: Any) -> Any:
            raw = Raw(node)
            await raw.open()
            return await program(raw)
        return start

    return model.run([program and started(program) for program in programs],
                     limit=limit).results


class Side:
    """A node whose VI 1 is connected to the other node's: data, descriptors."""

    def __init__(self, raw: Raw, level: Reliability, data: Region, descriptors: Region) -> None:
        self.raw, self.level, self.data, self.descriptors = raw, level, data, descriptors
        self.next = 0

    async def post(self, *segments: tuple[int, int, int], receive: bool = False,
                   **fields: Any) -> int:
        """Writes and posts a descriptor; its place."""
        place, self.next = self.next, self.next + 128
        self.raw.write(self.descriptors, place, segments, **fields)
        await self.raw.post(1, self.descriptors, place, receive=receive)
        return place

    async def done(self, place: int, timeout: int = 400_000) -> tuple[int, int]:
        return await self.raw.done(self.descriptors, place, timeout)

    async def receive(self, length: int, offset: int = 0) -> int:
        """Posts a receive into the data region."""
        return await self.post(self.data.at(offset, length), receive=True)

    async def send(self, length: int, offset: int = 0, /, **fields: Any) -> int:
        """Posts a send from the data region."""
        return await self.post(self.data.at(offset, length), **fields)

    async def rest(self, cycles: int) -> None:
        """Lets time pass."""
        await self.raw.port.delay(cycles)
        await self.raw.port.flush()

    async def state(self) -> int:
        await self.raw.set(vi_select=1)
        return await self.raw.get("vi_state")


Program = Callable[[Side], Coroutine[Any, Any, Any]]


def run_pair(level: Reliability, *programs: Program, attributes: dict[str, int] | None = None,
             **knobs: Any) -> list[Any]:
    """Programs of two nodes whose VIs 1 are connected. The second begins at once, so that it can
    post receives; the first when it has."""
    def on(number: int, program: Program) -> Any:
        async def start(raw: Raw) -> Any:
            data, descriptors = await raw.region(24576), await raw.region(16384)
            data.write(0, bytes([0xEE]) * data.length)
            await raw.connect(1, 1 - number, 1, reliability=level, **attributes or {})
            side = Side(raw, level, data, descriptors)
            if number == 0:
                await side.rest(READY)
            return await program(side)
        return start

    return run(*(on(number, program) for number, program in enumerate(programs)), **knobs)
