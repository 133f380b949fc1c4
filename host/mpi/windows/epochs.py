"""Epochs: fence, post and start, locks, and the operations that each allows.

- *Fence*: all that this process has begun is done at its targets (a packet behind it, and an
  answer); then all wait for all, by dissemination.
- *Post and start*: each target tells each of its origins, which wait for it; each origin tells each
  of its targets when it is done, behind all that it has sent.
- *Locks*: the target grants them one after the other. A lock of all is taken where it is used.
  Unlocking is a packet behind all else, and its answer.

Packets for a target are handled in its calls alone.
"""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any

from ..communicators.groups import Group
from ..errors import ErrorClass, MpiError
from ..progress.channel import Arrived
from ..progress.packets import Header, Packet
from ..progress.progress import Progress
from .locks import EXCLUSIVE, SHARED, Lock
from .operation import Peer

__all__ = ["ASSERTIONS", "Epochs", "MODE_NOCHECK", "MODE_NOPRECEDE", "MODE_NOPUT", "MODE_NOSTORE",
           "MODE_NOSUCCEED"]

MODE_NOCHECK, MODE_NOSTORE, MODE_NOPUT = 1024, 2048, 4096
MODE_NOPRECEDE, MODE_NOSUCCEED = 8192, 16384
ASSERTIONS = MODE_NOCHECK | MODE_NOSTORE | MODE_NOPUT | MODE_NOPRECEDE | MODE_NOSUCCEED


class Epochs:
    """Those of ``window``, at its origin and at its target.

    Attributes
    ----------
    peers
        All processes of the window, by rank.
    lock
        This process's, which others take.
    """

    def __init__(self, window: Any, engine: Progress, holders: Callable[[int], dict[int, int]]
                 ) -> None:
        self._window = window
        self._engine = engine
        self._port = window.library.port
        self._prices = window.library.prices
        self._holders = holders
        """Who has the lock of a rank: beside the target."""
        group = window.comm.group
        self._ranks = {world: rank for rank, world in enumerate(group.world_ranks)}
        self.peers = [Peer(rank, world) for rank, world in enumerate(group.world_ranks)]
        self.lock = Lock()
        self._fenced = self._used = False
        self._started: list[Peer] | None = None
        self._posted: list[Peer] | None = None
        self._locked: dict[int, bool] = {}
        """Locks of single ranks, and whether the target knows of it."""
        self._all = False
        self._checked = True
        """Whether targets are asked for the lock of all."""

    # Checks

    def _wrong(self, what: str) -> MpiError:
        window = self._window
        return MpiError(ErrorClass.ERR_RMA_SYNC, f"rank {window.rank}: {what}, {window.name}",
                        [window])

    def _enter(self, call: str, assertion: int = 0) -> None:
        """``call``, one that synchronises, begins."""
        self._window.check(call)
        self._port.spend(self._prices.epoch)
        if assertion & ~ASSERTIONS:
            raise MpiError(ErrorClass.ERR_ASSERT, f"rank {self._window.rank}: {call} with "
                           f"assertion {assertion}, {self._window.name}", [self._window])

    def _not_within(self, call: str) -> None:
        """No access epoch is open, as far as one can tell."""
        if self._all or self._locked:
            raise self._wrong(f"{call} while " + ("all are" if self._all else
                              f"rank {min(self._locked)} is") + " locked")
        if self._started is not None:
            raise self._wrong(f"{call} between Win_start and Win_complete")

    def _no_fence(self, call: str) -> None:
        if self._used:
            raise self._wrong(f"{call} between two fences, after operations")
        self._fenced = False

    async def allow(self, call: str, rank: int, passive: bool) -> None:
        """``call`` may reach ``rank`` now; with the lock of all its lock is taken, if need be.
        ``passive``: between lock and unlock alone."""
        if rank in self._locked:
            return
        if self._all:
            peer = self.peers[rank]
            if self._checked and not peer.granted:
                await self._acquire(peer, SHARED, call)
        elif passive:
            raise self._wrong(f"{call} to rank {rank}, which is not locked")
        elif self._started is not None:
            if self.peers[rank] not in self._started:
                raise self._wrong(f"{call} to rank {rank}, which is not in Win_start's group")
        elif self._fenced:
            self._used = True
        else:
            raise self._wrong(f"{call} to rank {rank} outside of an epoch")

    # What all have in common

    def _packet(self, peer: Peer, kind: Packet, tag: int = 0) -> Awaitable[None]:
        window = self._window
        return self._engine.packet(peer.world, Header(kind, window.number, window.rank, tag=tag
                                                      ).pack())

    def _until(self, condition: Callable[[], Any], call: str, what: Callable[[], str]
               ) -> Awaitable[None]:
        window = self._window
        return self._engine.until(
            condition, lambda: f"rank {window.rank}: {call}, {what()}, {window.name}")

    async def _done(self, peers: Sequence[Peer], call: str) -> None:
        """All that was begun at ``peers`` has ended, and has been done there."""
        for peer in peers:
            if peer.behind:
                peer.behind = False
                peer.asked += 1
                await self._packet(peer, Packet.FLUSH)
        await self._quiet(peers, call)

    async def _look(self, peers: Sequence[Peer]) -> None:
        """Where a call asks this process alone it would wait for no other, and never see what
        these want."""
        if len(peers) == 1 and peers[0].rank == self._window.rank:
            await self._engine.look()

    async def _quiet(self, peers: Sequence[Peer], call: str) -> None:
        await self._look(peers)
        await self._until(lambda: all(one.quiet for one in peers), call, lambda: "for " + _ranks(
            one for one in peers if not one.quiet))

    async def _local(self, peers: Sequence[Peer], call: str) -> None:
        """All that was begun at ``peers`` has ended here."""
        await self._look(peers)
        await self._until(lambda: not any(one.open for one in peers), call,
                          lambda: "for " + _ranks(one for one in peers if one.open))

    async def _fetched(self, peers: Sequence[Peer], call: str) -> None:
        """All data have come from ``peers``."""
        await self._until(lambda: not any(op.coming for one in peers for op in one.open), call,
                          lambda: "for data of " + _ranks(one for one in peers if one.open))

    # Fence

    async def fence(self, assertion: int) -> None:
        """Win_fence."""
        self._enter("Win_fence", assertion)
        self._not_within("Win_fence")
        if self._posted is not None:
            raise self._wrong("Win_fence between Win_post and Win_wait")
        await self._done(self.peers, "Win_fence")
        await self.gather("Win_fence")
        self._used = False
        self._fenced = not assertion & MODE_NOSUCCEED

    async def gather(self, call: str) -> None:
        """Wait until all have come here."""
        peers, me = self.peers, self._window.rank
        step = 1
        while step < len(peers):
            other = peers[(me - step) % len(peers)]
            await self._packet(peers[(me + step) % len(peers)], Packet.FENCE)
            await self._until(lambda one=other: one.fences, call,
                              lambda one=other: f"for rank {one.rank}")
            other.fences -= 1
            step *= 2

    # Post and start

    def _group(self, group: Group, call: str) -> list[Peer]:
        try:
            return [self.peers[self._ranks[world]] for world in group.world_ranks]
        except KeyError:
            window = self._window
            raise MpiError(ErrorClass.ERR_GROUP, f"rank {window.rank}: {call}: a rank of the group "
                           f"is not of {window.name}", [window]) from None

    async def start(self, group: Group, assertion: int) -> None:
        """Win_start."""
        self._enter("Win_start", assertion)
        self._not_within("Win_start")
        self._no_fence("Win_start")
        peers = self._group(group, "Win_start")
        if not assertion & MODE_NOCHECK:
            await self._until(lambda: all(one.posts for one in peers), "Win_start",
                              lambda: "for Win_post of " + _ranks(
                                  one for one in peers if not one.posts))
            for one in peers:
                one.posts -= 1
        self._started = peers

    async def complete(self) -> None:
        """Win_complete."""
        self._enter("Win_complete")
        peers = self._started
        if peers is None:
            raise self._wrong("Win_complete without Win_start")
        await self._fetched(peers, "Win_complete")
        for one in peers:
            one.behind = False
            await self._packet(one, Packet.COMPLETE)
        await self._local(peers, "Win_complete")
        self._started = None

    async def post(self, group: Group, assertion: int) -> None:
        """Win_post."""
        self._enter("Win_post", assertion)
        if self._posted is not None:
            raise self._wrong("Win_post twice without Win_wait")
        peers = self._group(group, "Win_post")
        self._posted = peers
        if not assertion & MODE_NOCHECK:
            for one in peers:
                await self._packet(one, Packet.POST)

    def _exposed(self, call: str) -> list[Peer]:
        self._enter(call)
        if self._posted is None:
            raise self._wrong(f"{call} without Win_post")
        return self._posted

    async def wait(self) -> None:
        """Win_wait."""
        peers = self._exposed("Win_wait")
        await self._until(lambda: all(one.completes for one in peers), "Win_wait",
                          lambda: "for Win_complete of " + _ranks(
                              one for one in peers if not one.completes))
        self._waited(peers)

    async def test(self) -> bool:
        """Win_test."""
        peers = self._exposed("Win_test")
        await self._window.library.progress()
        if not all(one.completes for one in peers):
            return False
        self._waited(peers)
        return True

    def _waited(self, peers: Iterable[Peer]) -> None:
        for one in peers:
            one.completes -= 1
        self._posted = None

    # Locks

    async def lock_one(self, how: int, rank: int, assertion: int) -> None:
        """Win_lock."""
        self._enter("Win_lock", assertion)
        if how not in (EXCLUSIVE, SHARED):
            raise MpiError(ErrorClass.ERR_LOCKTYPE, f"rank {self._window.rank}: Win_lock of type "
                           f"{how}, {self._window.name}", [self._window])
        if self._all or rank in self._locked:
            raise self._wrong(f"Win_lock of rank {rank}, which is locked")
        if self._started is not None:
            raise self._wrong("Win_lock between Win_start and Win_complete")
        self._no_fence("Win_lock")
        asks = not assertion & MODE_NOCHECK
        if asks:
            await self._acquire(self.peers[rank], how, "Win_lock")
        self._locked[rank] = asks

    async def _acquire(self, peer: Peer, how: int, call: str) -> None:
        await self._packet(peer, Packet.LOCK, how)
        await self._look([peer])
        await self._until(lambda: peer.granted, call, lambda: self._lock_text(peer.rank))

    def _lock_text(self, rank: int) -> str:
        holders = self._holders(rank)
        by = ", ".join(map(str, sorted(holders)))
        return f"for the lock of rank {rank}" + (f", which rank {by} has" if holders else "")

    async def unlock_one(self, rank: int) -> None:
        """Win_unlock."""
        self._enter("Win_unlock")
        if rank not in self._locked:
            raise self._wrong(f"Win_unlock of rank {rank}, which is not locked")
        peers = [self.peers[rank]]
        if self._locked[rank]:
            await self._release(peers, "Win_unlock")
        else:
            await self._done(peers, "Win_unlock")
        del self._locked[rank]

    async def lock_all(self, assertion: int) -> None:
        """Win_lock_all."""
        self._enter("Win_lock_all", assertion)
        self._not_within("Win_lock_all")
        self._no_fence("Win_lock_all")
        self._all = True
        self._checked = not assertion & MODE_NOCHECK

    async def unlock_all(self) -> None:
        """Win_unlock_all."""
        self._enter("Win_unlock_all")
        if not self._all:
            raise self._wrong("Win_unlock_all without Win_lock_all")
        await self._release([one for one in self.peers if one.granted], "Win_unlock_all")
        await self._done(self.peers, "Win_unlock_all")
        self._all = False

    async def _release(self, peers: Sequence[Peer], call: str) -> None:
        await self._fetched(peers, call)
        for peer in peers:
            peer.behind = peer.granted = False
            peer.asked += 1
            await self._packet(peer, Packet.UNLOCK)
        await self._quiet(peers, call)

    async def flush(self, call: str, rank: int | None, local: bool) -> None:
        """Win_flush and its relatives: of ``rank``, or of all."""
        self._enter(call)
        if not self._all and (rank not in self._locked if rank is not None else not self._locked):
            raise self._wrong(call + (f" of rank {rank}, which is not locked" if rank is not None
                                      else " without a lock"))
        peers = self.peers if rank is None else [self.peers[rank]]
        await (self._local(peers, call) if local else self._done(peers, call))

    # The end

    async def free(self) -> None:
        """Win_free: all have come here, and nothing is under way."""
        self._enter("Win_free")
        self._not_within("Win_free")
        if self._posted is not None:
            raise self._wrong("Win_free between Win_post and Win_wait")
        await self._done(self.peers, "Win_free")
        await self.gather("Win_free")

    # Packets

    async def arrived(self, packet: Arrived, header: Header) -> None:
        """One that synchronises."""
        self._port.spend(self._prices.target)
        peer = self.peers[header.source]
        kind = header.kind
        if kind in (Packet.UNLOCK, Packet.FLUSH, Packet.COMPLETE):
            self._window.memory.landed(peer.world)
        if kind == Packet.LOCK:
            await self._grant(self.lock.ask(peer.rank, header.tag))
        elif kind == Packet.LOCKED:
            peer.granted = True
        elif kind == Packet.UNLOCK:
            await self._packet(peer, Packet.FLUSHED)
            await self._grant(self.lock.give_back(peer.rank))
        elif kind == Packet.FLUSH:
            await self._packet(peer, Packet.FLUSHED)
        elif kind == Packet.FLUSHED:
            peer.asked -= 1
        elif kind == Packet.POST:
            peer.posts += 1
        elif kind == Packet.COMPLETE:
            peer.completes += 1
        else:
            peer.fences += 1

    async def _grant(self, ranks: Iterable[int]) -> None:
        for rank in ranks:
            await self._packet(self.peers[rank], Packet.LOCKED)


def _ranks(peers: Iterable[Peer]) -> str:
    found = sorted(one.rank for one in peers)
    return ("rank " if len(found) == 1 else "ranks ") + ", ".join(map(str, found))


SYNCHRONISING = (Packet.LOCK, Packet.LOCKED, Packet.UNLOCK, Packet.FLUSH, Packet.FLUSHED,
                 Packet.POST, Packet.COMPLETE, Packet.FENCE)
"""Kinds of packets that :meth:`Epochs.arrived` handles."""
__all__ += ["SYNCHRONISING"]
