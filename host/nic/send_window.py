"""The NIC's send window: the CPU writes a packet's words to it, header first."""

from collections.abc import Sequence

from ...layouts.operations import BURST
from ...layouts.packet import FLIT_BYTES
from ...layouts.registers import SEND_WINDOW
from ..port.node import Node
from ..port.work import Charge

__all__ = ["SendWindow"]


class SendWindow:
    """Puts packets into the window of the NIC of ``node``.

    Parameters
    ----------
    look
        The cost of reading from the NIC how much room it has, besides the read.

    Attributes
    ----------
    space
        Bytes for which the NIC has room at least, by the last look.
    """

    def __init__(self, node: Node, look: Charge) -> None:
        self.space = 0
        self._port = node.port
        self._look = look
        self._window = node.nic_address(SEND_WINDOW)
        self._send_space = node.register("send_space")

    async def room(self, words: int) -> bool:
        """Tells whether there is room for a packet of so many words."""
        if self.space < FLIT_BYTES * words:
            self._port.spend(self._look)
            self.space = await self._port.pio_read(self._send_space)
        return self.space >= FLIT_BYTES * words

    async def put(self, words: Sequence[int], trace: int) -> None:
        """Write a packet's ``words``, wire header first. There must be room."""
        port = self._port
        self.space -= FLIT_BYTES * len(words)
        for at in range(0, len(words), BURST):
            part = words[at:at + BURST]
            await port.room(1)
            port.put_write(self._window, len(part), *part, trace=trace)
