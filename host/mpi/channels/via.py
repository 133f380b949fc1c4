"""The channel over VIA: a VI of Reliable Delivery to each process on another node, one completion
queue.

Every VI has buffers posted that are all alike; a packet is a message into one of them. Sends are
copied into registered buffers first. Both ends count credits, because a message without a posted
receive breaks the connection. A VI begins with ``mpi.prepost`` credits, and gets
``mpi.prepost_used`` when its first message has come.
"""

from collections import deque
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from ....layouts.description import Description, Mpi
from ....layouts.via import STATUS_WORD, TRANSLATION_BYTES
from ...kernel.process import Process
from ...port.node import Node
from ...port.port import Watch
from ...via import descriptors
from ...via.attributes import MemAttributes, NetAddress, ViAttributes
from ...via.descriptors import LENGTH, Segment, Single
from ...via.handles import Vi
from ...via.returns import VIP_INFINITE, VIP_RETURN
from ...via.vipl.vipl import Vipl
from ..data.copies import Pieces
from ..errors import ErrorClass, MpiError
from ..progress.channel import Compute, NoRoom
from ..progress.packets import LONG_BYTES
from .buffered import CREDITS, Buffer, Debts, Received, queue_packet, received
from .credits import Credits
from .places import Places

__all__ = ["ViaChannel"]

SUCCESS = VIP_RETURN.SUCCESS
DESCRIPTOR = 64
OWED = 5
"""Credits owed beyond which the peer is told."""
KEPT = 2
"""Credits that messages with data leave for the packets of others."""
SENDS = 32
"""Buffers for packets that are sent."""
SPIN = 1 << 28
"""Cycles for which a call that waits checks the completion queue, before it waits for the
interrupt."""


class _Peer:
    """The VI to ``rank``, its credits, and what its posted sends are for, oldest first."""

    def __init__(self, rank: int, vi: Vi, credits: Credits) -> None:
        self.rank = rank
        self.vi = vi
        self.credits = credits
        self.sends: deque[Callable[[], Any]] = deque()
        self.used = False


class ViaChannel:
    """VIs to all processes on other nodes."""

    name = "via"
    segments = 8

    @staticmethod
    def pages(description: Description, others: int) -> int:
        """Pages that a process registers, at most, for its own use with ``others`` on other nodes:
        buffers, the completion queue, descriptors of writes and reads."""
        settings, page = description.mpi, description.via.page_bytes
        receives, each = _receives(settings), settings.buffer_bytes + DESCRIPTOR
        later = settings.prepost_used - settings.prepost
        entries = others * (receives + 8) + 2 * SENDS
        lengths = [SENDS * each, 8 << entries.bit_length()]
        lengths += [(receives - later) * each, later * each, page] * others
        return sum(-(-length // page) for length in lengths)

    @classmethod
    def memory(cls, description: Description, others: int) -> int:
        """Bytes, at most, of a process with ``others`` on other nodes, and of the layers below: the
        translation table, or the kernel's buffers for packets."""
        via = description.via
        below = (via.send_slots * -(-description.nic.mtu // 64) * 64 if via.design == "kernel"
                 else via.translations * TRANSLATION_BYTES)
        return cls.pages(description, others) * via.page_bytes + below

    def __init__(self, node: Node, process: Process, places: Places) -> None:
        settings = node.description.mpi
        self.process = process
        self._node = node
        self._port = node.port
        self._rank = places.rank
        self._places = places
        self._vipl = vipl = Vipl(process)
        vipl.spin = SPIN
        self._posting = vipl.posting
        self._size = settings.buffer_bytes
        self.eager_bytes = self._size - LONG_BYTES
        self._prepost, self._more = settings.prepost, settings.prepost_used
        self._receives = _receives(settings)
        provider = vipl.provider
        self._post_entries = vipl.post_entries
        self.compute: Compute | None = vipl.compute if provider.timers else None
        """A kernel that has time-outs carries the packets; a NIC needs no CPU for them."""
        self.can_write = provider.rdma
        self.can_read = provider.rdma and provider.rdma_read
        self._peers: dict[int, _Peer] = {}
        self._by_vi: dict[int, _Peer] = {}
        self._buffers: dict[int, tuple[Buffer, int, int]] = {}
        """By receive descriptor: its buffer, the handle of both, and where its Length is."""
        self._free: list[tuple[Single, Buffer]] = []
        """Send descriptors with their buffers."""
        self._nic: Any = None
        self._tag: Any = None
        self._cq: Any = None
        self._debts = Debts(self._free, lambda peer: self._send(peer, CREDITS, ()))
        self._outstanding = 0
        self._rooms: list[int] = []
        self._room: dict[int, int] = {}
        """Descriptors for writes and reads that are free, and the handle of each."""
        self._most = 1 << 20

    # Opening and closing

    async def open(self) -> None:
        vipl, others = self._vipl, self._places.elsewhere
        self._nic = self._sound("VipOpenNic", await vipl.VipOpenNic("nic0"))
        self._tag = self._sound("VipCreatePtag", await vipl.VipCreatePtag(self._nic))
        attributes = self._sound("VipQueryNic", await vipl.VipQueryNic(self._nic))
        self._most = min(self._most, attributes.max_transfer_size)
        self.segments = min(self.segments, attributes.max_segments - 1)
        receives = self._receives
        if receives > attributes.max_descriptors_per_queue:
            raise MpiError(ErrorClass.ERR_NO_MEM, f"via.queue_depth = "
                           f"{attributes.max_descriptors_per_queue}: a VI of MPI has {receives} "
                           f"receives posted (mpi.prepost_used = {self._more})")
        entries = min(attributes.max_cq_entries, len(others) * (receives + 8) + 2 * SENDS)
        self._cq = self._sound("VipCreateCQ", await vipl.VipCreateCQ(self._nic, entries))
        base, handle = await self._memory(SENDS * (self._size + DESCRIPTOR))
        for slot in reversed(range(SENDS)):
            buffer = Buffer(self.process, base + SENDS * DESCRIPTOR + slot * self._size)
            self._free.append((Single(self.process, base + slot * DESCRIPTOR, buffer.va, handle),
                               buffer))
        for rank in others:
            vi = self._sound("VipCreateVi", await vipl.VipCreateVi(
                self._nic, ViAttributes(self._tag, max_transfer=self._most,
                                        rdma_write=self.can_write, rdma_read=self.can_read),
                self._cq, self._cq))
            peer = _Peer(rank, vi, Credits(self._prepost, OWED))
            self._peers[rank] = self._by_vi[vi.number] = peer
            await self._post_new(peer, self._prepost + Credits.further(self._more, OWED))
        for rank in others:
            here = NetAddress(self._node.number, self._name(rank, self._rank))
            there = NetAddress(self._places.node(rank), self._name(self._rank, rank))
            self._sound("VipConnectPeerRequest", await vipl.VipConnectPeerRequest(
                self._peers[rank].vi, here, there, VIP_INFINITE))
        for rank in others:
            self._sound("VipConnectPeerWait", await vipl.VipConnectPeerWait(self._peers[rank].vi))

    @staticmethod
    def _name(remote: int, local: int) -> bytes:
        return b"MPI" + local.to_bytes(2, "little") + remote.to_bytes(2, "little")

    async def _memory(self, length: int) -> tuple[int, int]:
        """Registered memory: its address and handle."""
        try:
            address = self.process.allocate(length, fresh=True)
        except MemoryError as error:
            ranks = len(self._places.beside) + 1
            others = len(self._places.elsewhere)
            need = ranks * (others * self._receives + SENDS) * (self._size + DESCRIPTOR)
            raise MpiError(
                ErrorClass.ERR_NO_MEM, f"rank {self._rank}: {error}; {ranks} ranks of a node with "
                f"VIs to {others} others have buffers of up to {need} bytes "
                f"(mpi.buffer_bytes = {self._size}, mpi.prepost_used = {self._more})") from None
        handle = self._sound("VipRegisterMem", await self._vipl.VipRegisterMem(
            self._nic, address, length, MemAttributes(self._tag)))
        return address, handle

    async def _post_new(self, peer: _Peer, count: int) -> None:
        """Post ``count`` new receive buffers at ``peer``."""
        base, handle = await self._memory(count * (self._size + DESCRIPTOR))
        for slot in range(count):
            descriptor = base + slot * DESCRIPTOR
            buffer = Buffer(self.process, base + count * DESCRIPTOR + slot * self._size)
            await descriptors.receive(self.process, descriptor,
                                      [Segment(buffer.va, handle, self._size)])
            self._buffers[descriptor] = (buffer, handle,
                                         self.process.physical(descriptor) + STATUS_WORD)
            await self._post_receive(peer, descriptor, handle)

    async def _post_receive(self, peer: _Peer, descriptor: int, handle: int, owed: bool = False
                            ) -> None:
        """Post a buffer; ``owed``: it was a packet's, and is a credit of the peer."""
        await self._port.room(self._post_entries)
        code = await self._posting.post(peer.vi.receive, descriptor, handle)
        if code is not None:
            self._sound("VipPostRecv", code)
        if owed:
            await self._debts.owe(peer)

    async def close(self) -> None:
        while not self.idle:
            await self.wait()
        await self._vipl.settle(self._nic)

    @property
    def idle(self) -> bool:
        return not self._outstanding

    # Packets

    def ready(self, rank: int) -> bool:
        return bool(self._peers[rank].credits.left and self._free)

    def generous(self, rank: int) -> bool:
        return self._peers[rank].credits.left > KEPT and len(self._free) > 1

    def send(self, rank: int, header: bytes, pieces: Pieces) -> Awaitable[None]:
        peer = self._peers[rank]
        peer.credits.left -= 1
        return self._send(peer, header, pieces)

    async def _send(self, peer: _Peer, header: bytes, pieces: Pieces) -> None:
        slot = self._free.pop()
        descriptor, buffer = slot
        descriptor.queue(queue_packet(self.process, buffer, header, pieces, peer.credits))
        await self._port.room(self._post_entries)
        code = await self._post(peer, descriptor.va, descriptor.handle,
                                partial(self._free.append, slot))
        if code is not None:
            self._sound("VipPostSend", code)

    def _post(self, peer: _Peer, descriptor: int, handle: int, done: Callable[[], Any]
              ) -> Awaitable[VIP_RETURN | None]:
        """Post a send, a write or a read; None: it is posted."""
        peer.sends.append(done)
        self._outstanding += 1
        return self._posting.post(peer.vi.send, descriptor, handle)

    def look(self) -> Awaitable[Received | None]:
        return self._next(False)

    def wait(self) -> Awaitable[Received | None]:
        return self._next(True)

    def awaits(self) -> tuple[list[Watch], int] | None:
        return self._vipl.awaits(self._cq)

    async def _next(self, waits: bool) -> Received | None:
        """The next packet. None if there is none, or, of a call that ``waits``, if a completion
        was of something else."""
        while True:
            code, vi, receive, descriptor = await self._vipl.next(self._cq, wait=waits)
            if vi is None:
                return None
            peer = self._by_vi[vi.number]
            if code is not SUCCESS or descriptor is None:
                raise self._failed("a receive" if receive else "a send", code, peer)
            if not receive:
                self._outstanding -= 1
                result = peer.sends.popleft()()
                if result is not None and hasattr(result, "__await__"):
                    await result
                await self._debts.tell()
                if waits:
                    return None
                continue
            buffer, handle, place = self._buffers[descriptor]
            process = self.process
            packet = received(process, peer.rank, buffer, process.memory.word(place) & LENGTH,
                              peer.credits,
                              partial(self._post_receive, peer, descriptor, handle, True))
            await self._port.settle()
            if not peer.used:
                await self._used(peer)
            if packet is None:
                await self._post_receive(peer, descriptor, handle)
            if packet is not None or waits:
                return packet

    async def _used(self, peer: _Peer) -> None:
        """The first packet of ``peer``: there are more buffers for it from now on."""
        peer.used = True
        if self._more > self._prepost:
            await self._post_new(peer, self._more - self._prepost)
            peer.credits.owed += self._more - self._prepost

    # Memory

    async def register(self, address: int, length: int) -> int:
        result = await self._vipl.VipRegisterMem(
            self._nic, address, length, MemAttributes(self._tag, self.can_write, self.can_read))
        if result[0] is VIP_RETURN.ERROR_RESOURCE:
            raise NoRoom
        handle: int = self._sound("VipRegisterMem", result)
        return handle

    async def deregister(self, address: int, length: int, handle: int) -> None:
        self._sound("VipDeregisterMem",
                    await self._vipl.VipDeregisterMem(self._nic, address, handle))

    async def write(self, rank: int, pieces: Pieces, handles: list[int], address: int, handle: int,
                    done: Callable[[], Any]) -> None:
        await self._rdma(rank, pieces, handles, address, handle, done, descriptors.rdma_write)

    async def read(self, rank: int, pieces: Pieces, handles: list[int], address: int, handle: int,
                   done: Callable[[], Any]) -> None:
        await self._rdma(rank, pieces, handles, address, handle, done, descriptors.rdma_read)

    async def _rdma(self, rank: int, pieces: Pieces, handles: list[int], address: int, handle: int,
                    done: Callable[[], Any], build: Any) -> None:
        """One descriptor for each part of as many bytes as a transfer may have."""
        peer = self._peers[rank]
        parts = _parts([Segment(at, one, length) for (at, length), one in
                        zip(pieces, handles, strict=True)], self._most)
        for number, part in enumerate(parts):
            descriptor = await self._descriptor()
            await build(self.process, descriptor, part, Segment(address, handle))
            address += sum(segment.length for segment in part)
            last = number == len(parts) - 1
            await self._port.room(self._post_entries)
            code = await self._post(peer, descriptor, self._room[descriptor],
                                    _both(lambda one=descriptor: self._rooms.append(one),
                                          done if last else None))
            if code is not None:
                self._sound("VipPostSend", code)

    async def _descriptor(self) -> int:
        """Room for a descriptor of up to ``self.segments`` + 1 segments."""
        if not self._rooms:
            size = -(-(32 + 16 * (self.segments + 1)) // DESCRIPTOR) * DESCRIPTOR
            count = max(1, self.process.page_bytes // size)
            base, handle = await self._memory(count * size)
            for slot in reversed(range(count)):
                self._room[base + slot * size] = handle
                self._rooms.append(base + slot * size)
        return self._rooms.pop()

    # Errors

    def _failed(self, what: str, code: VIP_RETURN, peer: _Peer) -> MpiError:
        return MpiError(ErrorClass.ERR_OTHER, f"rank {self._rank}: {what} at the VI to rank "
                        f"{peer.rank} ended with {code.name}")

    def _sound(self, call: str, result: Any) -> Any:
        code, *values = result if isinstance(result, tuple) else (result,)
        if code is not SUCCESS:
            raise MpiError(ErrorClass.ERR_OTHER, f"rank {self._rank}: {call}: {code.name}")
        return values[0] if len(values) == 1 else tuple(values) or None


def _receives(settings: Mpi) -> int:
    """Buffers of a VI that is used."""
    return settings.prepost_used + Credits.further(settings.prepost_used, OWED)


def _both(first: Callable[[], Any], second: Callable[[], Any] | None) -> Callable[[], Any]:
    def both() -> Any:
        first()
        return None if second is None else second()
    return both


def _parts(segments: list[Segment], most: int) -> list[list[Segment]]:
    """``segments`` in lots of at most ``most`` bytes."""
    lots: list[list[Segment]] = [[]]
    left = most
    for va, handle, length in segments:
        while length:
            part = min(left, length)
            lots[-1].append(Segment(va, handle, part))
            va, length, left = va + part, length - part, left - part
            if not left:
                lots.append([])
                left = most
    return [lot for lot in lots if lot]
