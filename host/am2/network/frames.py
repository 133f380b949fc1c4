"""Shares the frames of a NIC among its endpoints: those that do not fit wait in host memory."""

from collections.abc import Awaitable
from typing import Any, Protocol

from ....layouts.am2_nic import (
    CLASSES,
    FRAME_BYTES,
    QUEUES,
    STREAM_BYTES,
    KernelCommand,
    Words,
)
from ....layouts.processor import WINDOW_PAGE
from ...kernel.lock import KernelLock
from ...port.node import Node
from ...port.suspension import NOTHING
from .costs import Prices
from .frame import Frame

__all__ = ["Frames"]

COUNTS = QUEUES + 8 * Words.COUNTS
SHARE = 2
"""An endpoint that has come in stays for 1 / SHARE of ``am2.retry_timeout``: senders that have
found it out try again within a quarter of it."""
SETTLING = 500
"""Cycles in which what a process wrote into its page before it lost it arrives there."""
PAUSE = 200
"""Cycles between two looks whether a frame can be taken."""


class Firmware(Protocol):
    """The driver, as far as frames need it."""

    node: Node
    lock: KernelLock
    paths: Prices

    async def give(self, frame: Frame, place: int) -> None:
        """Let a process have a frame."""
        ...

    async def take_back(self, place: int) -> None:
        """Nobody has it any more."""
        ...

    async def command(self, command: KernelCommand, frame: Frame, flags: int = 0,
                      *words: int) -> int:
        """A command about an endpoint."""
        ...

    async def wanted(self) -> int:
        """The endpoints that are wanted, a bit each."""
        ...


class _Inside:
    """In it, the endpoint of ``frame`` is in NIC memory."""

    __slots__ = ("_frames", "_frame")

    def __init__(self, frames: "Frames", frame: Frame) -> None:
        self._frames = frames
        self._frame = frame

    def __aenter__(self) -> Awaitable[None]:
        if self._frame.place is None:
            return self._bring()
        self._frame.users += 1
        return NOTHING

    async def _bring(self) -> None:
        await self._frames.bring(self._frame)
        self._frame.users += 1

    def __aexit__(self, kind: type[BaseException] | None, *_: Any) -> Awaitable[None]:
        if kind is None and self._frames.crowded:
            return self._flush()
        self._frame.users -= 1
        return NOTHING

    async def _flush(self) -> None:
        """What has been written is on its way before another CPU may take the page."""
        await self._frames.port.flush()
        self._frame.users -= 1


class Frames:
    """The frames of the NIC of ``driver``.

    Attributes
    ----------
    port
        That of the CPU that runs.
    evictions
        How often an endpoint had to leave its frame.
    cycles
        The time that this and coming in again took, all in all.
    """

    def __init__(self, driver: Firmware) -> None:
        node = driver.node
        am2 = node.description.am2
        self._driver = driver
        self.port = node.port
        self._memory = node.memory
        self._places: list[Frame | None] = [None] * am2.frames
        self._known: dict[int, Frame] = {}
        """All endpoints, by number."""
        self._stay = am2.retry_timeout // SHARE
        self._turn = 0
        self._bytes = (WINDOW_PAGE + FRAME_BYTES
                       + CLASSES * node.nodes * STREAM_BYTES)
        self.evictions = 0
        self.cycles = 0

    @property
    def crowded(self) -> bool:
        """Tells whether there are more endpoints than frames."""
        return len(self._known) > len(self._places)

    # For the process. It does not hold the kernel's lock.

    def inside(self, frame: Frame) -> "_Inside":
        """``async with frames.inside(frame)``: the endpoint is in its frame meanwhile."""
        return _Inside(self, frame)

    async def bring(self, frame: Frame) -> None:
        """Bring an endpoint in that its process needs, as soon as another one may leave."""
        driver = self._driver
        while frame.place is None:
            self.port.spend(driver.paths.fault)
            async with driver.lock.held():
                came = await self.enter(frame)
            if not came:
                await self.pause()

    async def pause(self) -> None:
        """Wait before another look whether a frame can be taken."""
        await self.port.delay(PAUSE)
        await self.port.flush()

    def is_due(self, frame: Frame) -> bool:
        """Tells whether an endpoint that is out should be looked for: it may be wanted, and the
        interrupt has come to a CPU that does not see it."""
        return self.port.cycle - frame.since > self._stay

    # For the kernel

    async def take(self, frame: Frame) -> bool:
        """Give a new endpoint a frame; false if none may be taken now.

        Raises
        ------
        MemoryError
            The node's memory is full.
        """
        place = await self._room()
        if place is None:
            return False
        self._known[frame.number] = frame
        await self._put(frame, place)
        return True

    async def enter(self, frame: Frame) -> bool:
        """Bring an endpoint in. False: every frame was given away too recently."""
        if frame.place is not None:
            return True
        place = await self._room()
        if place is None:
            return False
        before = self.port.cycle
        await self._put(frame, place)
        await self._driver.command(KernelCommand.IN, frame, 0, frame.away)
        self._driver.lock.wrote()
        self.cycles += self.port.cycle - before
        return True

    async def bring_wanted(self) -> None:
        """Bring in those that the firmware wants, as far as there is room."""
        if all(frame.place is not None for frame in self._known.values()):
            return
        bits = await self._driver.wanted()
        for number, frame in self._known.items():
            if bits >> number & 1 and not await self.enter(frame):
                return

    async def give_up(self, frame: Frame) -> None:
        """The endpoint is closed."""
        assert frame.place is not None
        await self._driver.take_back(frame.place)
        self._places[frame.place] = None
        frame.place = None
        del self._known[frame.number]

    async def _put(self, frame: Frame, place: int) -> None:
        self._places[place] = frame
        await self._driver.give(frame, place)
        frame.since = self.port.cycle

    async def _room(self) -> int | None:
        """A frame without an endpoint; the next in turn is taken from one that may leave. None: no
        one may.

        Raises
        ------
        MemoryError
            The node's memory is full.
        """
        if None in self._places:
            return self._places.index(None)
        count = len(self._places)
        for step in range(count):
            place = (self._turn + step) % count
            frame = self._places[place]
            assert frame is not None
            if not frame.users and self.port.cycle - frame.since > self._stay:
                self._turn = (place + 1) % count
                await self._evict(frame, place)
                return place
        return None

    async def _evict(self, frame: Frame, place: int) -> None:
        driver, port = self._driver, self.port
        if not frame.away:
            frame.away = driver.node.allocate(self._bytes, 64)
        before = port.cycle
        port.spend(driver.paths.evict)
        frame.place = None
        await port.delay(SETTLING)
        await driver.command(KernelCommand.OUT, frame, 0, frame.away)
        await driver.take_back(place)
        word = self._memory.word(frame.away + COUNTS)
        for reply, count in enumerate((word & 0xFFFF_FFFF, word >> 32)):
            frame.seen[reply] += count - frame.seen[reply] & 0xFFFF_FFFF
        frame.since = port.cycle
        self._places[place] = None
        self.evictions += 1
        self.cycles += port.cycle - before
