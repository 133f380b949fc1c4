"""The protocol by which :class:`~nicbed.testbench.lab.Lab` uses a back end."""

from collections.abc import Callable, Sequence
from typing import Protocol

from ...host.port.backend import Mailbox, Memory
from ...layouts.trace import Event
from .switches import Switches

__all__ = ["Backend", "Serve"]

Serve = Callable[[int, int, int, int], int]
""":meth:`nicbed.host.port.serving.Server.serve`."""


class Backend(Protocol):
    """A target in which programs run, one run after another.

    Attributes
    ----------
    mailbox, memories
        The host ports' mailbox, and each node's memory.
    direct
        Whether :meth:`serve` takes what serves each port alone. Else it is not given any.
    """

    mailbox: Mailbox
    memories: Sequence[Memory]
    direct: bool

    async def reset(self, switches: Switches) -> None:
        """Reset the target, with memories and trace empty."""
        ...

    async def serve(self, attention: Callable[[], bool], ports: Sequence[Serve] = (),
                    often: int = 0) -> None:
        """Call ``attention`` at once and then at each attention, until it returns False. With
        ``ports`` what serves each port that waits is called instead, and ``attention`` only at the
        first attention, at one in ``often`` (0: none), and where the run may end."""
        ...

    def profile(self, node: int) -> dict[int, int]:
        """Cycles of the NIC processor at wire address ``node`` by program counter, if counted."""
        ...

    async def events(self) -> Sequence[Event]:
        """Events of the run so far."""
        ...

