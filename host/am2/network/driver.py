"""The driver: firmware, frames, the interrupt. The kernel's part, one a NIC."""

from ....layouts.am2 import LONG
from ....layouts.am2_nic import (
    CLASSES,
    NICS,
    RECEIVE_BUFFERS,
    REPLY_BUFFERS,
    REQUEST_BUFFERS,
    KernelCommand,
)
from ....layouts.processor import WINDOW_PAGE
from ...port.node import Node
from ...processor import FirmwareDriver
from .costs import Prices
from .frame import Frame, Memory
from .frames import Frames

__all__ = ["Driver"]

FORCED = 1 << 24
"""Bit of STOP and CLOSE."""
WORDS = 64
"""Bytes of the words that the NIC writes: a line."""
PATIENCE = 20
"""A process that ends waits so many times as long for others to take its messages as a node must be
silent to be unreachable."""
PAUSE = 500
"""Cycles between two attempts to close an endpoint."""


class Driver(FirmwareDriver):
    """The driver of the NIC of ``node``: ``node.kernel(Driver)``.

    Attributes
    ----------
    frames
        The endpoints that are in NIC memory, and those that are out.
    """

    def __init__(self, node: Node) -> None:
        super().__init__(node, "Active Messages II")
        self.paths = node.service(Prices)
        self.frames = Frames(self)
        self._free: list[Memory] = []
        """Memory of endpoints that were closed."""

    async def start(self) -> None:
        """Start the firmware, once a run.

        Raises
        ------
        ProcessorError
            This NIC has no processor, or it does not start.
        """
        if self.processor is not None:
            return
        node, description = self.node, self.description
        am2 = description.am2
        parameters: dict[str, int | list[int]] = {
            "nics": node.nodes, "endpoint_numbers": am2.endpoints, "frame_count": am2.frames,
            "frame_packets": am2.frame_packets, "window": am2.window,
            "retry_timeout": am2.retry_timeout, "retries": am2.retries,
            "mtu": description.nic.mtu, "doorbell_queue": description.processor.doorbell_queue,
        }
        processor = await self._load("am2", parameters, NICS, am2)
        with self.port.in_kernel():
            self._pages = await self.port.pio_read(processor.address("frame_pages")) & 0xFFFF_FFFF
        await self._listen()

    async def open(self, number: int, process: int, tag: int) -> Frame | None:
        """Make endpoint ``number`` for ``process``; None if the node's memory is full."""
        while True:
            async with self.lock.held():
                await self.start()
                try:
                    memory = self._free.pop() if self._free else self._allocate()
                    self.memory.write(memory.words, bytes(WORDS))
                    frame = Frame(number, process, memory)
                    there = await self.frames.take(frame)
                except MemoryError:
                    return None
                if there:
                    await self.command(KernelCommand.OPEN, frame, 0, tag,
                                       memory.words | memory.event << 32,
                                       memory.send | memory.receive << 32)
                    self.lock.wrote()
                    return frame
                self._free.append(memory)
            await self.frames.pause()

    async def stop(self, frame: Frame, ended: bool) -> None:
        """The endpoint takes no messages any more, and stays in its frame."""
        async with self.frames.inside(frame), self.lock.held():
            await self.command(KernelCommand.STOP, frame, FORCED if ended else 0)
            frame.users += 1

    async def close(self, frame: Frame) -> None:
        """Behind :meth:`stop`: take the frame back once its messages have arrived, or cannot be
        expected to. When this returns the NIC touches no memory of it any more."""
        am2 = self.description.am2
        end = self.port.cycle + PATIENCE * am2.retry_timeout * am2.retries
        status = 1
        while status:
            async with self.lock.held():
                forced = FORCED if self.port.cycle >= end else 0
                status = await self.command(KernelCommand.CLOSE, frame, forced)
                if not status:
                    await self.frames.give_up(frame)
                    self._free.append(frame.memory)
                    self.lock.wrote()
            if status:
                await self.port.delay(PAUSE)

    async def interrupt(self) -> None:
        """The interrupt handler: endpoints that are wanted come in, who waits looks again."""
        async with self.lock.held():
            self.lock.news()
            self.port.spend(self.paths.interrupt)
            await self._clear()
            await self.frames.bring_wanted()
            await self._serve_others()

    def _allocate(self) -> Memory:
        node = self.node
        return Memory(node.allocate(WORDS, WORDS),
                      node.allocate((REQUEST_BUFFERS + REPLY_BUFFERS) * LONG, WORDS),
                      node.allocate(CLASSES * RECEIVE_BUFFERS * LONG, WORDS))

    async def give(self, frame: Frame, place: int) -> None:
        """Let the process of ``frame`` have the page and the doorbell of frame ``place``."""
        processor = self.processor
        assert processor is not None
        await self._own(place, frame.process)
        frame.page = (processor.address("frame_pages") - processor.symbol("frame_pages")
                      + self._pages + place * WINDOW_PAGE)
        frame.doorbell = processor.doorbell(place + 1)
        frame.place = place

    async def take_back(self, place: int) -> None:
        """Nobody has frame ``place`` any more."""
        await self._own(place, 0)

    async def _own(self, place: int, process: int) -> None:
        await self._own_page(self._pages // WINDOW_PAGE + place, process)
        await self._own_doorbell(place + 1, process)

    async def command(self, command: KernelCommand, frame: Frame, flags: int = 0,
                      *words: int) -> int:
        """Give the firmware a command about the endpoint in ``frame``; its answer."""
        return await self._mailbox.call(
            command | frame.number << 8 | (frame.place or 0) << 16 | flags, *words)

    async def wanted(self) -> int:
        """The endpoints that the firmware wants in, a bit each."""
        await self._mailbox.call(KernelCommand.WANTED)
        return await self._mailbox.answer()
