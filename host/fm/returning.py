"""Return to sender: the flow control of Fast Messages.

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
from ...layouts.trace import BEGIN, END, Activity
from ..port.sent_again import Cause
from .costs import Prices
from .frames import FmError, Frames, Packet

__all__ = ["Returning"]

CONTROL, WINDOW_WAIT = int(Activity.CONTROL), int(Activity.WINDOW_WAIT)
RETURNED = FM_HEADER.mask("returned")
KIND = FM_HEADER.mask("kind")
BYTES = FM_HEADER.offset("bytes")
AGAIN = 2000
"""Cycles between two rounds of sending again what came back."""


class Returning:
    """Places, reject queue and receive queue of the packets that ``frames`` moves.

    Attributes
    ----------
    places
        Packets that this node may have under way.
    under_way
        Those that it has.
    quarter
        Of the places: so many are worth a packet of their own.
    rejected
        Packets that came back.
    received
        Packets of the receive queue, and where their payload is.
    again_at
        Cycle before which nothing is sent again.
    """

    def __init__(self, frames: Frames, reject_queue: int, receive_queue: int) -> None:
        self._frames = frames
        self._node = node = frames.node
        self._port = node.port
        most = frames.slots.entries // (node.nodes + 1)
        if reject_queue < 1 or receive_queue < 1:
            raise ValueError("reject_queue and receive_queue must be at least 1, not "
                             f"{reject_queue} and {receive_queue}")
        if not most:
            raise FmError(f"nic.receive_ring = {frames.slots.entries}: Fast Messages of "
                          f"{node.nodes} nodes need a ring of at least {node.nodes + 1} slots")
        self.places = min(reject_queue, most)
        self.quarter = max(1, self.places // 4)
        self.under_way = 0
        self.rejected: deque[Packet] = deque()
        self.received: deque[tuple[Packet, int]] = deque()
        self._receive_queue = receive_queue
        self._kept = self.again_at = self._puts = 0
        prices = node.service(Prices)
        self._c_accepted, self._c_owed = prices.accepted, prices.owed
        self._c_keep, self._c_return = prices.keep, prices.give_back

    async def open(self) -> None:
        """Start the firmware, and allocate the queues."""
        await self._frames.open()
        self._kept = self._node.allocate(
            (self.places + self._receive_queue + 1) * FRAME_BYTES)

    def _place(self, index: int) -> int:
        """Address of frame ``index`` of the two queues, the reject queue first."""
        return self._kept + index * FRAME_BYTES

    async def arrived(self) -> tuple[Packet, int] | None:
        """Take the packet at the ring's head as far as no handler is needed; the packet and the
        size of its message if one is. The slot is still the ring's head then."""
        frames = self._frames
        found = frames.look()
        if found is None:
            await frames.advance()
            return None
        packet, accepted = found
        self.under_way = max(0, self.under_way - accepted)
        header = packet.header
        size = header >> BYTES & 255
        if header & RETURNED:
            frames.counters["returned"] += 1
            self._port.spend(self._c_keep)
            await frames.copied(size, self._place(len(self.rejected) % self.places))
            if len(self.rejected) < self.places:
                self.rejected.append(packet._replace(header=header & ~RETURNED))
        elif header & KIND == FmKind.ACCEPTED:
            self._port.spend(self._c_accepted)
        else:
            return packet, size
        await frames.advance()
        return None

    async def _take(self) -> None:
        """Take the packet at the ring's head without handling it: keep it, or send it back."""
        port, frames = self._port, self._frames
        number = frames.number()
        port.mark(CONTROL, BEGIN, number)
        found = await self.arrived()
        if found is not None:
            packet, size = found
            if len(self.received) < self._receive_queue:
                # One more than there can be: a handler may still use the one before the oldest.
                at = self._place(self.places + self._puts % (self._receive_queue + 1))
                self._puts += 1
                port.spend(self._c_keep)
                await frames.copied(size, at)
                await port.flush()
                frames.memory.write(at, packet.payload)
                self.received.append((packet, at))
                frames.owed[packet.node] += 1
            else:
                frames.counters["rejected"] += 1
                port.spend(self._c_return)
                await frames.put(packet.node, packet.header | RETURNED, packet.payload,
                                 packet.number)
            await frames.advance()
        port.mark(CONTROL, END, number)

    async def pay(self, least: int) -> None:
        """Tell all that are owed ``least`` or more."""
        port = self._port
        for other, owed in enumerate(self._frames.owed):
            if owed < least:
                continue
            self._frames.counters["accepted"] += 1
            number = self._node.trace_number()
            port.mark(CONTROL, BEGIN, number)
            port.spend(self._c_owed)
            await self._frames.put(other, int(FmKind.ACCEPTED), b"", number)
            port.mark(CONTROL, END, number)

    async def send_again(self) -> None:
        """Send what came back again, if that is not too soon."""
        port = self._port
        if not self.rejected or port.cycle < self.again_at:
            return
        self.again_at = port.cycle + AGAIN
        for _ in range(len(self.rejected)):
            packet = self.rejected.popleft()
            self._frames.counters["again"] += 1
            self._frames.again.note(packet.node, Cause.RETURNED)
            port.mark(CONTROL, BEGIN, packet.number)
            port.spend(self._c_return)
            await self._frames.put(packet.node, packet.header, packet.payload, packet.number)
            port.mark(CONTROL, END, packet.number)

    async def wait(self) -> None:
        """Wait for one packet and take it, or for the time to send again."""
        await self.pay(1)
        await self.send_again()
        limit = max(1, self.again_at - self._port.cycle) if self.rejected else 0
        if await self._frames.check(limit):
            await self._take()

    async def claim(self, number: int) -> None:
        """Get a place for a packet."""
        if self.under_way >= self.places:
            port = self._port
            port.mark(WINDOW_WAIT, BEGIN, number)
            port.waiting_for("its packets to be accepted, in FM_send")
            while self.under_way >= self.places:
                await self.wait()
            port.waiting_for("")
            port.mark(WINDOW_WAIT, END, number)
        self.under_way += 1
