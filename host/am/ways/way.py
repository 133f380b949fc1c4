"""The interface of the ways from the CPU to the NIC, and what they have in common."""

from typing import Protocol

from ...nic.done_count import Report
from ...port.node import Node
from .. import wire
from ..costs import Prices
from ..pinned_region import PinnedRegion
from ..receive_ring import ReceiveRing

__all__ = ["SmallRoom", "Taken", "Way"]

LARGE = (wire.SMALL_BYTES,) * (wire.SMALL_BEATS + 1)


class SmallRoom(Protocol):
    """Room for small packets: ``space`` bytes when it was last read."""

    space: int

    async def find_room(self) -> bool:
        """Read it again; return whether a small packet has room."""
        ...


class Taken:
    """Tells the NIC how many slots of ``ring`` have been taken, by a word at ``place``.

    Parameters
    ----------
    mask
        Bits of the count.
    """

    def __init__(self, node: Node, ring: ReceiveRing, place: int, mask: int) -> None:
        self._port, self._ring = node.port, ring
        self._place, self._mask = place, mask
        self._c_taken = node.service(Prices).taken

    async def tell(self, recheck: int = 0) -> None:
        """Tell it; with the bit ``recheck``, if that is given."""
        port = self._port
        await port.room(1)
        port.spend(self._c_taken)
        port.put_write(self._place, 1, self._ring.taken & self._mask | recheck)


class Way:
    """A way to the NIC. Puts are plain functions; they need room in the NIC, which :meth:`room` and
    :meth:`bulk_room` find.

    Attributes
    ----------
    ring
        Where packets arrive.
    bulk_bytes
        Most data of a bulk packet.
    entries, bulk_entries
        Operations of the port that a packet takes; a bulk packet.
    takes
        Room that a packet takes, in bytes, by its words.
    bulk_takes
        Room for small packets that a bulk packet takes.
    stores
        Words to be written to memory as soon as what was put has been executed: address, data.
    """

    entries = 1
    bulk_entries = 2
    takes = LARGE
    bulk_takes = wire.SMALL_BYTES
    ring: ReceiveRing
    stores: list[tuple[int, bytes]]
    _report: Report
    _taken: Taken

    def __init__(self, node: Node) -> None:
        self.node, self.port, self.memory = node, node.port, node.memory
        self.ring = ReceiveRing(node)
        self.bulk_bytes = node.description.nic.mtu
        self.stores = []
        self._pinned: PinnedRegion | None = None

    async def open(self, slots: int) -> None:
        """Set up the way, with the receive ring at ``slots``."""
        raise NotImplementedError

    def header(self, destination: int, behind: int, bulk: bool = False) -> int:
        """The first word of a packet with ``behind`` bytes behind its wire header."""
        raise NotImplementedError

    # Out

    async def room(self) -> int:
        """Read the room for small packets, in bytes."""
        raise NotImplementedError

    def put(self, beats: int, header: int, word: int, low: int, high: int, number: int) -> None:
        """Put a packet of ``beats`` words."""
        raise NotImplementedError

    async def bulk_room(self, small: SmallRoom) -> bool:
        """Tells whether a bulk packet has room; here it takes that of small packets."""
        return small.space >= wire.SMALL_BYTES or await small.find_room()

    def put_bulk(self, header: int, word: int, low: int, payload: int, length: int, number: int
                 ) -> None:
        """Put a packet whose last ``length`` bytes are at ``payload``."""
        raise NotImplementedError

    async def tell(self) -> None:
        """Tell the NIC of the last packets, if it has not been: ways may tell it of several bulk
        packets at once."""

    def watch_room(self, small: bool, bulk: bool, timeout: int) -> None:
        """Put the rest of a poll that also watches for room, of small packets or of bulk
        packets."""
        self._report.put_poll(timeout)

    @property
    def posted(self) -> int:
        """Packets put into the queue of bulk packets since :meth:`open`."""
        return self._report.posted

    async def done(self) -> int:
        """Read how many of them the NIC has taken."""
        await self._report.look()
        return self._report.done

    # In

    async def free(self) -> None:
        """Tell the NIC that slots of the ring have been taken."""
        await self._taken.tell()

    async def recheck(self) -> None:
        """Tell the NIC how many slots have been taken, and have it interrupt again if it has filled
        more. Firmware that has the ring is told nothing."""

    # For the ways

    def _pin(self, packets: int) -> None:
        """Copy bulk data to a pinned region if the description says so. ``packets``: most that the
        NIC has been given and not given back."""
        if self.node.description.am.bulk == "pinned":
            self._pinned = PinnedRegion(self.node, packets)
            self.bulk_entries += 2

    def _place(self, payload: int, length: int) -> int:
        """Where the NIC is to get the ``length`` bytes at ``payload``."""
        return payload if self._pinned is None else self._pinned.copy(payload, length)

    async def _look(self) -> int:
        """Room in bytes where each entry of the queue counts as a small packet."""
        await self._report.look()
        return wire.SMALL_BYTES * self._report.free
