"""Knows beside the target which peers of a run are to be waited for.

To a node, a peer whose program computes looks like one whose program has ended: nothing comes. On a
machine the operating system tells them apart. Here it is known. It is asked when a peer has been
silent through ``am.retries`` time-outs, which takes no time, and at the limit of a run.
"""

from ..port.ends import Ends
from ..port.node import Node
from .deadline import Deadline
from .receive_ring import ReceiveRing

__all__ = ["Others", "Presence"]


class Others:
    """The layers beside the one of ``node``, which looks for messages in ``ring``, and awaits
    answers of the peers of ``deadline``."""

    def __init__(self, node: Node, ring: ReceiveRing, deadline: Deadline) -> None:
        am = node.description.am
        self._node, self._deadline = node, deadline
        self._window, self._timeout = am.request_window, am.retry_timeout
        self._ring = ring
        self.name = node.place
        self.place = node.home, node.cpu
        self.left = False
        """Whether the layer was disabled."""
        self._presence = node.run_service(Presence)
        self._ends = node.run_service(Ends)

    def enabled(self) -> None:
        """The layer here is enabled."""
        self.left = False
        self._presence.layers[self._node.number] = self

    def ended(self, peer: int) -> bool:
        """Tells whether ``peer`` will never call again, as far as is known: its program has ended,
        or its layer was disabled."""
        layer = self._presence.layers.get(peer)
        if layer is not None:
            return layer.left or layer.place in self._ends.places
        home = self._node.node_of(peer)
        return all(place in self._ends.places for place in self._node.programs if place[0] == home)

    def listened(self, peer: int, since: int) -> bool:
        """Tells whether ``peer`` has looked for messages since cycle ``since``; or never will, as
        its program is this one, which is in a call of another layer."""
        layer = self._presence.layers.get(peer)
        if layer is None:
            return False
        looked = layer.looked(self._node.port.cycle)
        return looked is None or looked > since or layer.place == self.place

    def looked(self, now: int) -> int | None:
        """The cycle at which this layer last looked for messages; None if it does at ``now``."""
        waits = self._ring.waits and now >= self._node.port.computes_until()
        return None if waits else self._ring.looked

    def silent(self, now: int) -> list[str]:
        """Lines about the peers from which this layer awaits something at cycle ``now``, and which
        have not looked for messages for a time-out."""
        lines = []
        for peer in self._deadline.pending(self._window):
            layer = self._presence.layers.get(peer.number)
            if not (peer.open() or self._deadline.awaits(peer, self._window)):
                continue
            if layer is None:
                lines.append(f"{self._of(peer.number)} has not enabled Active Messages, and "
                             f"{self.name} awaits an answer from it")
                continue
            looked = layer.looked(now)
            if looked is not None and looked + self._timeout <= now:
                lines.append(f"{layer.name} has not looked for Active Messages since cycle "
                             f"{looked}, and {self.name} awaits an answer from it")
        return lines

    def _of(self, peer: int) -> str:
        home, nics = self._node.node_of(peer), self._node.nics
        return f"node {home}" if nics == 1 else f"node {home}, NIC {peer % nics}"


class Presence:
    """The enabled layers of a run, by the addresses at which their peers reach them."""

    def __init__(self) -> None:
        self.layers: dict[int, Others] = {}

    def diagnosis(self, now: int) -> list[str]:
        """Lines about the peers that layers wait for at cycle ``now``, and that make no calls."""
        return [line for layer in self.layers.values() if not layer.left
                for line in layer.silent(now)]
