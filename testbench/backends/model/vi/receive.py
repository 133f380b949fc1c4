"""The VI engine's model, receiving: packets are checked, scattered, acknowledged, completed."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from .....layouts.packet import HEADER
from .....layouts.via import (
    ADDRESS,
    DETAIL,
    VIA_HEADER,
    BreakCode,
    Event,
    PacketKind,
    Reliability,
    RemoteOperation,
    Status,
    ViState,
    format_error,
)
from .memory import Access, Refused, Walk, Wrong
from .queues import Unreadable, complete
from .send import ReadJob

if TYPE_CHECKING:
    from .engine import Engine, Vi

__all__ = ["Arrived", "Receiver", "Receiving"]


BEHIND = 32
"""Packets of an unreliable VI up to so many before the expected one are duplicates."""


@dataclass
class Receiving:
    """The receiving side of a connection."""

    expected: int = 0
    """Sequence number of the next packet."""
    told: bool = False
    """A NAK was sent for the gap there is."""
    kind: PacketKind | None = None
    """The message begun: SEND, RDMA_WRITE, or none (what is left of it is dropped)."""
    walk: Walk | None = None
    """The receive descriptor taken, and where the message has got to in it."""
    written: int = 0
    """Bytes of an RDMA write up to now."""
    reading: Walk | None = None
    """Where the responses to our RDMA read go."""


class Arrived:
    """A packet, taken apart."""

    def __init__(self, data: bytes, trace: int) -> None:
        header = HEADER.unpack(int.from_bytes(data[:8], "little"))
        detail = DETAIL.unpack(header["detail"])
        via = VIA_HEADER.unpack(int.from_bytes(data[8:16].ljust(8, b"\0"), "little"))
        self.node = header["source"]
        self.kind = detail["kind"]
        self.first, self.last = detail["first"], detail["last"]
        self.ask = detail["acknowledge"]
        self.carries = (detail["carries"] and not (detail["immediate"] and detail["last"])
                        and self.kind in (PacketKind.SEND, PacketKind.RDMA_WRITE,
                                          PacketKind.READ_RESPONSE))
        self.has_immediate = detail["immediate"]
        self.destination, self.source = via["destination"], via["source"]
        self.sequence, self.immediate = via["sequence"], via["immediate"]
        self.payload = data[16:]
        self.address = (0, 0)
        wanted = 16
        if self.kind in (PacketKind.RDMA_WRITE, PacketKind.READ_REQUEST):
            address = ADDRESS.unpack(int.from_bytes(data[16:24].ljust(8, b"\0"), "little"))
            self.address = (address["va"], address["handle"])
            self.payload = data[24:]
            wanted = 24
        self.malformed = len(data) < wanted
        self.trace = trace


class Fatal(Exception):
    """A fault that breaks a reliable connection, and drops an unreliable message.

    ``code``: what the peer is told; ``event``: what the kernel agent is told by both kinds, beside
    CONN_LOST; ``breaks``: what the VI is broken with even if it is unreliable.
    """

    def __init__(self, code: BreakCode, event: Event | None = None,
                 breaks: Event | None = None) -> None:
        super().__init__()
        self.code, self.event, self.breaks = code, event, breaks


class Receiver:
    """Takes one packet after the other."""

    def __init__(self, engine: "Engine") -> None:
        self.engine = engine

    def arrive(self, data: bytes, trace: int) -> None:
        packet = Arrived(data, trace)
        vi = self.engine.vis.get(packet.destination)
        if vi is None or not self.counts(vi, packet):
            self.engine.count("via_unmatched")
        elif packet.kind in (PacketKind.ACK, PacketKind.NAK):
            echo = packet.kind == PacketKind.ACK and packet.ask
            self.engine.sender.acknowledged(vi, packet.sequence, packet.kind == PacketKind.NAK,
                                            packet.immediate if echo else None)
        elif packet.kind == PacketKind.PROBE:
            self.engine.link.tell(vi, PacketKind.ACK, vi.receiving.expected, packet.immediate,
                                  echo=True)
        elif packet.kind == PacketKind.BREAK:
            self.engine.sender.broken(vi, packet.sequence, packet.immediate)
        else:
            if packet.carries and vi.reliable:
                self.engine.sender.acknowledged(vi, packet.immediate & 255, False)
            if vi.state == ViState.CONNECTED and self.in_sequence(vi, packet):
                self.take(vi, packet)

    @staticmethod
    def counts(vi: "Vi", packet: Arrived) -> bool:
        """Tells whether a packet is from the peer of a connected VI, and of a kind that it may
        get."""
        return (vi.state == ViState.CONNECTED and not packet.malformed
                and (vi.peer["node"], vi.peer["vi"]) == (packet.node, packet.source)
                and (vi.reliable or packet.kind in (PacketKind.SEND, PacketKind.RDMA_WRITE)))

    # Sequence

    def in_sequence(self, vi: "Vi", packet: Arrived) -> bool:
        """Tells whether this is the packet that comes next. Unreliable: any but those just before
        it; a hole abandons the message begun."""
        side, link = vi.receiving, self.engine.link
        ahead = packet.sequence - side.expected & 255
        if not vi.reliable:
            if ahead >= 256 - BEHIND:
                self.engine.count("via_duplicates")
                return False
            if ahead:
                side.kind = None
                if not packet.first:
                    self.engine.count("via_gaps")
            side.expected = packet.sequence + 1 & 255
            return True
        if ahead == 0:
            side.told = False
            return True
        if ahead >= 128:
            self.engine.count("via_duplicates")
            link.tell(vi, PacketKind.ACK, side.expected)
        else:
            self.engine.count("via_gaps")
            if not side.told:
                side.told = True
                link.tell(vi, PacketKind.NAK, side.expected)
        return False

    def take(self, vi: "Vi", packet: Arrived) -> None:
        side = vi.receiving
        try:
            if packet.kind == PacketKind.SEND:
                self.send(vi, side, packet)
            elif packet.kind == PacketKind.RDMA_WRITE:
                self.rdma_write(vi, side, packet)
            elif packet.kind == PacketKind.READ_REQUEST:
                if not self.read_request(vi, packet):
                    return
            elif packet.kind == PacketKind.READ_RESPONSE and side.reading is not None:
                self.read_response(vi, side, side.reading, packet)
        except Fatal as fatal:
            if fatal.event is not None:
                self.engine.events.push(fatal.event, vi.number)
            if vi.reliable:
                self.engine.link.tell(vi, PacketKind.BREAK, packet.sequence, fatal.code)
            broken = fatal.breaks if fatal.breaks is not None else Event.CONN_LOST
            if vi.reliable or fatal.breaks is not None:
                self.engine.break_(vi, broken)
        if vi.state == ViState.CONNECTED and vi.reliable:
            side.expected = packet.sequence + 1 & 255
            if packet.ask:
                self.engine.link.tell(vi, PacketKind.ACK, side.expected)

    # Messages

    def lost(self, vi: "Vi") -> BreakCode:
        """Returns what the peer is told when no receive descriptor could be used."""
        remote = vi.reliability == Reliability.RELIABLE_RECEPTION
        return BreakCode.REMOTE_DESCRIPTOR if remote else BreakCode.LOST

    def descriptor(self, vi: "Vi", side: Receiving, packet: Arrived,
                   operation: RemoteOperation) -> Walk:
        """The receive descriptor for a message: the one held from an abandoned one, or the next."""
        held, side.walk = side.walk, None
        if held is None:
            try:
                taken = self.engine.take(vi, True)
            except Unreadable:
                raise Fatal(self.lost(vi), breaks=Event.POST_DESC) from None
            if taken is None:
                self.engine.count("via_dropped")
                raise Fatal(self.lost(vi), None if vi.reliable else Event.RECVQ_EMPTY)
            held = Walk(taken)
        held = side.walk = Walk(held.descriptor)
        if format_error(True, held.descriptor.segments, held.descriptor.control, vi.reliable):
            self.over(vi, side, operation, status=Status.FORMAT)
            raise Fatal(self.lost(vi))
        return held

    def over(self, vi: "Vi", side: Receiving, operation: RemoteOperation, *, length: int = 0,
             status: int = 0, immediate: int | None = None) -> None:
        """Completes the receive descriptor taken. With an error after some has landed: PARTIAL."""
        walk, side.walk, side.kind = side.walk, None, None
        assert walk is not None
        if status and length:
            status |= Status.PARTIAL
        complete(self.engine, vi, True, (walk.descriptor.va, walk.descriptor.handle),
                 length=length, status=status, operation=operation, immediate=immediate)

    def send(self, vi: "Vi", side: Receiving, packet: Arrived) -> None:
        """A part of a send goes to the segments of a receive descriptor."""
        if packet.first:
            side.kind = None
            self.descriptor(vi, side, packet, RemoteOperation.RECEIVE)
            side.kind = PacketKind.SEND
        elif side.kind != PacketKind.SEND:
            return
        walk = side.walk
        assert walk is not None
        try:
            walk.scatter(packet.payload)
        except Wrong as wrong:
            self.over(vi, side, RemoteOperation.RECEIVE, length=walk.bytes, status=wrong.status)
            long = wrong.status == Status.LENGTH
            raise Fatal(BreakCode.REMOTE_DESCRIPTOR if long else self.lost(vi)) from None
        if packet.last:
            self.over(vi, side, RemoteOperation.RECEIVE, length=walk.bytes,
                      immediate=packet.immediate if packet.has_immediate else None)

    def rdma_write(self, vi: "Vi", side: Receiving, packet: Arrived) -> None:
        """A part of an RDMA write goes to its own address; the last with immediate data completes a
        receive descriptor."""
        if packet.first:
            side.kind, side.written = PacketKind.RDMA_WRITE, 0
        elif side.kind != PacketKind.RDMA_WRITE:
            return
        try:
            if not vi.attributes["rdma_write"]:
                raise Refused
            for count in self.engine.translator.write(*packet.address, packet.payload,
                                                      vi.attributes["tag"], Access.RDMA_WRITE):
                side.written += count
        except Refused:
            side.kind = None
            event: Event | None = Event.RDMAW_PROT
            if packet.has_immediate and (side.walk or vi.queues[1].pending):
                self.descriptor(vi, side, packet, RemoteOperation.REMOTE_RDMA_WRITE)
                partial = Status.PARTIAL if side.written else 0
                self.over(vi, side, RemoteOperation.REMOTE_RDMA_WRITE,
                          status=Status.RDMA_PROTECTION | partial)
                event = None
            raise Fatal(BreakCode.RDMA_PROTECTION, event) from None
        if packet.last:
            side.kind = None
            if packet.has_immediate:
                self.descriptor(vi, side, packet, RemoteOperation.REMOTE_RDMA_WRITE)
                self.over(vi, side, RemoteOperation.REMOTE_RDMA_WRITE, length=side.written,
                          immediate=packet.immediate)

    def read_request(self, vi: "Vi", packet: Arrived) -> bool:
        """The peer's RDMA read becomes our sender's job; false if it has one already: the request
        is not acknowledged and will come again."""
        if not vi.attributes["rdma_read"]:
            raise Fatal(BreakCode.RDMA_PROTECTION, Event.RDMAR_PROT)
        if vi.sending.job is not None:
            return False
        vi.sending.job = ReadJob(*packet.address, left=packet.immediate,
                                 sequence=packet.sequence, trace=packet.trace)
        self.engine.sender.wake(vi)
        return True

    def read_response(self, vi: "Vi", side: Receiving, walk: Walk, packet: Arrived) -> None:
        """A part of what we read goes to the segments of the descriptor that asked for it."""
        status = 0
        try:
            walk.scatter(packet.payload)
        except Wrong as wrong:
            status = wrong.status
        if packet.last or status:
            side.reading = None
            self.engine.sender.read_done(vi, walk.bytes, status)
        if status:
            raise Fatal(BreakCode.LOST)

    def abort(self, vi: "Vi") -> None:
        """The connection is over: a receive begun, and an RDMA read, complete flushed."""
        side, vi.receiving = vi.receiving, Receiving()
        if side.walk is not None:
            partial = Status.PARTIAL if side.kind == PacketKind.SEND and side.walk.bytes else 0
            self.over(vi, side, RemoteOperation.RECEIVE, status=Status.FLUSHED | partial)
        if vi.sending.reading is not None:
            self.engine.sender.read_done(vi, 0, Status.FLUSHED)
