"""Marks of a process that looks for messages."""

from ...layouts.am2 import Opcode
from ...layouts.trace import BEGIN, END, Activity
from ..port.node import Node
from ..port.port import Mark
from ..port.work import Charge

__all__ = ["Looking"]

EMPTY_POLL = int(Activity.EMPTY_POLL)
HANDLES = {Opcode.REQUEST: int(Activity.REQUEST_HANDLE), Opcode.REPLY: int(Activity.REPLY_HANDLE)}
BULK_HANDLE = int(Activity.BULK_HANDLE)


class Looking:
    """Marks looks: one that finds nothing is EMPTY_POLL; one that finds a message belongs to the
    handling of it, from the poll's beginning on, or from the end of the message before.
    ``node.service(Looking)``."""

    __slots__ = ("_port", "_mark", "_found")

    def __init__(self, node: Node) -> None:
        self._port = node.port
        self._mark: Mark | None = None
        self._found = (0, 0)

    def begin(self, path: Charge) -> None:
        """A poll begins, with ``path``."""
        self._mark = self._port.begin(EMPTY_POLL, 0, path)

    def again(self) -> None:
        """A way looks, perhaps behind a message that was handled."""
        if self._mark is None:
            self._mark = self._port.mark(EMPTY_POLL, BEGIN, 0)

    def found(self, opcode: Opcode, trace: int) -> None:
        """The look has found a message."""
        mark = self._mark
        assert mark is not None
        activity = HANDLES.get(opcode, BULK_HANDLE)
        mark[1], mark[3] = activity, trace
        self._found = activity, trace
        self._mark = None

    def handled(self) -> None:
        """The message has been handled, and its place is free."""
        self._port.mark(self._found[0], END, self._found[1])

    def end(self) -> None:
        """The poll has ended."""
        if self._mark is not None:
            self._mark = None
            self._port.mark(EMPTY_POLL, END, 0)
