"""Return to sender: how Fast Messages get along with what room there is.

How it works
------------
A sender has ``places`` packets under way at most, and room for all of them in its reject queue: so
whatever comes back can be kept. A packet gives its place back when its receiver has accepted it: it
has been handled, or lies in the receive queue until FM_extract handles it. The receiver says so in
what it sends anyway, or in a packet of its own when a quarter of a sender's places is owed, when
FM_extract finds nothing, and whenever it waits.

A node that waits, for a place, takes what comes out of the ring without handling it: handlers run
in FM_extract only. What finds the receive queue full goes back to its sender, which keeps it and
sends it again later. All packets that can be under way to a node at once have room in its ring, so
the network always empties. Two programs that send each other more than places and receive queue
hold, and never extract, wait for ever.

The network is taken to be reliable, as Fast Messages do: a packet that it loses is gone, with its
place; what it duplicates is handled twice.
"""

from collections import deque

from ...layouts.fm import FM_HEADER, FRAME_BYTES, FmKind
from ...layouts.trace import Activity, Kind
from ..port.node import Node
from ..port.sent_again import Cause
from . import costs
from .frames import FmError, Frames, Packet

__all__ = ["Returning"]

BEGIN, END = int(Kind.BEGIN), int(Kind.END)
CONTROL, WINDOW_WAIT = int(Activity.CONTROL), int(Activity.WINDOW_WAIT)
RETURNED = FM_HEADER.mask("returned")
KIND = FM_HEADER.mask("kind")
BYTES = FM_HEADER.offset("bytes")
AGAIN = 2000
"""Cycles between two rounds of sending again what came back."""


class Returning(Frames):
    """Packets, with places, reject queue and receive queue.

    Attributes
    ----------
    places
        Packets that this node may have under way.
    """

    def __init__(self, node: Node, reject_queue: int, receive_queue: int) -> None:
        super().__init__(node)
        most = self._ring // (node.nodes + 1)
        if reject_queue < 1 or receive_queue < 1:
            raise ValueError("reject_queue and receive_queue must be at least 1, not "
                             f"{reject_queue} and {receive_queue}")
        if not most:
            raise FmError(f"nic.receive_ring = {self._ring}: Fast Messages of {node.nodes} nodes "
                          f"need a ring of at least {node.nodes + 1} slots")
        self.places = min(reject_queue, most)
        self._quarter = max(1, self.places // 4)
        self._under_way = 0
        self._rejected: deque[Packet] = deque()
        self._received: deque[tuple[Packet, int]] = deque()
        """Packets of the receive queue, and where their payload is."""
        self._receive_queue = receive_queue
        self._kept = self._again_at = self._puts = 0
        port = node.port
        self._c_accepted, self._c_owed = port.path(costs.ACCEPTED), port.path(costs.OWED)
        self._c_keep, self._c_return = port.path(costs.KEEP), port.path(costs.RETURN)

    async def _open(self) -> None:
        await super()._open()
        self._kept = self.node.allocate(
            (self.places + self._receive_queue + 1) * FRAME_BYTES)

    def _place(self, index: int) -> int:
        """Address of frame ``index`` of the two queues, the reject queue first."""
        return self._kept + index * FRAME_BYTES

    async def _arrived(self) -> tuple[Packet, int] | None:
        """Take the packet at the ring's head as far as no handler is needed; the packet and the
        size of its message if one is. The slot is still the ring's head then."""
        found = self._look()
        if found is None:
            await self._advance()
            return None
        packet, accepted = found
        self._under_way = max(0, self._under_way - accepted)
        header = packet.header
        size = header >> BYTES & 255
        if header & RETURNED:
            self.counters["returned"] += 1
            self.port.spend(self._c_keep)
            await self._copied(size, self._place(len(self._rejected) % self.places))
            if len(self._rejected) < self.places:
                self._rejected.append(packet._replace(header=header & ~RETURNED))
        elif header & KIND == FmKind.ACCEPTED:
            self.port.spend(self._c_accepted)
        else:
            return packet, size
        await self._advance()
        return None

    async def _take(self) -> None:
        """Take the packet at the ring's head without handling it: keep it, or send it back."""
        number = self._number()
        port = self.port
        port.mark(CONTROL, BEGIN, number)
        found = await self._arrived()
        if found is not None:
            packet, size = found
            if len(self._received) < self._receive_queue:
                # One more than there can be: a handler may still use the one before the oldest.
                at = self._place(self.places + self._puts % (self._receive_queue + 1))
                self._puts += 1
                port.spend(self._c_keep)
                await self._copied(size, at)
                await port.flush()
                self.memory.write(at, packet.payload)
                self._received.append((packet, at))
                self._owed[packet.node] += 1
            else:
                self.counters["rejected"] += 1
                port.spend(self._c_return)
                await self._put(packet.node, packet.header | RETURNED, packet.payload,
                                packet.number)
            await self._advance()
        port.mark(CONTROL, END, number)

    def _number(self) -> int:
        """Trace number of the packet at the ring's head."""
        return self.memory.word(self._slot) >> 24 & 0xFF_FFFF

    async def _pay(self, least: int) -> None:
        """Tell all that are owed ``least`` or more."""
        port = self.port
        for other, owed in enumerate(self._owed):
            if owed < least:
                continue
            self.counters["accepted"] += 1
            number = self.node.trace_number()
            port.mark(CONTROL, BEGIN, number)
            port.spend(self._c_owed)
            await self._put(other, int(FmKind.ACCEPTED), b"", number)
            port.mark(CONTROL, END, number)

    async def _send_again(self) -> None:
        """Send what came back again, if that is not too soon."""
        port = self.port
        if not self._rejected or port.cycle < self._again_at:
            return
        self._again_at = port.cycle + AGAIN
        for _ in range(len(self._rejected)):
            packet = self._rejected.popleft()
            self.counters["again"] += 1
            self.again.note(packet.node, Cause.RETURNED)
            port.mark(CONTROL, BEGIN, packet.number)
            port.spend(self._c_return)
            await self._put(packet.node, packet.header, packet.payload, packet.number)
            port.mark(CONTROL, END, packet.number)

    async def _wait(self) -> None:
        """Wait for one packet and take it, or for the time to send again."""
        await self._pay(1)
        await self._send_again()
        if await self._check(max(1, self._again_at - self.port.cycle) if self._rejected else 0):
            await self._take()

    async def _claim(self, number: int) -> None:
        """Get a place for a packet."""
        if self._under_way >= self.places:
            port = self.port
            port.mark(WINDOW_WAIT, BEGIN, number)
            port.waiting_for("its packets to be accepted, in FM_send")
            while self._under_way >= self.places:
                await self._wait()
            port.waiting_for("")
            port.mark(WINDOW_WAIT, END, number)
        self._under_way += 1
