"""The end of a node's communication: am_disable."""

from collections.abc import Awaitable, Callable

from ..port.node import Node
from . import wire
from .acknowledging import Acknowledging
from .costs import Prices
from .credit import Credit
from .deadline import Deadline
from .marks import CONTROL
from .sending import Sending
from .settling import Settling
from .window import Peer

__all__ = ["Leaving", "Spin"]

Spin = Callable[..., Awaitable[None]]
"""``await spin(condition)`` waits for messages, of this layer and of others that the CPU has to
serve, and does so again until the condition is true; without one, once."""


class Leaving:
    """Finishes the communication with ``partners``.

    Attributes
    ----------
    told
        Whether the partners know that this node makes no more requests.
    """

    def __init__(self, node: Node, partners: list[Peer], sending: Sending,
                 acknowledging: Acknowledging, settling: Settling, credit: Credit,
                 deadline: Deadline) -> None:
        self.told = False
        self._node, self._port = node, node.port
        self._partners = partners
        self._sending = sending
        self._acknowledging = acknowledging
        self._settling = settling
        self._credit = credit
        self._deadline = deadline
        self._window = node.description.am.request_window
        prices = node.service(Prices)
        self._c_disable = prices.disable
        self._c_bye = prices.bye

    async def tell(self, spin: Spin) -> None:
        """Finish all own communication, and tell the partners. They are still served."""
        port, sending = self._port, self._sending
        port.spend(self._c_disable)
        self._settling.disabling = True
        port.waiting_for("its own requests to finish, in am_disable")
        while any(peer.credits < self._window or peer.transfers or peer.bulk.base != peer.bulk.next
                  for peer in self._deadline.watched if not peer.gone):
            await spin()
        for peer in self._partners:
            if peer.gone:
                continue
            await sending.ready()
            number = self._node.trace_number()
            port.begin(CONTROL, number, self._c_bye)
            if self._credit.acks:
                peer.credits -= 1
            await sending.send(peer.request, (wire.K_BYE, 0, 0, 3, number), CONTROL)
        self.told = True

    def alone(self) -> Callable[[], bool]:
        """A condition: all partners have told this node the same, and nothing is open between them
        and it. Until then they have to be served."""
        # A peer that has finished stays so.
        left = [peer for peer in self._partners if not self._finished(peer)]

        def awaited() -> str:
            numbers = [str(peer.number) for peer in left if not self._finished(peer)]
            return f"am_disable of node{'s' if len(numbers) > 1 else ''} {', '.join(numbers)}"

        def alone() -> bool:
            while left and self._finished(left[-1]):
                left.pop()
            return not left

        self._port.waiting_for(awaited)
        return alone

    async def end(self) -> None:
        """Acknowledge what is left; the partners are served no more."""
        await self._acknowledging.pay([peer for peer in self._partners
                                       if peer.owed and not peer.gone])
        await self._port.flush()
        self._port.waiting_for("")
        self.told = self._settling.disabling = False

    def _finished(self, peer: Peer) -> bool:
        """Whether ``peer`` has called am_disable and nothing between it and this node is open, or
        it is gone."""
        return peer.gone or peer.bye and not peer.open() and peer.credits >= self._window
