"""Commands to the firmware (firmware/runtime/mailbox.h): one at a time, through NIC memory."""

from ...layouts.operations import BURST
from ..port.port import Watch
from .costs import Prices
from .loader import KERNEL_PAGE, NicProcessor, ProcessorError

__all__ = ["Mailbox"]

WORDS = 7
_SEQUENCE, _ANSWERED, _ANSWER = 56, 64, 72
LIMIT = 1_000_000
"""Most cycles of a command."""


class Mailbox:
    """Sends the kernel's commands to the firmware's object ``name``, a ``struct mailbox``."""

    def __init__(self, processor: NicProcessor, name: str = "mailbox") -> None:
        self.processor = processor
        self.port = processor.port
        self._base = processor.address(name)
        self._doorbell = processor.doorbell(KERNEL_PAGE)
        self._command = processor.node.service(Prices).command
        self._sequence = 0

    async def call(self, *words: int, limit: int = LIMIT) -> int:
        """Give a command of up to WORDS words and return the firmware's status, 0 for success.

        Raises
        ------
        ProcessorError
            The firmware has not answered after ``limit`` cycles.
        """
        if not 1 <= len(words) <= WORDS:
            raise ValueError(f"a command has 1 to {WORDS} words, not {len(words)}")
        port, base = self.port, self._base
        self._sequence = sequence = self._sequence + 1 & 0xFFFF_FFFF
        port.spend(self._command)
        with port.in_kernel():
            for at in range(0, len(words), BURST):
                await port.pio_write(base + 8 * at, *words[at:at + BURST])
            await port.pio_write(base + _SEQUENCE, sequence)
            await port.pio_write(self._doorbell, sequence)
            poll = await port.poll(Watch(base + _ANSWERED, sequence, 0xFFFF_FFFF), timeout=limit)
        if poll.timed_out:
            raise ProcessorError(f"the firmware of {self.processor.node.place} does not "
                                 f"answer command {words[0]:#x} within {limit} cycles")
        return poll.data >> 32

    async def answer(self, index: int = 0) -> int:
        """Word ``index`` (0 or 1) of the last answer."""
        with self.port.in_kernel():
            return await self.port.pio_read(self._base + _ANSWER + 8 * index)
