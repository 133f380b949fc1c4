"""AM_Request: from the call to the way on which the message goes."""

from ...layouts.am2 import LONG, Opcode, Status
from ...layouts.trace import BEGIN, END, Activity
from ..port.node import Node
from .arguments import entry, is_data, is_message, is_word
from .control_block import ControlBlock, Get
from .costs import Prices
from .packets import BULK, Packet
from .polling import Polling
from .translation import Translation

__all__ = ["Requesting"]

REQUEST_SEND, BULK_SEND = int(Activity.REQUEST_SEND), int(Activity.BULK_SEND)
WINDOW_WAIT, CHECK = int(Activity.WINDOW_WAIT), int(Activity.CHECK)


class Requesting:
    """Requests of the process on ``node``, which polls by ``polling``."""

    def __init__(self, node: Node, polling: Polling) -> None:
        self._node = node
        self._port = node.port
        self._polling = polling
        self._memory = node.memory.size
        self._most = node.description.am2.queue_packets
        self._gets = 0
        prices = node.service(Prices)
        self._c_call = prices.call
        self._c_check = prices.check

    async def request(self, opcode: Opcode, endpoint: ControlBlock, index: int, handler: int,
                      arguments: tuple[int, ...], data: tuple[int, int, int] = (0, 0, 0),
                      wait: bool = True) -> Status:
        """Send a request; ``data``: address, bytes and offset of bulk data. Without room, poll
        until there is some, if it may ``wait``."""
        found = entry(endpoint, index)
        if found is None or not is_message(handler, arguments) or (
                opcode in BULK and not is_data(*data, self._memory)):
            return Status.AM_ERR_BAD_ARG
        return await self._send(endpoint, found, wait, Packet(
            opcode, handler, arguments, found.tag, *data))

    async def get(self, endpoint: ControlBlock, index: int, offset: int, length: int,
                  get: Get) -> Status:
        """Ask for ``length`` bytes at ``offset`` there. It is a request to handler 0."""
        found = entry(endpoint, index)
        if (found is None or not is_message(get.handler, get.arguments) or not is_word(offset, 32)
                or not is_word(length, 32) or length > LONG or not is_word(get.offset, 32)
                or get.offset + length > endpoint.segment[1]):
            return Status.AM_ERR_BAD_ARG
        self._gets = number = (self._gets + 1) % (1 << 32)
        endpoint.gets[number] = get
        return await self._send(endpoint, found, True, Packet(
            Opcode.REQUEST, 0, (offset, length, number), found.tag))

    async def _send(self, endpoint: ControlBlock, found: Translation, wait: bool,
                    packet: Packet) -> Status:
        port = self._port
        opcode = packet.opcode
        activity = BULK_SEND if opcode in BULK else REQUEST_SEND
        packet.trace = trace = self._node.trace_number()
        port.begin(activity, trace, self._c_call[len(packet.arguments)])
        port.span(CHECK, trace, self._c_check)
        await self._polling.poll(endpoint.bundle)
        status = Status.AM_ERR_NOT_SENT
        if wait and endpoint.outstanding >= self._most:
            await self._wait(endpoint, trace)
        if not endpoint.open:
            status = Status.AM_ERR_BAD_ARG
        elif endpoint.outstanding < self._most:
            endpoint.outstanding += 1
            packet.epoch = endpoint.epoch
            status = await found.way.request(endpoint, found.route, packet,
                                             lambda: self._polling.idle(endpoint.bundle), wait)
            endpoint.outstanding -= status is not Status.AM_OK
        port.mark(activity, END, trace)
        return status

    async def _wait(self, endpoint: ControlBlock, trace: int) -> None:
        """Wait until the endpoint may have another request out."""
        port = self._port
        port.mark(WINDOW_WAIT, BEGIN, trace)
        port.waiting_for("a reply: all requests that may be out are")
        while endpoint.outstanding >= self._most:
            await self._polling.idle(endpoint.bundle)
        port.waiting_for("")
        port.mark(WINDOW_WAIT, END, trace)
