"""Pauses behind a lost race for a tail."""

from ...port.node import Node
from ..costs import Prices

__all__ = ["Contention"]

MOST = 512
"""Cycles within which the first pause of a draw ends."""
MULTIPLIER, INCREMENT, MODULUS = 1103515245, 12345, 1 << 31
"""The generator that the C standard gives as its example of rand()."""


class Contention:
    """Keeps the processes that draw from one tail out of step. ``node.service(Contention)``.

    Processes that run the same loop meet at the same places of it, and the same one loses each
    time. So a pause has a pseudo-random length, by a generator of the process' own: its seed is the
    CPU's number, and runs are equal.
    """

    __slots__ = ("_port", "_path", "_state")

    def __init__(self, node: Node) -> None:
        self._port = node.port
        self._path = node.service(Prices).lost
        self._state = node.cpu + 1

    async def pause(self, losses: int) -> None:
        """Pause after the ``losses``-th lost race of a draw: not after the first one, where the
        number may have been out of date; less than 512 cycles after the second one, half of it
        after each further one, so that who has lost often is soon back."""
        if losses > 1:
            self._state = (self._state * MULTIPLIER + INCREMENT) % MODULUS
            self._port.spend(self._path)
            await self._port.delay((self._state >> 16) % max(MOST >> losses - 2, 1))
