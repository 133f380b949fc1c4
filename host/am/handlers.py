"""The handler table, and the context of the running handler."""

from collections.abc import Awaitable, Callable
from types import CoroutineType
from typing import Any

from ..port.suspension import NOTHING, check_given
from . import wire
from .window import AmError, Peer

__all__ = ["GET", "IN_REPLY", "IN_REQUEST", "PROGRAM", "REPLY", "REQUEST", "STORE", "Handler",
           "Handlers"]

PROGRAM, IN_REQUEST, IN_REPLY = 0, 1, 2

Handler = Callable[..., Any]
What = tuple[int, str]
"""What a handler runs for: the context that it has, and a word for it."""
REQUEST: What = IN_REQUEST, "request"
REPLY: What = IN_REPLY, "reply"
STORE: What = IN_REQUEST, "store"
GET: What = IN_REPLY, "get"


class Handlers:
    """The handlers of ``node``, in the order in which all nodes have them.

    Attributes
    ----------
    table
        The handlers, by index, as functions of a message's source and words.
    context
        What is running: the program, a request handler, or a reply handler or end function.
    source, replied
        For the request handler that runs, or ran last: the requesting node, and whether the handler
        has replied.
    """

    __slots__ = ("table", "context", "source", "replied", "_node", "_indices")

    def __init__(self, node: int) -> None:
        self._node = node
        self.table: list[Handler] = []
        self.context = PROGRAM
        self.source: Peer
        self.replied = False
        self._indices: dict[Handler, int] = {}

    def add(self, handler: Handler, bound: Handler) -> int:
        """Append ``handler`` to the handler table, ``bound`` to what it gets first; return its
        index."""
        if len(self.table) >= wire.NO_HANDLER:
            raise AmError(f"a handler table has {wire.NO_HANDLER} entries, and it is full")
        index = self._indices.setdefault(handler, len(self.table))
        self.table.append(bound)
        return index

    def index(self, handler: int | Handler) -> int:
        """The index that a message for ``handler`` carries."""
        if isinstance(handler, int):
            if not 0 <= handler < wire.NO_HANDLER:
                raise AmError(f"handler {handler}: an index is 0 to {wire.NO_HANDLER - 1}")
            return handler
        try:
            return self._indices[handler]
        except (KeyError, TypeError):
            raise AmError(f"{getattr(handler, '__name__', handler)!r} is not in the handler table: "
                          "register it, in the same order on all nodes") from None

    def call(self, what: What, source: Peer, index: int, count: int, a0: int, a1: int, a2: int,
             a3: int) -> Awaitable[None]:
        """Run the handler at ``index`` for ``what``, which has come from ``source``, with the first
        ``count`` of four words. What is returned must be awaited at once; the caller sets the
        context back.

        Raises
        ------
        AmError
            There is no such handler.
        TypeError
            It returned what cannot be awaited.
        """
        try:
            function = self.table[index]
        except IndexError:
            raise self._missing(what[1], source.number, index) from None
        self.context = what[0]
        self.source = source
        self.replied = False
        result = (function(source.number, a0) if count == 1  # the usual message
                  else function(source.number, *(a0, a1, a2, a3)[:count]))
        if result is None or result is NOTHING:
            return NOTHING
        if result.__class__ is not CoroutineType:
            check_given(getattr(function, "__func__", function), result)
        return result

    def _missing(self, what: str, source: int, handler: int) -> AmError:
        """The error for a message from node ``source`` that names a handler outside the table."""
        node = self._node
        return AmError(f"node {source} sent node {node} a {what} for handler {handler}"
                       f": there are {len(self.table)} in node {node}'s table; "
                       "it has the same order on all nodes")
