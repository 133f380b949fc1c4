"""The queues in a node's memory between the CPU that runs the program and the message processor."""

from ...layouts.rings import LINE_BYTES, LINE_WORD
from ..port.node import Node

__all__ = ["FLAG", "LAID_OUT", "LINES", "SERVED", "MessageQueues"]

LINES = 128
"""Lines of the send queue: more than a full window of requests, so that the CPU of the program
rarely finds a line with a message that has not gone on."""
FLAG = LINE_WORD.mask("phase")
"""Of a line of the send queue: it has a message."""
LAID_OUT, SERVED = 1, 2


class MessageQueues:
    """The places of a node's queues. The CPU of the program lays them out, and says so in a word on
    which the message processor spins until then; that clears the send queue, and says so there.

    Attributes
    ----------
    served
        Whether a CPU of the node runs the message processor.
    first, stride
        Address of the send queue, whose entries are layouts.rings.LINE_WORD lines, and bytes from
        one to the next.
    slots
        Address of the receive queue. Its slots are those of the NIC's receive ring.
    report
        Where the NIC reports how many descriptors it has read.
    """

    def __init__(self) -> None:
        self.served = False
        self.first = self.stride = self.slots = self.report = 0
        self._behind = 0

    @staticmethod
    def start(node: Node) -> int:
        """Address of the word that becomes LAID_OUT, then SERVED."""
        return node.shared("am message processor", 8)

    def lay_out(self, node: Node, slots: int, report: int) -> None:
        """Allocate the send queue; the others are at ``slots`` and ``report``."""
        self.stride = max(LINE_BYTES, node.description.cpu.line_bytes)
        self.first = node.allocate(LINES * self.stride, self.stride)
        self._behind = self.first + LINES * self.stride
        self.slots, self.report = slots, report

    def line_behind(self, line: int) -> int:
        """The line of the send queue that follows ``line``."""
        line += self.stride
        return self.first if line == self._behind else line
