"""Makes and frees windows, by all processes of a communicator."""

import itertools
from typing import Any

import numpy as np

from ..calls import Call, Calls, called
from ..channels import Places
from ..data.buffers import Buffers, Data
from ..errors import ErrorClass, MpiError
from ..point_to_point.long_messages import BOUNCE, LongMessages
from ..progress.channel import NoRoom
from ..progress.packets import Packet
from .epochs import SYNCHRONISING
from .everywhere import Everywhere
from .memory import Exposed, Memory, Remote
from .origin import Origin
from .target import Target
from .window import ALLOCATE, CREATE, DYNAMIC, SHARED, Win

__all__ = ["Windows"]

NOWHERE = -1
"""In place of the handle of memory that could not be registered."""


class Windows:
    """The windows of a process. ``library`` is its :class:`~..library.Mpi`."""

    def __init__(self, library: Any, ends: LongMessages, places: Places) -> None:
        self.library = library
        self.calls: Calls = library.calls
        self.everywhere: Everywhere = library.node.run_service(Everywhere)
        self.origin = Origin(ends, self.everywhere)
        self.numbers = itertools.count(1)
        """Of operations."""
        self._ends = ends
        self._places = places
        self._open: dict[int, Win] = {}
        target = Target(ends, self._open.__getitem__)
        self.handlers = {
            Packet.LAYOUT: target.layout, Packet.PUT: target.put, Packet.GET: target.get,
            Packet.ACCUMULATE: target.accumulate, Packet.FETCH: target.fetch,
            Packet.SWAP: target.swap, Packet.GOT: self.origin.got,
            **dict.fromkeys(SYNCHRONISING, self._synchronises)}
        """What handles the packets of windows."""
        # RDMA, of the one channel that leaves the node.
        self._channel = next((one for one in library.channels if one.can_write
                              and one.name != "self" and ends.way(one) != BOUNCE), None)

    async def _synchronises(self, packet: Any, header: Any) -> None:
        await self._open[header.context].epochs.arrived(packet, header)

    # Made

    @called(Call.Win_create)
    async def create(self, memory: Any, unit: int, comm: Any) -> Win:
        """Win.Create."""
        if memory is None:
            memory = np.empty(0, np.uint8)
        return await self._make("Win_create", CREATE, memory, unit, comm)

    @called(Call.Win_create)
    async def allocate(self, size: int, unit: int, comm: Any) -> Win:
        """Win.Allocate."""
        _check("Win_allocate", comm, size, unit)
        return await self._make("Win_allocate", ALLOCATE, np.zeros(size, np.uint8), unit, comm)

    @called(Call.Win_create)
    async def allocate_shared(self, size: int, unit: int, comm: Any) -> Win:
        """Win.Allocate_shared."""
        _check("Win_allocate_shared", comm, size, unit)
        nodes = {self._places.node(rank) for rank in comm.group.world_ranks}
        if len(nodes) > 1:
            raise MpiError(ErrorClass.ERR_RMA_SHARED, f"rank {comm.rank}: Win_allocate_shared on "
                           f"{comm.name}, whose ranks are on {len(nodes)} nodes", [comm])
        sizes = np.zeros(comm.size, np.int64)
        await comm.Allgather(np.array([size]), sizes)
        made = await self._make("Win_allocate_shared", SHARED, (nodes.pop(), sizes.tolist()), unit,
                                comm)
        return made

    @called(Call.Win_create)
    async def create_dynamic(self, comm: Any) -> Win:
        """Win.Create_dynamic."""
        return await self._make("Win_create_dynamic", DYNAMIC, None, 1, comm)

    async def _make(self, call: str, flavor: int, array: Any, unit: int, comm: Any) -> Win:
        library = self.library
        if comm.freed:
            raise MpiError(ErrorClass.ERR_COMM, f"rank {comm.rank}: {call} on {comm.name}, which "
                           "was freed")
        _check(call, comm, 0, unit)
        library.port.spend(library.prices.window)
        own = await comm.Dup()
        shared: Any = None
        if flavor == SHARED:
            node, sizes = array
            key = node, own.context, tuple(comm.group.world_ranks)
            shared = self.everywhere.shared.setdefault(key, np.zeros(sum(sizes), np.uint8))
            begin = sum(sizes[:comm.rank])
            array = shared[begin:begin + sizes[comm.rank]]
        held: list[Data] = []
        regions: list[Exposed] = []
        if flavor != DYNAMIC:
            regions.append(self._exposed(array, held, call, self._reached(own)))
        window = Win(self, own, f"{comm.name}.Win", flavor, array, unit, Memory(*regions))
        window.shared = shared
        window.held += held
        self._open[window.number] = window
        self.everywhere.add(window, library.rank)
        await self._exchange(window)
        return window

    def _reached(self, comm: Any) -> bool:
        """Whether others of ``comm`` reach this process by RDMA."""
        return self._channel is not None and any(
            self._ends.engine.to[world] is self._channel for world in comm.group.world_ranks)

    def _exposed(self, array: Any, held: list[Data], call: str, remote: bool) -> Exposed:
        """``array``, which others are to reach; its place is put into ``held``."""
        flat, _ = Buffers.flat(array, call)
        if len(flat) and not flat.flags.writeable:
            raise MpiError(ErrorClass.ERR_BUFFER, f"{call}: the memory cannot be written")
        data = self.library.buffers.data([flat, len(flat)], call)
        held.append(data)
        place = data.pieces[0][0] if data.pieces else 0
        process = self._ends.process
        if not remote or not len(flat):
            return Exposed(process, flat, place)
        made = Remote(process, flat, place)
        self.calls.before.append(made.enter)
        return made

    async def _exchange(self, window: Win) -> None:
        """Tell all others of the own memory, and hear of theirs."""
        [*regions] = window.memory.regions
        address = size = handle = 0
        if regions:
            address, size = regions[0].address, regions[0].size
        if size and self._channel is not None and self._reached(window.comm):
            try:
                window.regions = await self._ends.use(self._channel, [(address, size)])
                handle = window.regions[0].handle
            except NoRoom:
                handle = NOWHERE
        mine = np.array([address, size, window.unit, handle], np.int64)
        every = np.zeros((window.size, 4), np.int64)
        await window.comm.Allgather(mine, every)
        for peer, (address, size, unit, handle) in zip(window.epochs.peers, every.tolist(),
                                                       strict=True):
            peer.address, peer.size, peer.unit, peer.handle = address, size, unit, handle
            channel = self._ends.engine.to[peer.world]
            near = (self._channel is None or channel is not self._channel or not regions
                    or handle == NOWHERE)
            peer.writes = not near
            peer.reads = not near and channel.can_read

    # Freed

    @called(Call.Win_free)
    async def free(self, window: Win) -> None:
        """Win.Free."""
        self.library.port.spend(self.library.prices.window)
        await window.epochs.free()
        for region in window.memory.regions:
            if isinstance(region, Remote):
                self.calls.before.remove(region.enter)
        if self._channel is not None:
            await self._ends.leave(self._channel, window.regions)
        for data in window.held:
            data.free()
        window.freed = True
        del self._open[window.number]
        self.everywhere.remove(window, self.library.rank)
        window.comm.Free()

    # Attached memory

    @called(Call.Win_attach)
    async def attach(self, window: Win, memory: Any, address: int | None) -> int:
        """Win.Attach."""
        self._dynamic(window, "Win_attach")
        held: list[Data] = []
        region = self._exposed(memory, held, "Win_attach", False)
        if address is None:
            address = _address(region.flat)
        region.base = address
        for other in window.memory.regions:
            if address < other.base + other.size and other.base < address + region.size:
                raise MpiError(ErrorClass.ERR_RMA_ATTACH, f"rank {window.rank}: Win_attach of "
                               f"{region.size} bytes, of which some are attached, {window.name}",
                               [window])
        window.memory.regions.append(region)
        window.held += held
        return address

    @called(Call.Win_detach)
    async def detach(self, window: Win, memory: Any) -> None:
        """Win.Detach."""
        self._dynamic(window, "Win_detach")
        address = memory if isinstance(memory, int) else _address(
            Buffers.flat(memory, "Win_detach")[0])
        found = next((one for one in window.memory.regions if one.base == address), None)
        if found is None:
            raise MpiError(ErrorClass.ERR_RMA_ATTACH, f"rank {window.rank}: Win_detach of memory "
                           f"that is not attached, {window.name}", [window])
        window.memory.regions.remove(found)
        for data in window.held:
            if data.pieces and data.pieces[0][0] == found.address:
                data.free()
                window.held.remove(data)
                break

    def _dynamic(self, window: Win, call: str) -> None:
        window.check(call)
        self.library.port.spend(self.library.prices.epoch)
        if window.flavor != DYNAMIC:
            raise MpiError(ErrorClass.ERR_RMA_FLAVOR, f"rank {window.rank}: {call} on "
                           f"{window.name}, which is not dynamic", [window])


def _address(flat: Any) -> int:
    """Where the program has an array: the displacement of its memory in a dynamic window."""
    return int(flat.__array_interface__["data"][0])


def _check(call: str, comm: Any, size: int, unit: int) -> None:
    """Refuse what no window may have."""
    for error, what, wrong in ((ErrorClass.ERR_SIZE, f"size {size}", size < 0),
                               (ErrorClass.ERR_DISP, f"displacement unit {unit}", unit < 1)):
        if wrong:
            raise MpiError(error, f"rank {comm.rank}: {call}: {what}, {comm.name}", [comm])
