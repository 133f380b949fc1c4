"""The base of both ends of a message: it says how long messages go, and registers memory for
them."""

from collections.abc import Iterable

from ....layouts.description import Mpi as Settings
from ...kernel.process import Process
from ..costs import Prices
from ..data.copies import Piece
from ..data.memory_store import MemoryStore
from ..data.message_data import Data
from ..data.registration import Region, Registration
from ..progress.channel import Channel, NoRoom
from ..progress.progress import Progress

__all__ = ["BOUNCE", "LongMessages", "READ", "WRITE"]

WRITE, READ, BOUNCE = "write", "read", "bounce"


class LongMessages:
    """Parts of a process's library that its sends and receives use."""

    def __init__(self, process: Process, engine: Progress, store: MemoryStore, prices: Prices,
                 settings: Settings, registrations: dict[str, Registration]) -> None:
        self.process = process
        self.port = process.port
        self.engine = engine
        self.store = store
        self.prices = prices
        self.settings = settings
        self._registrations = registrations

    def way(self, channel: Channel) -> str:
        """Tells how long messages go by ``channel``: as the knob ``mpi.rendezvous`` says, if it
        can."""
        wanted = self.settings.rendezvous
        if wanted == READ and channel.can_read:
            return READ
        return WRITE if channel.can_write and wanted != BOUNCE else BOUNCE

    def in_segments(self, channel: Channel, pieces: list[Piece]) -> bool:
        """Tells whether ``pieces`` become segments of one descriptor (``mpi.derived``); one always
        does."""
        return len(pieces) <= (channel.segments if self.settings.derived == "segments" else 1)

    def charge_blocks(self, data: Data) -> None:
        """Work for the blocks of a derived type, beyond the first."""
        for _ in range(len(data.pieces) - 1):
            self.port.spend(self.prices.segment)

    async def use(self, channel: Channel, pieces: Iterable[Piece]) -> list[Region]:
        """The registered memory that has ``pieces``, until :meth:`leave`.

        Raises
        ------
        NoRoom
            There is none for all of them.
        """
        registration, regions = self._registrations[channel.name], []
        try:
            for piece in pieces:
                regions.append(await registration.use(*piece))
        except NoRoom:
            await self.leave(channel, regions)
            raise
        return regions

    async def leave(self, channel: Channel, regions: Iterable[Region]) -> None:
        """One use of ``regions`` has ended."""
        registration = self._registrations[channel.name]
        for region in regions:
            await registration.leave(region)
