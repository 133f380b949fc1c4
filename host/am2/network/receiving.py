"""Takes messages out of the receive queues of frames, by PIO."""

from ....layouts.am2 import ALL, Opcode
from ....layouts.am2_nic import (
    AM2_MESSAGE,
    AM2_PLACE,
    ARGUMENT_WORD,
    FRAME_PACKETS,
    NO_BUFFER,
    QUEUES,
    RECEIVE_SLOTS,
    Slot,
    Words,
)
from ....layouts.processor import SLOT_BYTES
from ...port.node import Node
from ..control_block import ControlBlock
from ..packets import BULK, REPLIES, Arrived
from .costs import Prices
from .frame import Back, Frame
from .numbering import Numbering

__all__ = ["Receiving"]

COUNTS, TAKEN = QUEUES + 8 * Words.COUNTS, QUEUES + 8 * Words.TAKEN
MESSAGE, TAG, PLACE = 8 * Slot.MESSAGE, 8 * Slot.TAG, 8 * Slot.PLACE
MASK = 0xFFFF_FFFF
OPCODES = {int(one): one for one in Opcode}


class Receiving:
    """Messages for the process on ``node``. One read tells of both queues; then as few words of the
    slot are read as the message has."""

    def __init__(self, node: Node, numbering: Numbering) -> None:
        self._port = node.port
        self._numbering = numbering
        self._packets = node.description.am2.frame_packets
        self._quarter = max(1, self._packets // 4)
        prices = node.service(Prices)
        self._c_look = prices.look
        self._c_read = prices.read
        self._c_free = prices.free

    async def look(self, frame: Frame) -> bool:
        """Read the counts. Whether there are messages."""
        port = self._port
        port.spend(self._c_look)
        port.process = frame.process
        word = await port.pio_read(frame.page + COUNTS)
        seen = frame.seen
        for reply, count in enumerate((word & MASK, word >> 32)):
            seen[reply] += count - seen[reply] & MASK
        return seen != frame.taken

    def next(self, frame: Frame) -> int | None:
        """The queue of the next message that was seen: that of replies first, because they free
        what others wait for. None: none was seen."""
        for reply in (1, 0):
            if frame.seen[reply] != frame.taken[reply]:
                return reply
        return None

    async def take(self, endpoint: ControlBlock, frame: Frame, reply: int) -> Arrived:
        """The next message of that queue."""
        port = self._port
        port.process = frame.process
        slot = frame.page + RECEIVE_SLOTS + (reply * FRAME_PACKETS + frame.at[reply]) * SLOT_BYTES
        head = AM2_MESSAGE.unpack(await port.pio_read(slot + MESSAGE))
        opcode, count = OPCODES[head["opcode"]], head["count"]
        words: list[int] = []
        for pair in range((count + 1) // 2):
            word = await port.pio_read(slot + 8 * (ARGUMENT_WORD - pair))
            words += [word & MASK, word >> 32]
        data = length = offset = 0
        if opcode in BULK and not head["returned"]:
            place = AM2_PLACE.unpack(await port.pio_read(slot + PLACE))
            length, offset = place["length"], place["offset"]
            if place["buffer"] != NO_BUFFER:
                data = frame.memory.received(reply, place["buffer"])
        tag = 0
        if opcode not in REPLIES and not head["returned"]:
            # The firmware has compared it, unless every tag would do.
            tag = endpoint.tag
            if tag == ALL or frame.taken[0] < frame.retagged:
                tag = await port.pio_read(slot + TAG)
        port.spend(self._c_read[count])
        frame.taken[reply] += 1
        frame.at[reply] = (frame.at[reply] + 1) % self._packets
        back = Back(head["nic"], head["endpoint"])
        return Arrived(opcode, head["handler"], tuple(words[:count]), tag, data, length, offset,
                       head["returned"], head["epoch"], head["trace"],
                       self._numbering.name(*back), back)

    def owes(self, frame: Frame, at_once: bool) -> bool:
        """Tells whether the NIC must hear what was taken: ``at_once``, or a quarter of a queue."""
        taken, told = frame.taken, frame.told
        return at_once or max(taken[0] - told[0], taken[1] - told[1]) >= self._quarter

    def free(self, frame: Frame) -> None:
        """Tell the NIC how many messages were taken."""
        self._port.spend(self._c_free)
        taken = frame.taken
        frame.told = [*taken]
        self._port.put_write(frame.page + TAKEN, 1,
                             taken[0] & MASK | (taken[1] & MASK) << 32, process=frame.process)
