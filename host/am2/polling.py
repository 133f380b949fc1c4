"""AM_Poll: looks for messages of a bundle, in shared memory and from the network."""

from ..port.node import Node
from .bundles import Bundle
from .costs import Prices
from .looking import Looking
from .network_polls import Adaptive, Apart, Fractional, Turns
from .way import Way

__all__ = ["Polling"]

LOCAL = 1
"""Messages that a poll takes from an endpoint at most, of those that are in shared memory; of the
network, if it is the only way."""


class Polling:
    """Polls of the process on ``node``, by ``shared`` memory, the ``network``, or both.

    Attributes
    ----------
    polls, network_polls
        How many there were, and how many of them looked at the network.
    messages, network_messages
        Messages that they found, and how many of them came by the network.
    """

    def __init__(self, node: Node, shared: Way | None, network: Way | None) -> None:
        knobs = node.description.am2
        self._port = node.port
        self._shared = shared
        self._network = network
        self._looking = node.service(Looking)
        self._turns: Turns = (Adaptive() if knobs.poll == "adaptive"
                              else Fractional(knobs.poll_every))
        self._apart = Apart(node.port, knobs.poll_apart)
        prices = node.service(Prices)
        self._c_poll = prices.poll
        self._c_choice = prices.poll_choice
        self.polls = self.network_polls = self.messages = self.network_messages = 0

    async def idle(self, bundle: Bundle) -> int:
        """Poll (:meth:`poll`) in a program that may have nothing else to do: where the network is
        polled alone, some time after a poll in vain."""
        if self._shared is None:
            await self._apart.pause()
        return await self.poll(bundle)

    async def poll(self, bundle: Bundle) -> int:
        """Look for messages of all endpoints of ``bundle``, and handle those that have come; return
        how many there were."""
        shared, network = self._shared, self._network
        self._looking.begin(self._c_poll)
        self.polls += 1
        found = 0
        if shared is not None:
            for endpoint in bundle.endpoints:
                found += await shared.poll(endpoint, LOCAL)
            if network is not None:
                found += await self._poll_in_turn(bundle, network)
        elif network is not None:
            found = await self._poll_network(bundle, network, LOCAL, LOCAL * len(bundle.endpoints))
            self._apart.told(found)
        self._looking.end()
        self.messages += found
        return found

    async def _poll_in_turn(self, bundle: Bundle, network: Way) -> int:
        """The network's share of a poll of both, if it is its turn."""
        self._looking.again()
        self._port.spend(self._c_choice)
        most = self._turns.turn()
        if not most:
            return 0
        found = await self._poll_network(bundle, network, most, most)
        self._turns.told(found)
        return found

    async def _poll_network(self, bundle: Bundle, network: Way, each: int, most: int) -> int:
        """Take up to ``most`` messages from the network, and up to ``each`` of an endpoint."""
        self.network_polls += 1
        found = 0
        for endpoint in bundle.endpoints:
            if found < most:
                found += await network.poll(endpoint, min(each, most - found))
        self.network_messages += found
        return found
