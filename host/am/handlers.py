"""The handler table, and the context of the running handler."""

from collections.abc import Callable, Sequence
from typing import Any

from . import wire
from .window import AmError, Peer

__all__ = ["PROGRAM", "IN_REQUEST", "IN_REPLY", "Handler", "Handlers"]

PROGRAM, IN_REQUEST, IN_REPLY = 0, 1, 2

Handler = Callable[..., Any]


class Handlers:
    """The handlers of one node, in the order in which all nodes have them.

    Attributes
    ----------
    am
        What each handler gets first.
    table
        The handlers, by index.
    context
        What is running: the program, a request handler, or a reply handler or end function.
    source, replied
        For the request handler that runs, or ran last: the requesting node, and whether the handler
        has replied.
    """

    __slots__ = ("am", "table", "context", "source", "replied", "_indices")

    def __init__(self, am: Any, handlers: Sequence[Handler]) -> None:
        self.am = am
        self.table: list[Handler] = []
        self.context = PROGRAM
        self.source: Peer | None = None
        self.replied = False
        self._indices: dict[Handler, int] = {}
        for handler in handlers:
            self.add(handler)

    def add(self, handler: Handler) -> int:
        """Append ``handler`` to the handler table; return its index."""
        if len(self.table) >= wire.NO_HANDLER:
            raise AmError(f"a handler table has {wire.NO_HANDLER} entries, and it is full")
        index = self._indices.setdefault(handler, len(self.table))
        self.table.append(handler)
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

    def missing(self, what: str, source: int, handler: int) -> AmError:
        """The error for a message from node ``source`` that names a handler outside the table."""
        node = self.am.node.number
        return AmError(f"node {source} sent node {node} a {what} for handler {handler}"
                       f": there are {len(self.table)} in node {node}'s table; "
                       "it has the same order on all nodes")
