"""The calls of Generic Active Messages over AM-II, for programs above: one endpoint a process."""

from collections.abc import Callable, Sequence
from typing import Any

from ...layouts.am2 import HANDLERS, LONG, Status
from ..port.node import Node
from ..port.suspension import to_await
from .am2 import Am2
from .am2_error import Am2Error
from .control_block import ControlBlock
from .endpoint_name import EndpointName
from .packets import Arrived
from .startup import Startup
from .status import AM_RETURNED
from .token import Token

__all__ = ["GamOverAm2"]

Handler = Callable[..., Any]
TAG = 1
"""The tag of all endpoints: they belong to one program."""
HELLO, PART, STORED, GET, GOT, FIRST = range(1, 7)
"""Entries of the handler table: the layer's own, then the program's."""


class GamOverAm2:
    """Active Messages between the processes of a run, numbered as :attr:`.Node.programs` has them.
    Handlers are ``h(am, source, *words)``, those of bulk transfers ``h(am, source, address, bytes,
    argument)``; a request handler may reply once. Addresses are those of the node's memory, which
    is the segment of all its endpoints; transfers of more than AM-II takes at a time go in parts.

    Attributes
    ----------
    am2
        The layer below.
    endpoint
        The process's endpoint; None unless enabled.
    number, procs
        This process, and how many there are.
    """

    def __init__(self, node: Node, handlers: Sequence[Handler] = ()) -> None:
        self.node = node
        self.port = node.port
        self.am2 = Am2(node)
        self.endpoint: ControlBlock | None = None
        places = node.programs
        self.number = places.index((node.number, node.cpu))
        self.procs = len(places)
        self._names = [EndpointName(*place) for place in places]
        self._numbers = {name: number for number, name in enumerate(self._names)}
        self._table: list[Handler] = []
        self._indices: dict[Handler, int] = {}
        self._token: Token | None = None
        self._bundle: Any = None
        for handler in handlers:
            self.register(handler)

    @property
    def enabled(self) -> bool:
        """Tells whether it may be called."""
        return self.endpoint is not None

    def register(self, handler: Handler) -> int:
        """Append ``handler`` to the handler table; return its index."""
        if FIRST + len(self._table) >= HANDLERS:
            raise Am2Error(f"a handler table has {HANDLERS - FIRST} entries for programs, and it "
                           "is full")
        index = self._indices.setdefault(handler, len(self._table))
        self._table.append(handler)
        if self.endpoint is not None:
            self.endpoint.handlers[FIRST + len(self._table) - 1] = self._words(handler)
        return index

    async def enable(self) -> None:
        """Start, and wait until all processes have. This must be the first call."""
        am = self.am2
        _sound("AM_Init", await am.AM_Init())
        status, self._bundle = await am.AM_AllocateBundle()
        _sound("AM_AllocateBundle", status)
        status, endpoint, _ = await am.AM_AllocateEndpoint(self._bundle)
        _sound("AM_AllocateEndpoint", status)
        assert endpoint is not None
        _sound("AM_SetSeg", await am.AM_SetSeg(endpoint, 0, self.node.memory.size))
        startup = Startup(self.node, am, self._bundle, endpoint, HELLO, self.number, self.procs)
        handlers = {0: startup.came_back, HELLO: startup.hello, PART: _nothing,
                    STORED: self._stored, GET: self._get, GOT: self._got}
        for index, handler in handlers.items():
            _sound("AM_SetHandler", await am.AM_SetHandler(endpoint, index, handler))
        for index, handler in enumerate(self._table, FIRST):
            _sound("AM_SetHandler", await am.AM_SetHandler(endpoint, index, self._words(handler)))
        for index, name in enumerate(self._names):
            if index != self.number:
                _sound("AM_Map", await am.AM_Map(endpoint, index, name, TAG))
        self.endpoint = endpoint
        _sound("AM_SetTag", await am.AM_SetTag(endpoint, TAG))
        await startup.meet()
        _sound("AM_SetHandler", await am.AM_SetHandler(endpoint, 0, self._came_back))
        self._startup = startup

    async def disable(self, spin: Any = None) -> None:
        """Wait until all requests have had their replies; serve the others until all processes have
        called this."""
        endpoint = self._ready("am_disable")
        await self.wait(lambda: not endpoint.outstanding)
        await self._startup.meet()
        await self.am2.AM_Terminate()
        self.endpoint = None

    async def leave(self, spin: Any = None) -> None:
        """Finish all own communication."""
        endpoint = self._ready("am_disable")
        await self.wait(lambda: not endpoint.outstanding)

    # Small messages

    async def request(self, dest: int, handler: int | Handler, *words: int) -> None:
        """Run ``handler`` at process ``dest`` with up to eight 32-bit words."""
        endpoint = self._ready("am_request")
        _sound("am_request", await self.am2.AM_RequestM(
            endpoint, self._peer(dest), FIRST + self._index(handler), *words))

    async def reply(self, handler: int | Handler, *words: int) -> None:
        """Run ``handler`` at the requester. In a request handler only, once."""
        token = self._token
        if token is None:
            raise Am2Error("am_reply is for request handlers")
        _sound("am_reply", await self.am2.AM_ReplyM(token, FIRST + self._index(handler), *words))

    async def poll(self) -> None:
        """Handle messages that have arrived."""
        self._ready("am_poll")
        _sound("am_poll", await self.am2.AM_Poll(self._bundle))

    async def wait(self, condition: Callable[[], Any]) -> None:
        """Poll until ``condition()`` is true."""
        self._ready("am_poll")
        port = self.port
        outer = port.waiting_text
        port.waiting_text = outer or "its condition, in am.wait"
        while not condition():
            _sound("am_poll", await self.am2.AM_Poll(self._bundle))
        port.waiting_text = outer

    # Bulk

    async def store(self, dest: int, local: int, remote: int, length: int,
                    handler: int | Handler | None = None, arg: int = 0) -> None:
        """Copy ``length`` bytes from ``local`` here to ``remote`` at process ``dest``, where
        ``handler`` runs after all bytes have arrived. Returns when the source may be reused."""
        endpoint, peer = self._ready("am_store"), self._peer(dest)
        number = 0 if handler is None else FIRST + self._index(handler)
        for at in range(0, max(length, 1), LONG):
            part = min(LONG, length - at)
            last = at + part == length
            words = (number, arg, remote, length) if last else ()
            _sound("am_store", await self.am2.AM_RequestXferM(
                endpoint, peer, remote + at, STORED if last else PART, local + at, part, *words))

    async def store_async(self, dest: int, local: int, remote: int, length: int,
                          handler: int | Handler | None = None, arg: int = 0,
                          end: Callable[..., Any] | None = None, earg: Any = None) -> None:
        """The same; then ``end(am, earg)`` runs here. The layer has copied the data by then."""
        await self.store(dest, local, remote, length, handler, arg)
        if end is not None:
            await to_await(end, end(self, earg))

    async def get(self, dest: int, remote: int, local: int, length: int,
                  handler: int | Handler | None = None, arg: int = 0) -> None:
        """Copy ``length`` bytes from ``remote`` at process ``dest`` to ``local`` here, where
        ``handler`` runs after all bytes have arrived. Returns at once."""
        endpoint, peer = self._ready("am_get"), self._peer(dest)
        number = 0 if handler is None else FIRST + self._index(handler)
        for at in range(0, max(length, 1), LONG):
            part = min(LONG, length - at)
            last = number if at + part == length else 0
            _sound("am_get", await self.am2.AM_RequestM(
                endpoint, peer, GET, remote + at, local + at, part, last, arg, local, length))

    # Handlers

    def _words(self, handler: Handler) -> Handler:
        async def run(token: Token, *words: int) -> None:
            await self._call(token, handler, *words)
        return run

    async def _call(self, token: Token, handler: Handler, *given: int) -> None:
        self._token = token if token.may_reply else None
        await to_await(handler, handler(self, self._source(token.arrived), *given))
        self._token = None

    def _source(self, arrived: Arrived) -> int:
        return self._numbers[arrived.sender]

    async def _stored(self, token: Token, address: int, length: int, number: int, arg: int,
                      remote: int, whole: int) -> None:
        if number:
            await self._call(token, self._table[number - FIRST], remote, whole, arg)

    async def _get(self, token: Token, remote: int, local: int, length: int, number: int, arg: int,
                   first: int, whole: int) -> None:
        _sound("am_get", await self.am2.AM_ReplyXferM(token, local, GOT, remote, length, number,
                                                      arg, first, whole))

    async def _got(self, token: Token, address: int, length: int, number: int, arg: int,
                   first: int, whole: int) -> None:
        if number:
            await self._call(token, self._table[number - FIRST], first, whole, arg)

    def _came_back(self, reason: AM_RETURNED, opcode: Any, arguments: tuple[int, ...]) -> None:
        raise Am2Error(f"process {self.number}: a message ({opcode.name}) came back: {reason.name}")

    # Helpers

    def _ready(self, call: str) -> ControlBlock:
        if self.endpoint is None:
            raise Am2Error(f"{call} before am_enable or after am_disable")
        return self.endpoint

    def _peer(self, dest: int) -> int:
        if not 0 <= dest < self.procs or dest == self.number:
            raise Am2Error(f"process {dest}: there are processes 0 to {self.procs - 1}, and "
                           f"{self.number} is this one")
        return dest

    def _index(self, handler: int | Handler) -> int:
        if isinstance(handler, int):
            return handler
        try:
            return self._indices[handler]
        except (KeyError, TypeError):
            raise Am2Error(f"{getattr(handler, '__name__', handler)!r} is not in the handler "
                           "table: register it, in the same order in all processes") from None


def _nothing(token: Token, address: int, length: int) -> None:
    """A part of a transfer has arrived, not the last."""


def _sound(call: str, status: Status) -> None:
    if status is not Status.AM_OK:
        raise Am2Error(f"{call}: {status.name}")
