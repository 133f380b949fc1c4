"""Chooses the polls that look at the network, where both protocols are polled."""

from collections import deque

__all__ = ["Adaptive", "Fractional", "Turns"]

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
