"""The channel of the processes of one node, one on each CPU: queues in the memory that they share.

Each process has one receive queue for all others, so a call that waits spins on one word. It is a
line with the number of the next slot, which senders count up by CAS, and slots of two lines of 64
bytes: a state, whom it is from, the header, and short data. The state is stored last. Longer data
lie in a block, of which each sender has a few of its own at each receiver. (The queues are those of
Active Messages between the CPUs of an SMP: Lumetta, Mainwaring, Culler, Supercomputing 1997.)

Slots never run out, because both ends count credits; a returned credit frees the sender's block,
too, for packets are taken in the order of their slots.
"""

from collections import deque
from collections.abc import Awaitable, Callable
from struct import Struct
from typing import Any

from ...kernel.process import Process
from ...port.costs import Path
from ...port.node import Node
from ...port.port import Watch
from ...port.prices import prices
from ...port.suspension import NOTHING
from ...port.words import F_ONCE, TIMEOUT
from ..data.copies import BEGIN, COPY, END, Pieces, gather, scatter, total, touch_for
from ..errors import ErrorClass, MpiError
from ..progress.channel import Compute
from ..progress.packets import CHANNEL_AT, LONG_BYTES, Packet
from .buffered import CREDITS, Debts
from .credits import Credits
from .places import Places

__all__ = ["ShmChannel"]

SEND = Path("shm_send", call=1, load=6, store=3, branch=6, alu=6)
"""A packet: the receiver's queue, credits, a block, the slot's place."""
CLAIM = Path("shm_claim", load=1, branch=1, alu=1)
"""Each CAS, and whether it took what it was for."""
TAKE = Path("shm_take", call=1, load=5, store=2, branch=4, alu=4)
"""A packet found: the next slot, the sender's credits."""
RELEASE = Path("shm_release", call=1, store=1, branch=1, alu=1)


class _Prices(prices(globals(), lambda description: description.mpi.path_scale)):
    """The paths of the channel as a CPU charges them."""



LINE = 64
SLOT_BYTES = 128
STATE, FROM = 0, 8
HEAD = Struct(f"<QQ{LONG_BYTES}s")
"""The state, with the block's address; the sender and the bytes of data; the header."""
DATA_AT = HEAD.size
INLINE = SLOT_BYTES - DATA_AT
"""Most data in a slot."""
FREE, CLAIMED, READY = range(3)
FREED = FREE.to_bytes(8, "little")
SENDS = 16
"""Credits of a process at each other."""
OWED = 2
"""Credits owed beyond which the peer is told. Fewer than BLOCKS, so that a sender whose blocks have
all been taken hears of one."""
BLOCKS = 4
KEPT = 2
"""Credits that messages with data leave for the packets of others."""


class _Queue:
    """The receive queue of ``rank``: where it is, in the node's memory."""

    def __init__(self, node: Node, rank: int, ranks: int, block: int) -> None:
        each = SENDS + Credits.further(SENDS, OWED)
        self.slots = each * (ranks - 1)
        self._block = block
        length = LINE + self.slots * SLOT_BYTES + ranks * BLOCKS * block
        self.tail = node.shared(f"MPI {rank}", length, LINE)

    def slot(self, number: int) -> int:
        """Address of slot ``number``, counted without end."""
        return self.tail + LINE + number % self.slots * SLOT_BYTES

    def block(self, sender: int, number: int) -> int:
        """Address of block ``number`` of the ``sender``th process of the node."""
        return (self.tail + LINE + self.slots * SLOT_BYTES
                + (sender * BLOCKS + number % BLOCKS) * self._block)


class _Peer:
    """Rank ``rank`` and its ``queue``.

    ``claimed``: the number of the last slot here that is known to be taken, and one. ``sent``:
    whether each packet under way has a block. ``blocks``: of them; ``used``: of all so far.
    """

    def __init__(self, rank: int, queue: _Queue) -> None:
        self.rank = rank
        self.queue = queue
        self.credits = Credits(SENDS, OWED)
        self.claimed = 0
        self.sent: deque[bool] = deque()
        self.blocks = 0
        self.used = 0


class _Received:
    """A packet in slot ``slot``, whose data are at ``data``."""

    __slots__ = ("_channel", "_slot", "_data", "rank", "header", "length")

    def __init__(self, channel: "ShmChannel", rank: int, header: bytes, slot: int, data: int,
                 length: int) -> None:
        self._channel = channel
        self._slot = slot
        self._data = data
        self.rank = rank
        self.header = header
        self.length = length

    def take(self, pieces: Pieces) -> Awaitable[None]:
        if not self.length:
            return NOTHING
        return self._channel.copy_out(self._data, self.length, pieces)

    def release(self) -> Awaitable[None]:
        return self._channel.release(self._slot, self.rank)


class ShmChannel:
    """Queues between this process and the others of its node."""

    name = "shm"
    can_write = False
    can_read = False
    segments = 1
    compute: Compute | None = None

    def __init__(self, node: Node, process: Process, places: Places) -> None:
        rank, ranks = places.rank, len(places.beside) + 1
        self.process = process
        self._node = node
        self._port = node.port
        self._rank = rank
        self._index = places.index(rank)
        self._block = node.description.mpi.buffer_bytes
        self.eager_bytes = self._block
        prices = node.service(_Prices)
        self._send_path, self._claim = prices.send, prices.claim
        self._take, self._release = prices.take, prices.release
        try:
            queues = {one: _Queue(node, one, ranks, self._block)
                      for one in sorted((rank, *places.beside))}
        except MemoryError as error:
            raise MpiError(ErrorClass.ERR_NO_MEM, f"rank {rank}: queues of {ranks} processes: "
                           f"{error}") from None
        self._mine = queues[rank]
        self._peers = {one: _Peer(one, queue) for one, queue in queues.items() if one != rank}
        self._head = 0
        self._debts = Debts([self], lambda peer: self._put(peer, CREDITS, ()))

    async def open(self) -> None:
        pass

    async def close(self) -> None:
        pass

    # Packets that go

    def ready(self, rank: int) -> bool:
        peer = self._peers[rank]
        return peer.credits.left > 0 and peer.blocks < BLOCKS

    def generous(self, rank: int) -> bool:
        peer = self._peers[rank]
        return peer.credits.left > KEPT and peer.blocks < BLOCKS

    async def send(self, rank: int, header: bytes, pieces: Pieces) -> None:
        peer = self._peers[rank]
        peer.credits.left -= 1
        length = total(pieces)
        block = 0
        if length > INLINE:
            block = peer.queue.block(self._index, peer.used)
            peer.used += 1
            peer.blocks += 1
            await self._copy_in(pieces, length, block)
        peer.sent.append(block > 0)
        await self._put(peer, header, pieces, length, block)

    async def _put(self, peer: _Peer, header: bytes, pieces: Pieces, length: int = 0,
                   block: int = 0) -> None:
        """A packet into the next slot of ``peer``'s queue."""
        port, node = self._port, self._node
        port.spend(self._send_path)
        if peer.credits.owed:
            header = (header[:CHANNEL_AT] + bytes([peer.credits.tell()])
                      + header[CHANNEL_AT + 1:])
        number = await self._next(peer)
        slot = peer.queue.slot(number)
        port.spend(self._claim)
        if await port.cas(slot + STATE, FREE, CLAIMED) != FREE:
            raise MpiError(ErrorClass.ERR_OTHER, f"rank {self._rank}: slot {number} of rank "
                           f"{peer.rank} is taken, though there was a credit")
        word = self._rank | length << 16
        await node.store(slot + FROM, word.to_bytes(8, "little") + header.ljust(LONG_BYTES, b"\0"))
        if length and not block:
            await self._copy_in(pieces, length, slot + DATA_AT)
        await node.store(slot + STATE, (READY | block << 8).to_bytes(8, "little"))

    async def _next(self, peer: _Peer) -> int:
        """The number of the next slot, which nobody else gets."""
        port, found = self._port, peer.claimed
        while True:
            port.spend(self._claim)
            number, found = found, await port.cas(peer.queue.tail, found, found + 1)
            if found == number:
                peer.claimed = number + 1
                return number

    # Packets that come

    async def look(self) -> _Received | None:
        while await self._there(F_ONCE):
            packet = await self._packet()
            if packet is not None:
                return packet
        return None

    async def wait(self) -> _Received | None:
        await self._there(0)
        return await self._packet()

    def awaits(self) -> tuple[list[Watch], int]:
        return [Watch(self._mine.slot(self._head) + STATE, READY, READY)], 0

    async def _there(self, flags: int) -> bool:
        """Whether the slot at the head is ready; spins until it is, if there are no ``flags``."""
        port = self._port
        port.put_poll(self._mine.slot(self._head) + STATE, READY, READY, 0, flags)
        await port.executed
        return not port.status & TIMEOUT

    async def _packet(self) -> _Received | None:
        """The packet at the head; None if it tells of credits and nothing else."""
        port, node = self._port, self._node
        port.spend(self._take)
        slot = self._mine.slot(self._head)
        self._head += 1
        state, word, header = HEAD.unpack(await node.load(slot, DATA_AT))
        rank, length, block = word & 0xFFFF, word >> 16, state >> 8
        peer = self._peers[rank]
        credits = header[CHANNEL_AT]
        peer.credits.left += credits
        for _ in range(credits):
            peer.blocks -= peer.sent.popleft()
        if header[0] == Packet.CREDITS:
            await self._give_back(slot)
            return None
        return _Received(self, rank, header, slot, block or slot + DATA_AT, length)

    async def release(self, slot: int, rank: int) -> None:
        """The packet in ``slot`` has been handled."""
        await self._give_back(slot)
        await self._debts.owe(self._peers[rank])

    def _give_back(self, slot: int) -> Awaitable[None]:
        self._port.spend(self._release)
        return self._node.store(slot + STATE, FREED)

    # Copies

    async def _copy_in(self, pieces: Pieces, length: int, place: int) -> None:
        """Data of the process to ``place`` in the node's memory."""
        port, process = self._port, self.process
        port.mark(COPY, BEGIN, 0)
        port.work("copy_word", max(-(-length // 8), len(pieces)))
        for at, size in pieces:
            await process.touch(at, size)
        await port.touch(place, length, store=True)
        await port.flush()
        port.mark(COPY, END, 0)
        process.memory.write(place, gather(process, pieces))

    async def copy_out(self, place: int, length: int, pieces: Pieces) -> None:
        """Data at ``place`` in the node's memory to the process."""
        port, process = self._port, self.process
        port.mark(COPY, BEGIN, 0)
        port.work("copy_word", max(-(-length // 8), len(pieces)))
        await port.touch(place, length)
        await touch_for(process, pieces, length)
        port.mark(COPY, END, 0)
        scatter(process, pieces, process.memory.view(place, length))

    # Memory

    async def register(self, address: int, length: int) -> int:
        raise NotImplementedError("shared memory has no registrations")

    async def deregister(self, address: int, length: int, handle: int) -> None:
        raise NotImplementedError("shared memory has no registrations")

    async def write(self, rank: int, pieces: Pieces, handles: list[int], address: int, handle: int,
                    done: Callable[[], Any]) -> None:
        raise NotImplementedError("processes have no memory of others")

    async def read(self, rank: int, pieces: Pieces, handles: list[int], address: int, handle: int,
                   done: Callable[[], Any]) -> None:
        raise NotImplementedError("processes have no memory of others")


if OWED >= BLOCKS or INLINE <= 0:
    raise AssertionError("a slot does not hold what it must")
