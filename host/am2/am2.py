"""Active Messages II of one process: all calls under their own names.

Calls in which time passes are coroutines. They return a status, or a status and a value. A handler
gets the message's token, then, for bulk data, their address and bytes, then the arguments; it is a
function or a coroutine function. Handler 0 of an endpoint gets what comes back: status, operation
and arguments.
"""

from collections.abc import Callable
from typing import Any

from ...layouts.am2 import HANDLERS, LONG, NONE, TRANSLATIONS, Opcode, Status
from ..port.node import Node
from .arguments import entry, is_endpoint, is_index, is_word
from .bundles import AM_EVENTS, AM_MODE, Bundle
from .control_block import ControlBlock, Get, Handler
from .costs import Prices
from .endpoint_name import EndpointName, EndpointNumbers
from .events import Events
from .handling import Handling
from .packets import REPLIES
from .polling import Polling
from .replying import Replying
from .requesting import Requesting
from .shared import SharedWay
from .token import Token
from .translation import Translation
from .way import Deliver, Way

__all__ = ["Am2"]

OK, NOT_INIT, BAD_ARG = Status.AM_OK, Status.AM_ERR_NOT_INIT, Status.AM_ERR_BAD_ARG
RESOURCE, IN_USE = Status.AM_ERR_RESOURCE, Status.AM_ERR_IN_USE
Made = Callable[[Node, Deliver], Way]


class Am2:
    """AM-II of the process on CPU ``node``, by the protocols that ``am2.protocol`` names.

    A program that ends without AM_Terminate has its endpoints ended by the kernel: whoever waits
    for a reply of it gets its request back, UNREACHABLE.

    Attributes
    ----------
    polling
        Counts of polls and of what they found.
    """

    def __init__(self, node: Node) -> None:
        self.node = node
        self._port = node.port
        prices = node.service(Prices)
        self._replying = Replying(node)
        self._handling = Handling(node, self._replying)
        protocol = node.description.am2.protocol
        shared = self._way(SharedWay) if protocol != "network" else None
        network = self._way(_network) if protocol != "shared" else None
        self._ways = [way for way in (shared, network) if way is not None]
        self.polling = Polling(node, shared, network)
        self._events = Events(node, shared, network)
        self._requesting = Requesting(node, self.polling)
        self._bundles: list[Bundle] = []
        self._alive: list[ControlBlock] = []
        """Endpoints of which something may be left if the program ends now."""
        self._numbers = node.service(EndpointNumbers)
        self._started = self._has_end = False
        self._c_set, self._c_query = prices.set, prices.query
        self._c_open, self._c_close = prices.open, prices.close

    def _way(self, made: Made) -> Way:
        way = made(self.node, lambda endpoint, arrived: self._handling.deliver(
            way, endpoint, arrived))
        return way

    # Starting and ending

    async def AM_Init(self) -> Status:
        """Start. This must be the first call."""
        self._started = True
        if not self._has_end:
            self._has_end = True
            self.node.at_end(self._end)
        return OK

    async def AM_Terminate(self) -> Status:
        """Free all bundles, and end. In a handler it is AM_ERR_RESOURCE, as all that frees."""
        if not self._started:
            return NOT_INIT
        if self._handling.busy:
            return RESOURCE
        for bundle in [*self._bundles]:
            await self.AM_FreeBundle(bundle)
        self._started = False
        return OK

    async def _end(self) -> None:
        """The program has ended: the kernel ends the endpoints that it has left."""
        for endpoint in self._alive:
            for way in self._ways:
                if way in endpoint.parts:
                    await way.end(endpoint)

    # Bundles and endpoints

    async def AM_AllocateBundle(self, mode: AM_MODE = AM_MODE.AM_SEQ
                                ) -> tuple[Status, Bundle | None]:
        """Make a bundle without endpoints."""
        if not self._started:
            return NOT_INIT, None
        if mode not in tuple(AM_MODE):
            return BAD_ARG, None
        self._port.spend(self._c_set)
        bundle = Bundle(AM_MODE(mode))
        self._bundles.append(bundle)
        return OK, bundle

    async def AM_FreeBundle(self, bundle: Bundle) -> Status:
        """Free a bundle and all endpoints in it."""
        if not self._is_bundle(bundle):
            return self._bad()
        if self._handling.busy:
            return RESOURCE
        for endpoint in [*bundle.endpoints]:
            await self.AM_FreeEndpoint(endpoint)
        self._bundles.remove(bundle)
        return OK

    async def AM_AllocateEndpoint(self, bundle: Bundle
                                  ) -> tuple[Status, ControlBlock | None, EndpointName | None]:
        """Make an endpoint in a bundle, with the tag AM_NONE; return it and its name."""
        if not self._is_bundle(bundle):
            return self._bad(), None, None
        number = self._numbers.draw()
        if number is None:
            return RESOURCE, None, None
        node = self.node
        endpoint = ControlBlock(EndpointName(node.number, node.cpu, number), bundle)
        self._alive.append(endpoint)
        self._port.spend(self._c_open)
        for way in self._ways:
            if not await way.open(endpoint):
                await self._close(endpoint)
                return RESOURCE, None, None
        bundle.endpoints.append(endpoint)
        return OK, endpoint, endpoint.name

    async def AM_FreeEndpoint(self, endpoint: ControlBlock) -> Status:
        """Free an endpoint. Requests that it has not handled go back, BADENDPOINT."""
        if not self._is_mine(endpoint):
            return self._bad()
        if self._handling.busy:
            return RESOURCE
        self._port.spend(self._c_close)
        endpoint.open = False
        endpoint.bundle.endpoints.remove(endpoint)
        await self._close(endpoint)
        return OK

    async def _close(self, endpoint: ControlBlock) -> None:
        for way in self._ways:
            if way in endpoint.parts:
                await way.close(endpoint)
        self._alive.remove(endpoint)

    async def AM_MoveEndpoint(self, endpoint: ControlBlock, source: Bundle, target: Bundle
                              ) -> Status:
        """Move an endpoint from one bundle to another."""
        if (not self._is_mine(endpoint) or endpoint.bundle is not source
                or not self._is_bundle(target)):
            return self._bad()
        self._port.spend(self._c_set)
        source.endpoints.remove(endpoint)
        target.endpoints.append(endpoint)
        endpoint.bundle = target
        return OK

    # Segments and tags

    async def AM_SetSeg(self, endpoint: ControlBlock, address: int, length: int) -> Status:
        """Transfers go into ``length`` bytes at ``address`` of the node's memory."""
        if not self._is_mine(endpoint) or not (
                is_word(address, 64) and is_word(length, 64)
                and address + length <= self.node.memory.size):
            return self._bad()
        self._port.spend(self._c_set)
        endpoint.segment = address, length
        return OK

    async def AM_GetSeg(self, endpoint: ControlBlock) -> tuple[Status, int, int]:
        """Address and bytes of the segment."""
        if not self._is_mine(endpoint):
            return self._bad(), 0, 0
        self._port.spend(self._c_query)
        return OK, *endpoint.segment

    async def AM_SetTag(self, endpoint: ControlBlock, tag: int) -> Status:
        """Set the tag that messages must have. AM_NONE accepts none, AM_ALL all of them."""
        if not self._is_mine(endpoint) or not is_word(tag, 64):
            return self._bad()
        self._port.spend(self._c_set)
        endpoint.set_tag(tag)
        for way in self._ways:
            await way.retag(endpoint)
        return OK

    async def AM_GetTag(self, endpoint: ControlBlock) -> tuple[Status, int]:
        """The endpoint's tag."""
        if not self._is_mine(endpoint):
            return self._bad(), NONE
        self._port.spend(self._c_query)
        return OK, endpoint.tag

    # Translations

    async def AM_Map(self, endpoint: ControlBlock, index: int, name: EndpointName, tag: int
                     ) -> Status:
        """Map entry ``index`` of the translation table to ``name``; messages there carry
        ``tag``."""
        if not self._is_mine(endpoint) or not is_index(index) or not is_word(tag, 64):
            return self._bad()
        way = self._way_to(name)
        if way is None:
            return BAD_ARG
        if endpoint.translations[index] is not None:
            return IN_USE
        try:
            route = await way.route(endpoint, name)
        except MemoryError:
            return RESOURCE
        endpoint.translations[index] = Translation(name, tag, way, route)
        return OK

    async def AM_MapAny(self, endpoint: ControlBlock, name: EndpointName, tag: int
                        ) -> tuple[Status, int]:
        """Map the first free entry; return its index."""
        if not self._is_mine(endpoint):
            return self._bad(), -1
        free = (index for index in range(TRANSLATIONS) if endpoint.translations[index] is None)
        index = next(free, None)
        if index is None:
            return RESOURCE, -1
        status = await self.AM_Map(endpoint, index, name, tag)
        return status, index if status is OK else -1

    async def AM_UnMap(self, endpoint: ControlBlock, index: int) -> Status:
        """Make entry ``index`` free."""
        if not self._is_mine(endpoint) or entry(endpoint, index) is None:
            return self._bad()
        self._port.spend(self._c_set)
        endpoint.translations[index] = None
        return OK

    def _way_to(self, name: Any) -> Way | None:
        description = self.node.description
        if (name.__class__ is not EndpointName or not is_index(name.node, description.fabric.nodes)
                or not is_index(name.cpu, description.node.cpus) or not is_word(name.number, 8)):
            return None
        return next((way for way in self._ways if way.reaches(name)), None)

    # Handlers

    async def AM_SetHandler(self, endpoint: ControlBlock, index: int, handler: Handler) -> Status:
        """Set entry ``index`` of the handler table; entry 0 is that of messages that come back."""
        if (not self._is_mine(endpoint) or not is_index(index, HANDLERS) or not callable(handler)):
            return self._bad()
        self._port.spend(self._c_set)
        endpoint.handlers[index] = handler
        return OK

    async def AM_SetHandlerAny(self, endpoint: ControlBlock, handler: Handler
                               ) -> tuple[Status, int]:
        """Set the first free entry, never entry 0; return its index."""
        if not self._is_mine(endpoint) or not callable(handler):
            return self._bad(), -1
        free = (index for index in range(1, HANDLERS) if endpoint.handlers[index] is None)
        index = next(free, None)
        if index is None:
            return RESOURCE, -1
        return await self.AM_SetHandler(endpoint, index, handler), index

    # Requests

    async def AM_RequestM(self, endpoint: ControlBlock, index: int, handler: int, *arguments: int
                          ) -> Status:
        """Send up to eight 32-bit arguments to entry ``index`` of the translation table. It polls
        first. In a handler it is AM_ERR_RESOURCE."""
        return await self._request(Opcode.REQUEST, endpoint, index, handler, arguments)

    async def AM_RequestIM(self, endpoint: ControlBlock, index: int, handler: int, source: int,
                           length: int, *arguments: int) -> Status:
        """Send ``length`` bytes at ``source`` besides. The handler gets them in a buffer of the
        layer's, where they are until it has ended."""
        return await self._request(Opcode.REQUEST_I, endpoint, index, handler, arguments,
                                   (source, length, 0))

    async def AM_RequestXferM(self, endpoint: ControlBlock, index: int, offset: int, handler: int,
                              source: int, length: int, *arguments: int) -> Status:
        """Send them to ``offset`` in the receiver's segment, where they are before the handler
        runs."""
        return await self._request(Opcode.REQUEST_XFER, endpoint, index, handler, arguments,
                                   (source, length, offset))

    async def AM_RequestXferAsyncM(self, endpoint: ControlBlock, index: int, offset: int,
                                   handler: int, source: int, length: int, *arguments: int
                                   ) -> Status:
        """The same, but without room it returns AM_ERR_NOT_SENT instead of waiting. It polls
        once."""
        return await self._request(Opcode.REQUEST_XFER, endpoint, index, handler, arguments,
                                   (source, length, offset), False)

    async def AM_GetXferM(self, endpoint: ControlBlock, index: int, source_offset: int,
                          handler: int, offset: int, length: int, *arguments: int) -> Status:
        """Ask for ``length`` bytes at ``source_offset`` in the segment of the endpoint that entry
        ``index`` names, to ``offset`` in one's own, where they are before ``handler`` of this
        endpoint runs. No handler runs there. A get that is refused comes back as REQUEST."""
        if not self._is_mine(endpoint):
            return self._bad()
        if self._handling.busy:
            return RESOURCE
        return await self._requesting.get(endpoint, index, source_offset, length,
                                          Get(offset, handler, arguments))

    async def _request(self, opcode: Opcode, endpoint: ControlBlock, index: int, handler: int,
                       arguments: tuple[int, ...], data: tuple[int, int, int] = (0, 0, 0),
                       wait: bool = True) -> Status:
        if not self._is_mine(endpoint):
            return self._bad()
        if self._handling.busy:
            return RESOURCE
        return await self._requesting.request(opcode, endpoint, index, handler, arguments, data,
                                              wait)

    # Replies

    async def AM_ReplyM(self, token: Token, handler: int, *arguments: int) -> Status:
        """Reply to the request of ``token``, in its handler, once. It never polls. A second reply,
        one to a reply, or one behind the handler's end is AM_ERR_RESOURCE."""
        return await self._reply(token, Opcode.REPLY, handler, arguments)

    async def AM_ReplyIM(self, token: Token, handler: int, source: int, length: int,
                         *arguments: int) -> Status:
        """Reply with ``length`` bytes at ``source`` besides, into a buffer of the layer's."""
        return await self._reply(token, Opcode.REPLY_I, handler, arguments, (source, length, 0))

    async def AM_ReplyXferM(self, token: Token, offset: int, handler: int, source: int,
                            length: int, *arguments: int) -> Status:
        """Reply with them, to ``offset`` in the requester's segment."""
        return await self._reply(token, Opcode.REPLY_XFER, handler, arguments,
                                 (source, length, offset))

    async def _reply(self, token: Token, opcode: Opcode, handler: int, arguments: tuple[int, ...],
                     data: tuple[int, int, int] = (0, 0, 0)) -> Status:
        if not self._started:
            return NOT_INIT
        return await self._replying.reply(token, opcode, handler, arguments, data)

    # Messages that come

    async def AM_Poll(self, bundle: Bundle) -> Status:
        """Handle messages of all endpoints of the bundle that have come. In a handler it is
        AM_ERR_RESOURCE."""
        if not self._is_bundle(bundle):
            return self._bad()
        if self._handling.busy:
            return RESOURCE
        await self.polling.idle(bundle)
        return OK

    async def AM_SetEventMask(self, bundle: Bundle, mask: int) -> Status:
        """Set the events for which AM_WaitSema waits."""
        if not self._is_bundle(bundle) or mask not in tuple(AM_EVENTS):
            return self._bad()
        self._port.spend(self._c_set)
        bundle.mask = mask
        return OK

    async def AM_GetEventMask(self, bundle: Bundle) -> tuple[Status, int]:
        """The bundle's events."""
        if not self._is_bundle(bundle):
            return self._bad(), 0
        self._port.spend(self._c_query)
        return OK, bundle.mask

    async def AM_WaitSema(self, bundle: Bundle) -> Status:
        """Wait until an event of the bundle's mask is there. It runs no handlers."""
        if not self._is_bundle(bundle):
            return self._bad()
        if self._handling.busy:
            return RESOURCE
        return await self._events.wait(bundle)

    # Tokens

    def AM_GetSourceEndpoint(self, token: Token) -> tuple[Status, EndpointName | None]:
        """The name of the endpoint that the message is from."""
        if not self._is_live(token):
            return self._bad(), None
        self._port.spend(self._c_query)
        return OK, token.arrived.sender

    def AM_GetDestEndpoint(self, token: Token) -> tuple[Status, ControlBlock | None]:
        """The endpoint that it has come to."""
        if not self._is_live(token):
            return self._bad(), None
        self._port.spend(self._c_query)
        return OK, token.endpoint

    def AM_GetMsgTag(self, token: Token) -> tuple[Status, int]:
        """The tag that it carries. A reply's is its receiver's."""
        if not self._is_live(token):
            return self._bad(), NONE
        self._port.spend(self._c_query)
        arrived = token.arrived
        return OK, (token.endpoint.tags[arrived.epoch] if arrived.opcode in REPLIES
                    else arrived.tag)

    # Limits

    AM_MaxMedium = AM_MaxLong = staticmethod(lambda: LONG)
    AM_MaxNumHandlers = staticmethod(lambda: HANDLERS)
    AM_MaxNumTranslations = staticmethod(lambda: TRANSLATIONS)

    def _is_bundle(self, bundle: Any) -> bool:
        if self._started and bundle.__class__ is Bundle:
            for one in self._bundles:  # no generator: each poll asks
                if one is bundle:
                    return True
        return False

    def _is_mine(self, endpoint: Any) -> bool:
        return self._started and is_endpoint(endpoint) and self._is_bundle(endpoint.bundle)

    def _is_live(self, token: Any) -> bool:
        return self._started and token.__class__ is Token and token.live

    def _bad(self) -> Status:
        """The result of a call on what is no bundle, endpoint or token of this process."""
        return BAD_ARG if self._started else NOT_INIT


def _network(node: Node, deliver: Deliver) -> Way:
    """The network way, imported where it is needed: it comes with a firmware."""
    from .network import NetworkWay

    return NetworkWay(node, deliver)
