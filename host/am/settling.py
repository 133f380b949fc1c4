"""Postponed work: packets without room, packets to be sent again, deadlines, keep-alive."""

from .acknowledging import Acknowledging
from .bulk_sending import BulkSending
from .costs import Prices
from .deadline import FAR, Deadline
from .marks import BEGIN, CONTROL, END
from .presence import Others
from .sending import Sending
from .window import Peer, PeerGone, Sender

__all__ = ["Settling"]

ENDED = 6
"""A peer that will make no more requests is taken to have ended after this many time-outs in a
row."""

LONGEST = 1 << 18
"""Time-outs double up to this many cycles, unless round trips are longer."""
LAST = 1 << 15
"""The same for a peer that will make no more requests and therefore only answers."""


class Settling:
    """Handles the backlog of ``sending``, acknowledgements, and time-outs of peers.

    Attributes
    ----------
    idle
        Empty polls in a row. After ``keep_alive`` of them the peers are probed.
    disabling
        This node makes no more requests.
    blocked, want_space, want_ring
        Whether packets wait for room, wait for room for small packets, and wait for room in the
        queue of bulk packets.
    """

    __slots__ = ("idle", "keep_alive", "disabling", "blocked", "want_space", "want_ring",
                 "_port", "_sending", "_bulk", "_acknowledging", "_deadline", "_others",
                 "_counters", "_window", "_retries", "_timeout", "_c_timers", "_c_timer_peer")

    def __init__(self, sending: Sending, bulk: BulkSending, acknowledging: Acknowledging,
                 deadline: Deadline, others: Others, counters: dict[str, int]) -> None:
        am = sending.node.description.am
        self.idle = 0
        self.keep_alive = am.keep_alive_polls
        self.disabling = False
        self.blocked = self.want_space = self.want_ring = False
        self._port = sending.port
        self._sending = sending
        self._bulk = bulk
        self._acknowledging = acknowledging
        self._deadline = deadline
        self._others = others
        self._counters = counters
        self._window = am.request_window
        self._retries = am.retries
        self._timeout = am.retry_timeout
        prices = sending.node.service(Prices)
        self._c_timers = prices.timers
        self._c_timer_peer = prices.timer_peer

    def lost(self, peer: Peer) -> PeerGone:
        """The error that ``peer`` is gone."""
        return PeerGone(self._sending.node.number, peer.number, self._retries, self._timeout)

    async def settle(self) -> None:
        """Do postponed work: acknowledgements, packets without room, deadlines."""
        if self._acknowledging.owing:
            await self._acknowledging.pay(self._acknowledging.owing)
        if self._sending.backlog:
            await self.pump()
        if self._bulk.ended:
            await self._bulk.run_ends()
        if self._port.cycle >= self._deadline.at:
            await self._timers()
        if self.idle >= self.keep_alive:
            self.idle = 0
            for peer in self._deadline.pending(self._window):
                if peer.open() or peer.credits < self._window:
                    await self._sending.probe(peer)

    async def pump(self) -> None:
        """Send packets that wait for room or have to be sent again, as far as there is room: one
        packet of each peer in turn, so that a peer with an endless supply delays no other. A lack
        of room in one queue does not delay packets that use the other."""
        self.want_space = self.want_ring = False
        turns, at = self._sending.backlog, 0
        while at < len(turns):
            sender = turns[at]
            bulk = sender.bulk
            if self.want_ring if bulk else self.want_space:
                at += 1
            elif not (self._bulk.due(sender) if bulk else sender.sent < sender.next):
                del turns[at]
                sender.queued = False
                if not bulk:
                    self._sending.held -= 1
                if sender.doubted:
                    sender.doubted = False
                    await self._sending.probe(sender.peer)
            elif await (self._bulk.pump(sender) if bulk else self._sending.pump(sender)):
                turns.append(turns.pop(at))
            elif bulk:
                self.want_ring = True
            else:
                self.want_space = True
        self.blocked = self.want_space or self.want_ring
        await self._sending.way.tell()

    async def _works_on(self, sender: Sender) -> bool:
        """Whether bulk packets of ``sender`` are still in the host's queue and the NIC takes
        packets from it, so that it may reach them. Packets for other peers that the NIC takes after
        these do not count."""
        taken = await self._sending.way.done()
        moved, sender.taken = taken != sender.taken, taken
        return moved and (taken < sender.mark or sender.sent == sender.base)

    async def _timers(self) -> None:
        """Check every deadline: do the work that is due, and note the next deadline."""
        port, acknowledging = self._port, self._acknowledging
        port.mark(CONTROL, BEGIN, 0)
        port.spend(self._c_timers)
        cycle = port.cycle
        deadline = FAR
        gone: Peer | None = None
        for peer in self._deadline.pending(self._window):
            owes = peer.owed or peer.question is not None
            port.spend(self._c_timer_peer)
            if owes:
                if (cycle - peer.owed_since >= acknowledging.hold
                        and not await acknowledging.tell(peer)):
                    peer.owed_since = cycle
                if peer.owed or peer.question is not None:
                    deadline = min(deadline, peer.owed_since + acknowledging.hold)
            since = min((sender.progress for sender in peer.senders if sender.base != sender.next),
                        default=peer.heard if self._deadline.awaits(peer, self._window) else FAR)
            if since == FAR:
                continue
            since = max(since, peer.late_at)
            if cycle - since >= peer.patience:
                since = cycle
                if peer.bulk.base != peer.bulk.next and await self._works_on(peer.bulk):
                    peer.late_at = cycle
                else:
                    self._counters["timeouts"] += 1
                    ending = self.disabling and peer.bye
                    listened = self._others.listened(peer.number, peer.late_at)
                    peer.late(cycle, LAST if ending else LONGEST, listened)
                    if peer.silent > (min(ENDED, self._retries) if ending else self._retries):
                        if (ending or peer.lost > self._retries
                                or self._others.ended(peer.number)):
                            gone = peer
                    if gone is peer or listened or peer.silent <= self._retries:
                        await self._sending.probe(peer)
            deadline = min(deadline, since + peer.patience)
        self._deadline.at = deadline
        port.mark(CONTROL, END, 0)
        if gone is not None:
            gone.give_up()
            self._sending.forget(gone)
            if not (self.disabling and gone.bye):
                raise self.lost(gone)
        if self._sending.backlog:
            await self.pump()
