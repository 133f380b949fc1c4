"""Puts messages into the send queues of frames."""

from ....layouts.am2 import LONG
from ....layouts.am2_nic import AM2_MESSAGE, AM2_PLACE, ARGUMENT_WORD, Slot
from ....layouts.processor import SLOT_BYTES
from ...port.node import Node
from ..copying import Copying
from ..packets import BULK, REPLIES, Packet
from .costs import Prices
from .frame import Back, Frame

__all__ = ["Posting", "is_reply"]

MESSAGE, TAG, PLACE = int(Slot.MESSAGE), int(Slot.TAG), int(Slot.PLACE)
HALVES = 2
"""Pairs of arguments that are in one burst with MESSAGE."""


def is_reply(packet: Packet) -> int:
    """The class of a message (layouts.am2_nic.CLASSES)."""
    return int((packet.opcode in REPLIES) != (packet.returned > 0))


class Posting:
    """Messages of the process on ``node`` to its NIC. Their words go by PIO into a slot of the
    frame, and their data by the CPU into pinned memory, from which the NIC fetches them."""

    def __init__(self, node: Node) -> None:
        self._port = node.port
        self._memory = node.memory
        self._copying = node.service(Copying)
        prices = node.service(Prices)
        self._c_post = prices.post
        self._c_buffer = prices.buffer
        self._c_room = prices.room

    async def post(self, frame: Frame, to: Back, packet: Packet) -> bool:
        """Send ``packet``; false if there is no room."""
        queue = frame.queues[is_reply(packet)]
        data = packet.opcode in BULK and not packet.returned and packet.length > 0
        if not queue.has_room(data):
            await self._look(frame)
            if not queue.has_room(data):
                return False
        port, arguments = self._port, packet.arguments
        place = 0
        if data:
            buffer = queue.buffer()
            port.spend(self._c_buffer)
            await self._copying.copy(packet.source, queue.place + buffer * LONG, packet.length,
                                     packet.trace)
            place = AM2_PLACE.pack(offset=packet.offset, length=packet.length, buffer=buffer)
        elif packet.opcode in BULK:
            place = AM2_PLACE.pack(offset=packet.offset, length=0 if packet.returned
                                   else packet.length)
        slot, phase = queue.slot()
        words = [0] * (MESSAGE + 1)
        words[PLACE] = place
        for pair in range((len(arguments) + 1) // 2):
            words[ARGUMENT_WORD - pair] = arguments[2 * pair] | (
                arguments[2 * pair + 1] << 32 if 2 * pair + 1 < len(arguments) else 0)
        words[TAG] = packet.tag
        words[MESSAGE] = AM2_MESSAGE.pack(
            opcode=packet.opcode, handler=packet.handler, count=len(arguments),
            returned=packet.returned, phase=phase, endpoint=to.number, nic=to.nic,
            epoch=packet.epoch, trace=packet.trace)
        port.spend(self._c_post[len(arguments)])
        await port.room(3)
        self._write(frame, slot, words, packet)
        port.put_write(frame.doorbell, 1, queue.posted & 0xFFFF_FFFF, process=frame.process)
        return True

    def _write(self, frame: Frame, slot: int, words: list[int], packet: Packet) -> None:
        """The words that there are: those of the burst with MESSAGE last."""
        pairs = (len(packet.arguments) + 1) // 2
        bulk = packet.opcode in BULK
        low, end = (PLACE if bulk else ARGUMENT_WORD + 1 - pairs), ARGUMENT_WORD - HALVES
        last = end if pairs > HALVES else PLACE
        at, process, trace = frame.page + slot * SLOT_BYTES, frame.process, packet.trace
        if low <= last and (bulk or pairs > HALVES):
            part = words[low:last + 1]
            self._port.put_write(at + 8 * low, len(part), *part, trace=trace, process=process)
            trace = 0
        first = ARGUMENT_WORD + 1 - min(pairs, HALVES) if pairs else (
            MESSAGE if is_reply(packet) else TAG)
        part = words[first:]
        self._port.put_write(at + 8 * first, len(part), *part, trace=trace, process=process)

    async def _look(self, frame: Frame) -> None:
        """Read how many slots are done."""
        port = self._port
        port.spend(self._c_room)
        await port.touch(frame.memory.words, 8)
        await port.flush()
        word = self._memory.word(frame.memory.words)
        for queue, done in zip(frame.queues, (word & 0xFFFF_FFFF, word >> 32), strict=True):
            queue.told(done)
