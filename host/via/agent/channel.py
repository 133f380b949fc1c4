"""Messages between the kernel agents of the nodes, over packets that may be lost or duplicated.

There is one lane to each node, in each direction. A lane sends one message at a time until it is
acknowledged, so all messages arrive once and in order. An agent answers only while its program is
in a VIPL call, so the answer of a computing peer is late although nothing was lost. So a time-out
sends a probe. Packets between two nodes keep their order, so the answer says for certain whether
the message was lost. Only then is the message sent again, followed by a probe, which finds a second
loss. :mod:`.round_trip` has the time-outs.
"""

import struct
from collections import deque
from collections.abc import Awaitable, Callable
from enum import IntEnum
from typing import NamedTuple

from ....layouts.operations import BLOCK, BURST
from ....layouts.packet import HEADER, Protocol
from ....layouts.registers import SEND_WINDOW
from ...kernel.lock import kernel_lock
from ...kernel.timers import FAR
from ...port.node import Node
from ...port.port import Watch
from ...port.sent_again import Cause, SentAgain
from ..costs import Prices
from .round_trip import RoundTrip

__all__ = ["Channel", "Message", "MessageKind"]

BACK_OFF = 4
"""Time-outs are at most this many times ``via.retry_timeout``."""
ROOM = (1 << 32) - 1 & ~63
"""Bits of send_space. If one of them is set, a message has room."""


class MessageKind(IntEnum):
    """The wire header's ``detail`` in packets of Protocol.VIA_CONTROL."""

    ACK = 0
    REQUEST = 1
    """A client requests a connection; ``vi``, ``remote`` address, its attributes."""
    ACCEPT = 2
    CONFIRM = 3
    """The client has the connection, too."""
    REJECT = 4
    NO_MATCH = 5
    GONE = 6
    """The client gave up before it was accepted."""
    PEER = 7
    """One end of a peer-to-peer connection requests the other."""
    PEER_READY = 8
    """This end has set up its VI."""
    PEER_CANCEL = 9
    DISCONNECT = 10
    PROBE = 11
    """Asks whether the message with this sequence number has arrived. ``request`` numbers the
    question."""
    MISSED = 12
    """The message has not arrived; ``request`` as in the question. If it has arrived, the answer is
    ACK."""


class Message(NamedTuple):
    """Content of a message. ``request`` numbers the request, ``vi`` is the sender's VI and
    ``other`` the receiver's; the other fields are the sender's VI attributes and the discriminators
    of both network addresses."""

    request: int
    vi: int = 0
    other: int = 0
    reliability: int = 0
    rdma: int = 0
    qos: int = 0
    max_transfer: int = 0
    local: bytes = b""
    remote: bytes = b""


BODY = struct.Struct("<HHHHBBHIBB12s12s6x")
"""Sequence number; then the fields of a Message in their order, lengths before the addresses."""
WORDS = struct.Struct(f"<{BODY.size // 8}Q")


def encode(sequence: int, message: Message) -> tuple[int, ...]:
    """The words behind the wire header."""
    *fields, local, remote = message
    return WORDS.unpack(BODY.pack(sequence, *fields, len(local), len(remote), local, remote))


def decode(body: bytes) -> tuple[int, Message]:
    """Sequence number and message."""
    sequence, *fields, a, b, local, remote = BODY.unpack(body)
    return sequence, Message._make([*fields, local[:a], remote[:b]])


class Lane:
    """The messages under way to one node, and those expected from it."""

    __slots__ = ("queue", "sequence", "expected", "deadline", "trip", "asked", "sent",
                 "since")

    def __init__(self, timeout: int) -> None:
        self.queue: deque[tuple[MessageKind, Message]] = deque()
        """The messages to be sent; the first one is on its way."""
        self.sequence = 0
        self.expected = 0
        self.deadline = FAR
        self.trip = RoundTrip(timeout, BACK_OFF * timeout)
        self.asked = 0
        """Probes sent, modulo 65536: the number of the last one."""
        self.sent = 0
        """Number of these probes that were sent before the last transmission of the message."""
        self.since: int | None = 0
        """Cycle in which the message was sent; None if it was sent again, because it gives no round
        trip then."""

    def asked_since(self, number: int) -> bool:
        """Tells whether probe ``number`` was sent after the last transmission of the message, so
        that its answer applies to it."""
        return 0 < (number - self.sent & 0xFFFF) <= (self.asked - self.sent & 0xFFFF)


class Channel:
    """All lanes of a node.

    Attributes
    ----------
    deliver
        ``deliver(node, kind, message)`` is called for each message that arrives. The connection
        manager sets it.
    deadline
        The cycle of the next time-out (:meth:`tick`); FAR if no message waits.
    delivered, probes, resent
        Messages acknowledged, probes sent, and packets sent again.
    again
        The packets ``resent``, by peer and cause.
    """

    deliver: Callable[[int, MessageKind, Message], Awaitable[None]]

    def __init__(self, node: Node) -> None:
        self.port = node.port
        self.memory = node.memory
        self.paths = node.service(Prices)
        self.node = node
        self._send_space = node.register("send_space")
        self._send_window = node.nic_address(SEND_WINDOW)
        self._lock = kernel_lock(node)
        self.timeout = node.description.via.retry_timeout
        self.deadline = FAR
        self.delivered = 0
        self.probes = 0
        self.resent = 0
        self.again = SentAgain(self.port, "kernel agents of VIA", node.number)
        self._lanes: dict[int, Lane] = {}

    @property
    def idle(self) -> bool:
        """Tells whether everything sent has been acknowledged."""
        return not any(lane.queue for lane in self._lanes.values())

    async def send(self, node: int, kind: MessageKind, message: Message) -> None:
        """Queue ``message`` for delivery on ``node``."""
        lane = self._lane(node)
        lane.queue.append((kind, message))
        if len(lane.queue) == 1:
            await self._launch(node, lane)

    async def tick(self) -> None:
        """The timer's interrupt: send probes for messages whose time-out has passed."""
        now = self.port.cycle
        if now < self.deadline:
            return
        self.port.spend(self.paths.interrupt)
        for node, lane in list(self._lanes.items()):
            if lane.deadline <= now:
                lane.trip.late()
                lane.deadline = now + lane.trip.wait
                await self._probe(node, lane)
        self._note()

    async def receive(self, header: int, slot: int, trace: int) -> None:
        """A packet of Protocol.VIA_CONTROL, in the receive slot."""
        port = self.port
        port.spend(self.paths.control_handle)
        await port.touch(slot + 8, 8 + BODY.size)
        kind = MessageKind(HEADER.get(header, "detail"))
        node = HEADER.get(header, "source")
        sequence, message = decode(self.memory.read(slot + 16, BODY.size))
        lane = self._lane(node)
        if kind is MessageKind.ACK:
            if lane.queue and sequence == lane.sequence:
                lane.queue.popleft()
                if lane.since is not None:
                    lane.trip.measured(self.port.cycle - lane.since)
                lane.sequence = lane.sequence + 1 & 0xFFFF
                lane.deadline = FAR
                self.delivered += 1
                if lane.queue:
                    await self._launch(node, lane)
                else:
                    self._note()
        elif kind is MessageKind.MISSED:
            if lane.queue and sequence == lane.sequence and lane.asked_since(message.request):
                self.resent += 1
                self.again.note(node, Cause.ANSWER)
                lane.since = None
                lane.deadline = self.port.cycle + lane.trip.wait
                await self._put(node, lane)
                await self._probe(node, lane)
        elif kind is MessageKind.PROBE and sequence == lane.expected:
            await self._transmit(node, MessageKind.MISSED, sequence, Message(message.request))
        else:
            await self._transmit(node, MessageKind.ACK, sequence, Message(0))
            if kind is not MessageKind.PROBE and sequence == lane.expected:
                lane.expected = sequence + 1 & 0xFFFF
                await self.deliver(node, kind, message)

    def _note(self) -> None:
        self.deadline = min(lane.deadline for lane in self._lanes.values())

    def _lane(self, node: int) -> Lane:
        return self._lanes.setdefault(node, Lane(self.timeout))

    async def _launch(self, node: int, lane: Lane) -> None:
        lane.since = now = self.port.cycle
        lane.deadline = now + lane.trip.wait
        self._note()
        await self._put(node, lane)

    async def _put(self, node: int, lane: Lane) -> None:
        lane.sent = lane.asked
        await self._transmit(node, lane.queue[0][0], lane.sequence, lane.queue[0][1])

    async def _probe(self, node: int, lane: Lane) -> None:
        lane.asked = lane.asked + 1 & 0xFFFF
        self.probes += 1
        await self._transmit(node, MessageKind.PROBE, lane.sequence, Message(lane.asked))

    async def _transmit(self, node: int, kind: MessageKind, sequence: int,
                        message: Message) -> None:
        port = self.port
        port.spend(self.paths.control_send)
        await port.poll(Watch(self._send_space, 0, ROOM, not_equal=True))
        header = HEADER.pack(route=self.node.route(node), length=BODY.size,
                             source=self.node.number, destination=node,
                             protocol=Protocol.VIA_CONTROL, detail=kind)
        await port.pio_write(self._send_window, header, *encode(sequence, message),
                             trace=self.node.trace_number())
        # Two bursts, between which another CPU's must not come.
        self._lock.wrote()


if BODY.size % 8 or BODY.size > 56 or BLOCK < 2 or BURST < 2:
    raise AssertionError("a control message does not fit the room that is asked for")
