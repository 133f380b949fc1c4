"""The connection manager: pending requests, and the messages between kernel agents.

Client and server: REQUEST; the server's ACCEPT, sent when its VI is connected; the client's CONFIRM
when its own is. Peers: each sends PEER, then PEER_READY when it has received the other's PEER and
connected its VI. A peer has the connection when it has sent and received PEER_READY.
"""

from collections.abc import Callable

from ....layouts.via import Event, Reliability, ViState
from ...port.node import Node
from ..attributes import NetAddress, RemoteAttributes, ViAttributes
from ..handles import Nic, Peer, Vi
from ..provider import Provider
from ..returns import VIP_RETURN
from .channel import Channel, Message, MessageKind
from .notifies import Completions

__all__ = ["Attempt", "Connection", "Connections", "Offer", "Waiter", "mismatch"]

Kind = MessageKind


class Waiter:
    """A VipConnectWait under way. ``arrived``: the request for which it waited."""

    __slots__ = ("discriminator", "arrived")

    def __init__(self, discriminator: bytes) -> None:
        self.discriminator = discriminator
        self.arrived: Connection | None = None


class Connection:
    """A client's request at the server: what VipConnectWait returns, and VipConnectAccept and
    VipConnectReject take.

    ``vi``: the VI with which it was accepted. ``confirmed``: the client has the connection.
    ``gone``: the client has given up."""

    __slots__ = ("nic", "node", "message", "vi", "confirmed", "gone", "open")

    def __init__(self, nic: Nic | None, node: int, message: Message) -> None:
        self.nic = nic
        self.node = node
        self.message = message
        self.vi: Vi | None = None
        self.confirmed = False
        self.gone = False
        self.open = True


class Attempt:
    """A request of a client or a peer. ``result``: its outcome."""

    __slots__ = ("number", "vi", "local", "remote", "deadline", "result", "answer", "offer",
                 "ready")

    def __init__(self, number: int, vi: Vi, local: NetAddress, remote: NetAddress,
                 deadline: int | None) -> None:
        self.number = number
        self.vi = vi
        self.local = local
        self.remote = remote
        self.deadline = deadline
        self.result: VIP_RETURN | None = None
        self.answer: Message | None = None
        """The other end's address and attributes."""
        self.offer: Offer | None = None
        """Peers: the other end's request with which the VI was connected."""
        self.ready = False
        """Peers: whether the other end has sent PEER_READY."""


class Offer:
    """A peer's request that came from ``node``."""

    __slots__ = ("node", "message")

    def __init__(self, node: int, message: Message) -> None:
        self.node = node
        self.message = message


def mismatch(attributes: ViAttributes, message: Message) -> VIP_RETURN | None:
    """The first attribute of a VI that must be equal at both ends and is not; None if all are
    equal."""
    if attributes.reliability != message.reliability:
        return VIP_RETURN.INVALID_RELIABILITY_LEVEL
    if attributes.max_transfer != message.max_transfer:
        return VIP_RETURN.INVALID_MTU
    if attributes.qos != message.qos:
        return VIP_RETURN.INVALID_QOS
    return None


def remote_attributes(message: Message) -> RemoteAttributes:
    """Attributes of the sender's VI in ``message``."""
    return RemoteAttributes(Reliability(message.reliability), message.max_transfer, message.qos,
                            bool(message.rdma & 1), bool(message.rdma & 2))


class Connections:
    """The connection manager of a node. ``report`` is called with asynchronous errors."""

    def __init__(self, node: Node, channel: Channel, vis: dict[int, Vi], provider: Provider,
                 completions: Completions, report: Callable[[Event, Vi], None]) -> None:
        self.node = node
        self.channel = channel
        channel.deliver = self._deliver
        self._vis = vis
        self._provider = provider
        self._completions = completions
        self._report = report
        self.waiters: list[Waiter] = []
        self.requests: dict[int, Attempt] = {}
        """Unanswered requests of clients, by number."""
        self.peers: dict[int, Attempt] = {}
        """Unsettled requests of peers, by number."""
        self._offers: dict[tuple[int, int], Offer] = {}
        self._incoming: dict[tuple[int, int], Connection] = {}
        self._numbers = 0

    # For the calls

    def number(self) -> int:
        """The number of a new request; numbers repeat after 65536."""
        self._numbers = self._numbers + 1 & 0xFFFF
        return self._numbers

    async def request(self, attempt: Attempt) -> None:
        """Request a client's connection."""
        self.requests[attempt.number] = attempt
        await self.channel.send(attempt.remote.host, Kind.REQUEST, self._message(attempt))

    async def offer(self, attempt: Attempt) -> None:
        """Request a peer's connection."""
        self.peers[attempt.number] = attempt
        await self.channel.send(attempt.remote.host, Kind.PEER, self._message(attempt))
        for key, offer in list(self._offers.items()):
            if self._matches(attempt, offer):
                del self._offers[key]
                await self._match(attempt, offer)
                break

    async def withdraw(self, attempt: Attempt) -> None:
        """End a peer's request without a connection."""
        self.peers.pop(attempt.number, None)
        await self.channel.send(attempt.remote.host, Kind.PEER_CANCEL, Message(attempt.number))

    async def accept(self, connection: Connection, vi: Vi) -> None:
        """Connect ``vi`` and inform the client."""
        message = connection.message
        connection.vi = vi
        await self.connect(vi, Peer(connection.node, message.vi, message.request))
        await self.channel.send(connection.node, Kind.ACCEPT, self._about(message.request, vi))

    async def refuse(self, connection: Connection, kind: MessageKind) -> None:
        """Answer a client's request with REJECT or NO_MATCH."""
        connection.open = False
        self._incoming.pop((connection.node, connection.message.request), None)
        await self.channel.send(connection.node, kind, Message(connection.message.request))

    async def connect(self, vi: Vi, peer: Peer) -> None:
        """Connect ``vi`` to ``peer``."""
        vi.peer = peer
        vi.state = ViState.CONNECTED
        await self._provider.connect(vi, self.node.route(peer.node), vi.attributes.max_transfer)

    async def disconnect(self, vi: Vi, tell: bool = True) -> None:
        """End the connection of ``vi`` from this side, flush its queues, and return it to idle."""
        peer = vi.peer
        await self._provider.disconnect(vi)
        vi.state = ViState.ERROR
        if peer is not None and tell:
            await self.channel.send(peer.node, Kind.DISCONNECT,
                                    Message(peer.connection, vi.number, peer.vi))
        vi.peer = None
        await self._provider.idle(vi)
        await self._completions.flush_lost(vi)
        vi.lost = False
        vi.state = ViState.IDLE
        vi.pending = False

    # Messages

    def _about(self, number: int, vi: Vi, local: bytes = b"", remote: bytes = b"") -> Message:
        attributes = vi.attributes
        return Message(number, vi.number, 0, attributes.reliability,
                       attributes.rdma_write | attributes.rdma_read << 1, attributes.qos,
                       attributes.max_transfer, local, remote)

    def _message(self, attempt: Attempt) -> Message:
        return self._about(attempt.number, attempt.vi, attempt.local.discriminator,
                           attempt.remote.discriminator)

    async def _deliver(self, node: int, kind: MessageKind, message: Message) -> None:
        if kind is Kind.REQUEST:
            await self._requested(node, message)
        elif kind in (Kind.ACCEPT, Kind.REJECT, Kind.NO_MATCH):
            await self._answered(node, kind, message)
        elif kind in (Kind.CONFIRM, Kind.GONE):
            connection = self._incoming.pop((node, message.request), None)
            if connection is not None:
                connection.confirmed = kind is Kind.CONFIRM
                connection.gone = kind is Kind.GONE
        elif kind is Kind.DISCONNECT:
            await self._disconnected(node, message)
        else:
            await self._peer(node, kind, message)

    async def _requested(self, node: int, message: Message) -> None:
        connection = Connection(None, node, message)
        for waiter in self.waiters:
            if waiter.arrived is None and waiter.discriminator == message.remote:
                waiter.arrived = connection
                self._incoming[node, message.request] = connection
                return
        await self.refuse(connection, Kind.NO_MATCH)

    async def _answered(self, node: int, kind: MessageKind, message: Message) -> None:
        attempt = self.requests.pop(message.request, None)
        if kind is Kind.ACCEPT:
            if attempt is None:
                await self.channel.send(node, Kind.GONE, Message(message.request))
                return
            await self.connect(attempt.vi, Peer(node, message.vi, message.request))
            await self.channel.send(node, Kind.CONFIRM, Message(message.request))
            attempt.answer = message
            attempt.result = VIP_RETURN.SUCCESS
        elif attempt is not None:
            attempt.result = (VIP_RETURN.REJECT if kind is Kind.REJECT else VIP_RETURN.NO_MATCH)

    async def _disconnected(self, node: int, message: Message) -> None:
        vi = self._vis.get(message.other)
        if vi is None or vi.peer != Peer(node, message.vi, message.request):
            return
        if vi.state is ViState.CONNECTED:
            await self._provider.disconnect(vi)
            self._report(Event.CONN_LOST, vi)
        vi.peer = None

    # Peers

    def _matches(self, attempt: Attempt, offer: Offer) -> bool:
        message = offer.message
        return (attempt.result is None and attempt.offer is None
                and attempt.remote == NetAddress(offer.node, message.local)
                and attempt.local.discriminator == message.remote
                and (offer.node, message.request) != (self.node.number, attempt.number))

    async def _match(self, attempt: Attempt, offer: Offer) -> None:
        attempt.offer = offer
        message = offer.message
        attempt.answer = message
        attempt.result = mismatch(attempt.vi.attributes, message)
        if attempt.result is not None:
            return
        ends = ((self.node.number, attempt.number), (offer.node, message.request))
        await self.connect(attempt.vi, Peer(offer.node, message.vi, min(ends)[1]))
        await self.channel.send(offer.node, Kind.PEER_READY, Message(message.request))
        self._settle(attempt)

    def _settle(self, attempt: Attempt) -> None:
        if attempt.ready and attempt.offer is not None and attempt.result is None:
            attempt.result = VIP_RETURN.SUCCESS

    async def _peer(self, node: int, kind: MessageKind, message: Message) -> None:
        if kind is Kind.PEER:
            offer = Offer(node, message)
            for attempt in list(self.peers.values()):
                if self._matches(attempt, offer):
                    await self._match(attempt, offer)
                    return
            self._offers[node, message.request] = offer
        elif kind is Kind.PEER_READY:
            found = self.peers.get(message.request)
            if found is not None:
                found.ready = True
                self._settle(found)
        elif kind is Kind.PEER_CANCEL:
            self._offers.pop((node, message.request), None)
            for attempt in list(self.peers.values()):
                offer = attempt.offer
                if (offer is not None and attempt.result is None
                        and (offer.node, offer.message.request) == (node, message.request)):
                    await self.disconnect(attempt.vi, tell=False)
                    attempt.vi.pending = True
                    attempt.result = VIP_RETURN.NO_MATCH
