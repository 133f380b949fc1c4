"""Rules by which a request's credit comes back to its sender (``am.credit``)."""

from collections.abc import Awaitable
from typing import Protocol

from ..port.suspension import NOTHING
from .acknowledging import Acknowledging
from .sending import Sending
from .window import Peer

__all__ = ["ByAck", "ByReply", "Credit", "credit_of"]


class Credit(Protocol):
    """A rule: the points at which the rules differ.

    Attributes
    ----------
    acks
        Whether acknowledgements return credits. Where a message passes it is asked for in place of
        the methods that say so: a call takes ten times as long.
    quarter
        Packets of a peer that are acknowledged together.
    """

    acks: bool
    quarter: int

    def refuses(self, peer: Peer) -> bool:
        """Tells whether a packet of ``peer`` that may be replied to must be dropped."""
        ...

    def handled(self, peer: Peer) -> Awaitable[None]:
        """A request of ``peer`` was handled. Where not ``acks``: it was not replied to."""
        ...

    def stored(self, peer: Peer) -> Awaitable[None]:
        """A store of ``peer`` has come, and was not replied to."""
        ...

    def parted(self, peer: Peer) -> Awaitable[None]:
        """``peer`` has said that it makes no more requests."""
        ...


class ByReply:
    """A reply returns the credit. The layer replies if the handler did not."""

    __slots__ = ("acks", "quarter", "_sending", "_acknowledging")

    def __init__(self, sending: Sending, acknowledging: Acknowledging) -> None:
        self.acks = False
        self._sending = sending
        self._acknowledging = acknowledging
        self.quarter = max(1, sending.node.description.am.reply_window // 4)

    def refuses(self, peer: Peer) -> bool:
        return False

    def handled(self, peer: Peer) -> Awaitable[None]:
        return self._sending.null_reply(peer)

    stored = handled

    def parted(self, peer: Peer) -> Awaitable[None]:
        self._acknowledging.owe_soon(peer)
        return NOTHING


class ByAck:
    """The acknowledgement returns the credit, and a handler that does not reply causes no packet. A
    packet may have to be refused, because replies were lost whose requests have been acknowledged;
    then it counts as lost, too."""

    __slots__ = ("acks", "quarter", "_sending", "_acknowledging")

    def __init__(self, sending: Sending, acknowledging: Acknowledging) -> None:
        self.acks = True
        self._sending = sending
        self._acknowledging = acknowledging
        self.quarter = -(-sending.node.description.am.request_window // 4)

    def refuses(self, peer: Peer) -> bool:
        return self._acknowledging.refuses(peer)

    def handled(self, peer: Peer) -> Awaitable[None]:
        if peer.owed >= self.quarter:
            self._acknowledging.due.append(peer)
        return NOTHING

    def stored(self, peer: Peer) -> Awaitable[None]:
        return NOTHING

    async def parted(self, peer: Peer) -> None:
        """Tell it that all replies to it have been sent."""
        await self._sending.ready()
        await self._sending.null_reply(peer)


def credit_of(sending: Sending, acknowledging: Acknowledging) -> Credit:
    """The rule that the description asks for."""
    by_ack = sending.node.description.am.credit == "ack"
    return (ByAck if by_ack else ByReply)(sending, acknowledging)
