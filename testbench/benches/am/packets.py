"""Packets past the layer: the layer's own way to the NIC, with no window, no sequence numbers and
no handlers."""

from ....host.am.ways import way_of
from ....host.am.wire import SMALL_BYTES
from ....host.port.costs import Path
from ....host.port.node import Node
from ....host.port.words import TIMEOUT

__all__ = ["Packets"]

BEATS = 3
"""Words of a packet: wire header, the layer's header (here all zeros), and one more: the least that
all firmwares take."""
TAKE = Path("bare_take", load=3, branch=1)
"""Reading a packet: its header and its word."""
LIMIT = 50_000_000
"""Cycles after which a packet is lost."""


class Packets:
    """A node's packets. They are not sent again."""

    def __init__(self, node: Node) -> None:
        node.drive_nic("a program without a layer")
        self.node, self.port, self.memory = node, node.port, node.memory
        self._way = way_of(node)
        self._ring = self._way.ring
        self._room = 0
        self._take = node.port.path(TAKE)

    async def open(self) -> None:
        """Set up the rings."""
        await self._way.open(self._ring.allocate())

    async def send(self, peer: int) -> None:
        """Send a packet."""
        port, way = self.port, self._way
        while self._room < SMALL_BYTES:
            self._room = await way.room()
        await port.room(way.entries)
        self._room -= way.takes[BEATS]
        way.put(BEATS, way.header(peer, 8 * (BEATS - 1)), 0, 0, 0, self.node.trace_number())
        if way.stores:
            await port.executed
            for address, data in way.stores:
                self.memory.write(address, data)
            way.stores.clear()

    async def receive(self) -> None:
        """Take the next packet.

        Raises
        ------
        RuntimeError
            None comes.
        """
        port, ring = self.port, self._ring
        port.put_poll(ring.slot, ring.phase, 1, LIMIT)
        await port.executed
        if port.status & TIMEOUT:
            raise RuntimeError(f"no packet has come to {self.node.place} for {LIMIT} cycles")
        if ring.near:
            ring.read(ring.slot)
        else:
            await ring.load()
        port.spend(self._take)
        if port.costs.flush_bytes:
            await port.room(1)
            port.put_flush(ring.slot, 8 * BEATS + 8)
        if ring.advance():
            await self._way.free()
