"""The VI engine's model, the way out: headers of packets, and the order of packets on the link."""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .....layouts.packet import HEADER, Protocol
from .....layouts.via import ADDRESS, DETAIL, VIA_HEADER, PacketKind

if TYPE_CHECKING:
    from .engine import Engine, Vi
    from .send import Message

__all__ = ["Link", "Packet"]

ASKS, CARRIES = DETAIL.mask("acknowledge"), DETAIL.mask("carries")
"""In the wire header's last byte."""
VALUE = 8 + VIA_HEADER.offset("immediate") // 8
"""Place of the first byte of ``immediate`` in a packet."""


@dataclass
class Packet:
    """A packet in its slot, until it is sent (unreliable) or acknowledged."""

    data: bytes
    trace: int
    sequence: int
    message: "Message | None"
    """Whose last packet it is."""
    queued: bool = True
    left: int | None = None
    """When it was sent last, as Link counts."""
    carries: bool = False
    """It may carry an acknowledgement."""


class Link:
    """Orders the packets for the NIC's uplink: control packets go first, then packets that are sent
    again, then new packets. One packet at a time is with the uplink, which serves the rings'
    packets in turn.

    An ACK that answers no probe waits for the VI's next packet in line that may carry it, but for
    no longer than to the VI's next answer.

    A probe's number says when it leaves; time is counted in packets that have left."""

    def __init__(self, engine: "Engine") -> None:
        self.engine = engine
        self.control: deque[bytes] = deque()
        self.left: dict[Vi, int] = {}
        """Acknowledgements that packets in line are to carry."""
        self.again: deque[tuple[Vi, Packet]] = deque()
        self.new: deque[tuple[Vi, Packet]] = deque()
        self.on_wire: bytes | None = None
        self.count = 0

    def frame(self, vi: "Vi", detail: int, sequence: int, word: int, payload: bytes = b"",
              address: tuple[int, int] | None = None) -> bytes:
        """The packet's bytes: wire header, VIA header, address, payload."""
        body = VIA_HEADER.pack(destination=vi.peer["vi"], source=vi.number, sequence=sequence,
                               immediate=word).to_bytes(8, "little")
        if address is not None:
            body += ADDRESS.pack(va=address[0], handle=address[1]).to_bytes(8, "little")
        body += payload
        header = HEADER.pack(route=vi.peer["route"], length=len(body),
                             source=self.engine.nic.node, destination=vi.peer["node"],
                             protocol=Protocol.VIA, detail=detail)
        return header.to_bytes(8, "little") + body

    def tell(self, vi: "Vi", kind: PacketKind, sequence: int, code: int = 0, *,
             echo: bool = False) -> None:
        """Sends the peer an ACK (``echo``: that answers the probe ``code``), NAK or BREAK."""
        plain = kind == PacketKind.ACK and not echo
        if plain and vi not in self.left and any(
                other is vi and packet.carries for other, packet in (*self.again, *self.new)):
            self.left[vi] = sequence
            return
        if kind != PacketKind.PROBE:
            self.left.pop(vi, None)
        detail = DETAIL.pack(kind=kind, first=1, last=1, acknowledge=echo)
        self.control.append(self.frame(vi, detail, sequence, code))
        self.offer()

    def probe(self, vi: "Vi") -> None:
        """Asks the peer what has arrived. What waits here is sent after it."""
        self.tell(vi, PacketKind.PROBE, 0, self.count)

    def send(self, vi: "Vi", packet: Packet) -> None:
        """Sends a packet for the first time."""
        self.new.append((vi, packet))
        self.offer()

    def repeat(self, vi: "Vi", packets: Iterable[Packet]) -> None:
        """Sends those of ``packets`` again that do not wait here already."""
        for packet in packets:
            if not packet.queued:
                packet.queued = True
                self.again.append((vi, packet))
        self.offer()

    def forget(self, vi: "Vi") -> int:
        """Drops what waits of ``vi``, but for control packets; how many new ones there were."""
        self.left.pop(vi, None)
        unsent = sum(other is vi for other, _ in self.new)
        self.again = deque(item for item in self.again if item[0] is not vi)
        self.new = deque(item for item in self.new if item[0] is not vi)
        return unsent

    def offer(self) -> None:
        """Gives the next packet to the uplink, if it has none of ours."""
        if self.on_wire is not None:
            return
        trace = 0
        if self.control:
            self.on_wire = self.control.popleft()
        elif self.again or self.new:
            first = not self.again
            vi, packet = (self.again or self.new).popleft()
            self.on_wire, trace = packet.data, packet.trace
            slots = self.engine.via.send_slots
            if not first or vi.reliable and self.engine.sender.slots > slots // 2:
                self.on_wire = packet.data[:7] + bytes([packet.data[7] | ASKS]) + packet.data[8:]
            if packet.carries and vi in self.left:
                data = bytearray(self.on_wire)
                data[7] |= CARRIES
                data[VALUE] = self.left.pop(vi)
                self.on_wire = bytes(data)
            packet.queued, packet.left = False, self.count
            self.count += 1
            self.engine.count("via_sent" if first else "via_resent")
            if first:
                self.engine.sender.left(vi)
        else:
            return
        self.engine.nic.queue.append((self.on_wire, trace, 0))
        self.engine.nic.send()

    def sent(self, data: bytes) -> None:
        """``data`` has left the NIC."""
        if data is self.on_wire:
            self.on_wire = None
            self.offer()
