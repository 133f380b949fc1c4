"""AM_Reply and what the layer replies itself."""

from ...layouts.am2 import Opcode, Status
from ...layouts.trace import END, Activity
from ..port.node import Node
from ..port.work import Charge
from .arguments import is_data, is_message
from .costs import Prices
from .packets import BULK, Packet
from .token import Token

__all__ = ["Replying"]

REPLY_SEND = int(Activity.REPLY_SEND)


class Replying:
    """Replies of the process on ``node``. A request has one, by its token, while its handler
    runs."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._port = node.port
        self._memory = node.memory.size
        prices = node.service(Prices)
        self._c_reply = prices.reply
        self._c_null = prices.null_reply

    async def reply(self, token: Token, opcode: Opcode, handler: int, arguments: tuple[int, ...],
                    data: tuple[int, int, int] = (0, 0, 0)) -> Status:
        """Reply to the request of ``token``; ``data``: address, bytes and offset of bulk data."""
        if token.__class__ is not Token or not is_message(handler, arguments) or (
                opcode in BULK and not is_data(*data, self._memory)):
            return Status.AM_ERR_BAD_ARG
        if not token.live or not token.may_reply:
            return Status.AM_ERR_RESOURCE
        await self._send(token, self._c_reply[len(arguments)],
                         Packet(opcode, handler, arguments, 0, *data))
        return Status.AM_OK

    async def close(self, token: Token) -> None:
        """Send the reply that frees the requester's credit, as the handler sent none."""
        await self._send(token, self._c_null, Packet(Opcode.REPLY, 0))

    async def send_data(self, token: Token, source: int, length: int, number: int) -> None:
        """Send the data that get ``number`` asks for."""
        await self._send(token, self._c_reply[1],
                         Packet(Opcode.REPLY_XFER, 0, (number,), 0, source, length))

    async def _send(self, token: Token, path: Charge, packet: Packet) -> None:
        port, arrived = self._port, token.arrived
        packet.trace = trace = self._node.trace_number()
        packet.epoch = arrived.epoch
        port.begin(REPLY_SEND, trace, path)
        token.may_reply = False
        await token.way.reply(token.endpoint, arrived.back, packet)
        port.mark(REPLY_SEND, END, trace)
