"""Chooses the polls that look at the network: one of several where both protocols are polled, and
where it is the only one, looks some time apart."""

from collections import deque

from ...layouts.trace import BEGIN, Activity
from ..port.port import Port

__all__ = ["Adaptive", "Apart", "Fractional", "Turns"]

EMPTY_POLL = int(Activity.EMPTY_POLL)
LEAST, MOST = 8, 32
"""Polls between two looks at the network, with adaptive polling."""
HISTORY = 32
"""Network polls whose messages are counted."""


class Fractional:
    """One poll in ``every`` looks at the network, and takes up to so many messages."""

    def __init__(self, every: int) -> None:
        self._every = every
        self._since = 0

    def turn(self) -> int:
        """A poll begins: the most messages that it takes from the network; 0: it does not look."""
        self._since += 1
        if self._since < self._every:
            return 0
        self._since = 0
        return self._every

    def told(self, found: int) -> None:
        """The look that was due has found so many messages."""


class Adaptive:
    """A poll looks when the last looks predict a message: of ``H`` messages in the last 32 network
    polls, which spanned ``S`` polls, one is due once ``s`` polls have passed with s H >= S. No
    sooner than every 8th, no later than every 32nd poll; it takes up to s messages."""

    def __init__(self) -> None:
        self._found: deque[int] = deque([0] * HISTORY, HISTORY)
        self._spans: deque[int] = deque([MOST] * HISTORY, HISTORY)
        self._messages = 0
        self._polls = MOST * HISTORY
        self._since = 0

    def turn(self) -> int:
        """As :meth:`Fractional.turn`."""
        self._since = since = self._since + 1
        if since < LEAST or (since < MOST and since * self._messages < self._polls):
            return 0
        return since

    def told(self, found: int) -> None:
        """As :meth:`Fractional.told`."""
        self._messages += found - self._found[0]
        self._polls += self._since - self._spans[0]
        self._found.append(found)
        self._spans.append(self._since)
        self._since = 0


Turns = Fractional | Adaptive
"""Says whose turn it is."""


class Apart:
    """Looks of a process at the network, where that is all it polls: while it waits, one behind a
    look in vain begins no sooner than ``cycles`` later. Such looks take the bus from the NIC, whose
    data the process waits for."""

    __slots__ = ("_port", "_cycles", "_next")

    def __init__(self, port: Port, cycles: int) -> None:
        self._port = port
        self._cycles = cycles
        self._next = 0

    async def pause(self) -> None:
        """Wait until the next look may begin."""
        port, due = self._port, self._next
        # The port's cycle is one that has passed already.
        if port.cycle < due and (left := due - await port.flush()) > 0:
            mark = port.mark(EMPTY_POLL, BEGIN, 0)
            await port.delay(left)
            port.finish(mark, EMPTY_POLL, 0)

    def told(self, found: int) -> None:
        """A look has ended, and found so many messages."""
        self._next = 0 if found else self._port.cycle + self._cycles
