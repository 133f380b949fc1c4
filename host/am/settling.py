"""What has been put off: packets without room, packets to be sent again, deadlines, keep-alive."""

from .acknowledging import Acknowledging
from .state import BEGIN, CONTROL, END, FAR
from .window import Peer, PeerGone, Sender

__all__ = ["Settling"]

ENDED = 6
"""Time-outs in a row after which a peer that will make no more requests is taken to have ended."""

LONGEST = 1 << 18
"""Cycles up to which time-outs double, where round trips are not longer."""
LAST = 1 << 15
"""The same for a peer that will make no more requests, and so has nothing to do but answer."""


class Settling(Acknowledging):
    """Acknowledgements, with time-outs and keep-alive."""

    async def _settle(self) -> None:
        """See to what has been put off: acknowledgements, packets without room, deadlines."""
        if self._owing:
            await self._pay(self._owing)
        if self._backlog:
            await self._pump()
        if self._ended:
            await self._run_ends()
        if self.port.cycle >= self._deadline:
            await self._timers()
        if self._idle >= self._keep_alive:
            self._idle = 0
            for peer in self.peers:
                if not peer.gone and (peer.open() or peer.credits < self._window):
                    await self._probe(peer)

    async def _pump(self) -> None:
        """Send what has been waiting for room, or has to be sent again, as far as there is room: a
        packet of each peer in turn, so that one whose packets never end holds up no other. What
        lacks room in one queue does not hold up what goes by the other."""
        self._want_space = self._want_ring = False
        turns, at = self._backlog, 0
        while at < len(turns):
            sender = turns[at]
            bulk = sender.bulk
            if self._want_ring if bulk else self._want_space:
                at += 1
            elif not (self._bulk_due(sender) if bulk else sender.sent < sender.next):
                del turns[at]
                sender.queued = False
                if not bulk:
                    self._held -= 1
                if sender.doubted:
                    sender.doubted = False
                    await self._probe(sender.peer)
            elif await (self._pump_bulk(sender) if bulk else self._pump_small(sender)):
                turns.append(turns.pop(at))
            elif bulk:
                self._want_ring = True
            else:
                self._want_space = True
        self._blocked = self._want_space or self._want_ring

    async def _works_on(self, sender: Sender) -> bool:
        """Whether bulk packets of ``sender`` are still here, and the NIC takes packets: it may come
        to them. What it does for other peers when it has taken them all says nothing of them."""
        taken = await self._way.done()
        moved, sender.taken = taken != sender.taken, taken
        return moved and (taken < sender.mark or sender.sent == sender.base)

    async def _timers(self) -> None:
        """Look at every deadline: what is due is done, the next is noted."""
        port = self.port
        port.mark(CONTROL, BEGIN, 0)
        port.spend(self._c_timers)
        cycle = port.cycle
        deadline = FAR
        gone: Peer | None = None
        for peer in self.peers:
            owes = peer.owed or peer.question is not None
            if peer.gone or not (owes or peer.credits < self._window or peer.open()):
                continue
            port.spend(self._c_timer_peer)
            if owes:
                if cycle - peer.owed_since >= self._hold and not await self._tell(peer):
                    peer.owed_since = cycle
                if peer.owed or peer.question is not None:
                    deadline = min(deadline, peer.owed_since + self._hold)
            since = min((sender.progress for sender in peer.senders if sender.base != sender.next),
                        default=peer.heard if peer.credits < self._window else FAR)
            if since == FAR:
                continue
            since = max(since, peer.late_at)
            if cycle - since >= peer.patience:
                since = cycle
                if peer.bulk.base != peer.bulk.next and await self._works_on(peer.bulk):
                    peer.late_at = cycle
                else:
                    self.counters["timeouts"] += 1
                    ending = self._disabling and peer.bye
                    peer.late(cycle, LAST if ending else LONGEST)
                    if peer.silent > (min(ENDED, self._retries) if ending else self._retries):
                        gone = peer
                    await self._probe(peer)
            deadline = min(deadline, since + peer.patience)
        self._deadline = deadline
        port.mark(CONTROL, END, 0)
        if gone is not None:
            gone.give_up()
            self._backlog = [sender for sender in self._backlog if sender.peer is not gone]
            self._held = sum(not sender.bulk for sender in self._backlog)
            if not (self._disabling and gone.bye):
                raise PeerGone(self.node.number, gone.number, self._retries, self._timeout)
        if self._backlog:
            await self._pump()
