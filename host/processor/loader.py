"""Firmware on a node's NIC processor: load, check, start, stop."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from ...firmware.build import image as build_image
from ...firmware.image import Image
from ...layouts.doors import CORES
from ...layouts.operations import BURST
from ...layouts.processor import (
    CONTROL,
    DOORBELL_OWNER,
    DOORBELL_PAGES_MAX,
    DOORBELL_WORDS,
    NIC_MEMORY,
    STATUS,
    WINDOW_OWNER,
    WINDOW_PAGE,
    State,
)
from ...layouts.via import DOORBELL_PAGES, PAGE
from ..port.node import Node
from ..port.port import Watch
from .costs import Prices

__all__ = ["KERNEL_PAGE", "NicProcessor", "ProcessorError", "load_sum"]

KERNEL_PAGE = 0
"""The kernel's doorbell page: commands by mailbox."""
LONGEST = 65535
"""Most bytes of one engine command."""
READY_LIMIT = 4_000_000
"""Cycles in which firmware must finish its set-up. A bit-serial core clears its memory slowly."""


class ProcessorError(Exception):
    """There is no NIC processor, or its memory did not accept the firmware. The text is one
    line."""


def load_sum(words: Sequence[int]) -> int:
    """Value of register ``load_sum`` after ``words`` were written."""
    total = 0
    for word in words:
        total = ((total << 1 | total >> 63) + word) & (1 << 64) - 1
    return total


class NicProcessor:
    """The NIC processor of ``node``, a service of the node: ``node.service(NicProcessor)``. It
    belongs to the kernel.

    Attributes
    ----------
    image
        The running firmware; None before :meth:`start`.
    """

    def __init__(self, node: Node) -> None:
        node.drive_nic("firmware")
        self.node = node
        self.port = node.port
        self.description = node.description
        self.image: Image | None = None
        self._ran = False
        self._load = node.service(Prices).load
        self._register = node.register
        self._window = node.nic_address(NIC_MEMORY)
        if self.description.nic.processor == "none":
            raise ProcessorError("this NIC has no processor (nic.processor = none): firmware needs "
                                 f"one of {', '.join(CORES.builtin)}, or a core of one's own")

    async def start(self, firmware: str | Path,
                    parameters: Mapping[str, int | Sequence[int]] | None = None, *,
                    limit: int = READY_LIMIT, defines: Sequence[str] = ()) -> Image:
        """Build ``firmware``, or the variant of it that the macros ``defines`` choose, if it is not
        in the cache, load it, and run it until it is ready.

        Raises
        ------
        BuildError
            The firmware cannot be built, or does not fit NIC memory.
        ProcessorError
            NIC memory does not hold the written words, or the firmware is not ready after ``limit``
            cycles.
        ValueError
            The firmware has no parameter of this name.
        """
        description, port = self.description, self.port
        image = build_image(firmware, description.nic.processor, description.processor.memory,
                            defines)
        values = dict(parameters or {})
        words = "doorbell_words" in image.symbols and description.processor.doorbells == "words"
        if "doorbells_are_words" in image.parameters:
            values["doorbells_are_words"] = int(words)
        code = image.with_parameters(values)
        with port.in_kernel():
            await self._start(image, code, words, limit)
        return image

    async def _start(self, image: Image, code: bytes, words: bool, limit: int) -> None:
        port = self.port
        await self._stop()
        await self._take_back()
        await self._write(code)
        await port.pio_write(self._register("doorbell_words"), DOORBELL_WORDS.pack(
            address=image.symbols["doorbell_words"].address, enable=1) if words else 0)
        await self.own_doorbell(KERNEL_PAGE, 0)
        self.node.firmware = self.image = image
        await port.pio_write(self._register("processor_control"), CONTROL.pack(run=1), posted=False)
        port.waiting_for(f"firmware {image.name} to be ready")
        poll = await port.poll(Watch(self.address("ready"), 0, not_equal=True), timeout=limit)
        port.waiting_for("")
        if poll.timed_out:
            state, pc = await self.state(), await port.pio_read(self._register("processor_pc"))
            raise ProcessorError(
                f"firmware {image.name} of {self.node.place} is not ready after {limit} "
                f"cycles: {state.name.lower()} at {image.lookup(pc)}")

    async def _take_back(self) -> None:
        """Return all pages to the kernel, because owners of pages survive a firmware and a reset.
        First let the engines of the previous firmware end their commands."""
        port, description = self.port, self.description
        if self._ran:
            rate = min(description.bus.bytes_per_cycle, description.memory.word_rate)
            await port.delay(2 * int(LONGEST / rate))
        self._ran = True
        for page in range(description.processor.memory // WINDOW_PAGE):
            await port.pio_write(self._register("window_owner"),
                                 WINDOW_OWNER.pack(page=page, process=0))
        for page in range(DOORBELL_PAGES_MAX):
            await port.pio_write(self._register("doorbell_owner"), DOORBELL_OWNER.pack(page=page))

    async def _write(self, code: bytes) -> None:
        """Write ``code`` to NIC memory, and check that it arrived."""
        port = self.port
        words = [int.from_bytes(code[at:at + 8], "little") for at in range(0, len(code), 8)]
        await port.pio_write(self._register("load_words"), 0)
        for at in range(0, len(words), BURST):
            part = words[at:at + BURST]
            port.spend(self._load)
            await port.room(1)
            port.put_write(self._window + 8 * at, len(part), *part)
        count = await port.pio_read(self._register("load_words"))
        total = await port.pio_read(self._register("load_sum"))
        where = f"loading NIC memory of {self.node.place}"
        if count != len(words):
            raise ProcessorError(f"{where}: load_words is {count}, {len(words)} words were written")
        if total != load_sum(words):
            raise ProcessorError(f"{where}: load_sum is {total:#x}, of what was written it is "
                                 f"{load_sum(words):#x}")

    async def _stop(self) -> None:
        await self.port.pio_write(self._register("processor_control"), 0, posted=False)

    async def stop(self) -> None:
        """Put the processor into reset."""
        with self.port.in_kernel():
            await self._stop()
        self.node.firmware = self.image = None

    async def state(self) -> State:
        """State of the processor."""
        with self.port.in_kernel():
            word = await self.port.pio_read(self._register("processor_status"))
        return State(STATUS.get(word, "state"))

    def symbol(self, name: str) -> int:
        """Address of the firmware's object ``name`` in NIC memory."""
        if self.image is None:
            raise ProcessorError(f"no firmware runs on {self.node.place}")
        found = self.image.symbols.get(name)
        if found is None:
            raise ProcessorError(f"firmware {self.image.name} has no object {name!r}")
        return found.address

    def address(self, name: str, offset: int = 0) -> int:
        """The PIO address of the firmware's object ``name``, ``offset`` bytes into it."""
        return self._window + self.symbol(name) + offset

    def doorbell(self, page: int, offset: int = 0) -> int:
        """The PIO address of doorbell ``offset`` of ``page``."""
        return self.node.nic_address(DOORBELL_PAGES) + PAGE * page + offset

    async def own(self, name: str, process: int) -> None:
        """Give ``process`` PIO access, besides the kernel's, to all pages of NIC memory that hold
        object ``name``, which must be declared with PAGED."""
        first = self.symbol(name)
        assert self.image is not None
        size = self.image.symbols[name].size
        for page in range(first // WINDOW_PAGE, (first + size - 1) // WINDOW_PAGE + 1):
            await self.port.pio_write(self._register("window_owner"),
                                      WINDOW_OWNER.pack(page=page, process=process))

    async def own_doorbell(self, page: int, process: int) -> None:
        """Accept the doorbells of ``page`` from ``process``."""
        await self.port.pio_write(self._register("doorbell_owner"),
                                  DOORBELL_OWNER.pack(page=page, process=process, enable=1))
