"""The back-off of a request that finds no room."""

from collections.abc import Callable

from ...layouts.trace import BEGIN, END, Activity
from ..port.node import Node
from .costs import Prices
from .way import Poll

__all__ = ["BackOff"]

WINDOW_WAIT = int(Activity.WINDOW_WAIT)


class BackOff:
    """Pauses of one request of the process on ``node``, with a poll behind each. The first one
    takes ``least`` cycles, each further one twice as long, but at most ``most``."""

    __slots__ = ("_port", "_path", "_pause", "_most")

    def __init__(self, node: Node, least: int, most: int) -> None:
        self._port = node.port
        self._path = node.service(Prices).back_off
        self._pause = least
        self._most = most

    async def wait(self, room: Callable[[], str], poll: Poll) -> None:
        """Wait for ``room()``, and poll."""
        port = self._port
        port.mark(WINDOW_WAIT, BEGIN, 0)
        port.waiting_for(room)
        port.spend(self._path)
        await port.delay(self._pause)
        await poll()
        port.waiting_for("")
        port.mark(WINDOW_WAIT, END, 0)
        self._pause = min(2 * self._pause, self._most)
