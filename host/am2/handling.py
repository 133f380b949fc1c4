"""Handles messages that have come: checks, handlers, replies that nobody else sends."""

from typing import Any

from ...layouts.am2 import ALL, NONE, Opcode, Returned
from ..port.node import Node
from ..port.suspension import to_await
from .am2_error import Am2Error
from .control_block import ControlBlock
from .copying import Copying
from .costs import Prices
from .packets import BULK, REPLIES, Arrived, Packet
from .replying import Replying
from .token import Token
from .way import Way

__all__ = ["Handling"]

XFER = frozenset({Opcode.REQUEST_XFER, Opcode.REPLY_XFER})


class Handling:
    """Handles the messages of the process on ``node``.

    Attributes
    ----------
    busy
        Whether a handler runs: it may reply, and call nothing else that communicates.
    """

    def __init__(self, node: Node, replying: Replying) -> None:
        self._port = node.port
        self._replying = replying
        self._copying = node.service(Copying)
        prices = node.service(Prices)
        self._c_take = prices.take
        self._c_segment = prices.segment
        self.busy = False

    async def deliver(self, way: Way, endpoint: ControlBlock, arrived: Arrived) -> None:
        """Handle ``arrived``, which has come to ``endpoint`` by ``way``."""
        self._port.spend(self._c_take[len(arrived.arguments)])
        reply = arrived.opcode in REPLIES
        get = not arrived.handler and not reply
        if arrived.returned:
            endpoint.outstanding -= not reply
            if get:
                arrived.arguments = endpoint.gets.pop(arrived.arguments[-1]).arguments
            await self._come_back(endpoint, arrived)
            return
        endpoint.outstanding -= reply
        if reply and not arrived.handler:
            if arrived.opcode is Opcode.REPLY:
                return
            arrived.offset, arrived.handler, arrived.arguments = endpoint.gets.pop(
                arrived.arguments[0])
        refused = self._refused(endpoint, arrived, reply, get)
        if refused:
            await way.reply(endpoint, arrived.back, Packet(
                arrived.opcode, arrived.handler, arrived.arguments, returned=refused,
                epoch=arrived.epoch, trace=arrived.trace))
            return
        if get:
            offset, length, number = arrived.arguments
            await self._replying.send_data(Token(endpoint, way, arrived, True),
                                           endpoint.segment[0] + offset, length, number)
            return
        address = arrived.data
        if arrived.opcode in XFER:
            address = endpoint.segment[0] + arrived.offset
            if arrived.length:
                await self._copying.copy(arrived.data, address, arrived.length, arrived.trace)
        bulk = (address, arrived.length) if arrived.opcode in BULK else ()
        handler = endpoint.handlers[arrived.handler]
        assert handler is not None
        token = Token(endpoint, way, arrived, not reply)
        await self._run(handler, token, *bulk, *arrived.arguments)
        token.live = False
        if token.may_reply:
            await self._replying.close(token)

    def _refused(self, endpoint: ControlBlock, arrived: Arrived, reply: bool, get: bool) -> int:
        """0, or why the message goes back. Checks come in the order of AM-II: tag, handler,
        segment."""
        tag = endpoint.tag
        has = endpoint.tags[arrived.epoch] if reply else arrived.tag
        reason = 0
        if tag != ALL and (has != tag or tag == NONE):
            reason = Returned.BADTAG
        elif not get and endpoint.handlers[arrived.handler] is None:
            reason = Returned.BADHANDLER
        elif get or arrived.opcode in XFER:
            self._port.spend(self._c_segment)
            offset, count = arrived.arguments[:2] if get else (arrived.offset, arrived.length)
            _, length = endpoint.segment
            if offset > length:
                reason = Returned.BADSEGOFF
            elif offset + count > length:
                reason = Returned.BADLENGTH
        return Returned.REPLYREJECTED if reply and reason else reason

    async def _come_back(self, endpoint: ControlBlock, arrived: Arrived) -> None:
        """A message of one's own has been refused: that is handler 0's.

        Raises
        ------
        Am2Error
            There is no handler 0.
        """
        handler = endpoint.handlers[0]
        reason = Returned(arrived.returned)
        if handler is None:
            raise Am2Error(f"{endpoint.name}: a message ({arrived.opcode.name}) to "
                           f"{arrived.sender}, handler {arrived.handler}, came back: "
                           f"{reason.name}; AM_SetHandler(endpoint, 0, …) sets who hears of it")
        await self._run(handler, reason, arrived.opcode, arrived.arguments)

    async def _run(self, handler: Any, *given: Any) -> None:
        self.busy = True
        await to_await(handler, handler(*given))
        self.busy = False
