"""Says when a node's Active Messages must check their timers next, and of which peers."""

from ..kernel.timers import FAR
from .window import Peer

__all__ = ["FAR", "Deadline"]


class Deadline:
    """A part that sends, or owes an answer, moves the deadline forward and has the peer watched;
    the timers set the deadline again. So the work at a deadline does not depend on how many nodes
    there are.

    Attributes
    ----------
    at
        The first cycle at which a time-out may have passed.
    watched
        Peers of which something may time out, and some of which nothing can any more.
    waits
        Whether the program waits and acknowledgements return credits, so that replies may come
        from peers that owe nothing: see :meth:`wait`.
    """

    __slots__ = ("at", "waits", "watched")

    def __init__(self) -> None:
        self.at = FAR
        self.waits = False
        self.watched: list[Peer] = []

    def watch(self, peer: Peer) -> None:
        """List ``peer``, which is not ``watched``: there is something that may time out."""
        peer.watched = True
        self.watched.append(peer)

    def wait(self, peers: list[Peer]) -> None:
        """From now on the program waits, perhaps for replies of ``peers``, which may have ended
        after they acknowledged its requests."""
        self.waits = True
        for peer in peers:
            if peer.may_reply():
                if not peer.watched:
                    self.watch(peer)
                self.at = min(self.at, max(peer.heard, peer.late_at) + peer.patience)

    def awaits(self, peer: Peer, window: int) -> bool:
        """Tells whether something is to come from ``peer`` beside acknowledgements, with ``window``
        credits if no request is open."""
        return peer.credits < window or self.waits and peer.may_reply()

    def pending(self, window: int) -> list[Peer]:
        """The peers, by number, that owe this node something, or that this node owes something,
        with ``window`` credits if nothing is open. The others are watched no more."""
        left = []
        for peer in self.watched:
            if not peer.gone and (peer.owed or peer.question is not None
                                  or self.awaits(peer, window) or peer.open()):
                left.append(peer)
            else:
                peer.watched = False
        left.sort(key=_number)
        self.watched = left
        return left[:]


def _number(peer: Peer) -> int:
    return peer.number
