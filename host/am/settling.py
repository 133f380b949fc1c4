"""What has been put off: packets without room, packets to be sent again, deadlines, keep-alive."""

from . import wire
from .acknowledging import Acknowledging
from .state import BEGIN, CONTROL, END, FAR
from .window import Peer, PeerGone

__all__ = ["Settling"]

BACK_OFF = 4
"""A time-out without progress doubles the next, up to this often: what is lost is sent again soon,
what is only slow is not buried under copies."""


class Settling(Acknowledging):
    """Acknowledgements, with retransmission, time-outs and keep-alive."""

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
        """Send what has been waiting for room, or has to be sent again, as far as there is room.
        What lacks room in one queue does not hold up what goes by the other."""
        self._want_space = self._want_ring = False
        for sender in list(self._backlog):
            if sender.bulk:
                if self._want_ring or not await self._pump_bulk(sender):
                    self._want_ring = True
                    continue
            elif self._want_space or not await self._pump_small(sender):
                self._want_space = True
                continue
            else:
                self._held -= 1
            self._backlog.remove(sender)
            sender.queued = False
        self._blocked = self._want_space or self._want_ring

    async def _timers(self) -> None:
        """Look at every deadline: what is due is done, the next is noted."""
        port = self.port
        port.mark(CONTROL, BEGIN, 0)
        port.spend(self._c_timers)
        cycle = port.cycle
        timeout = self._timeout
        deadline = FAR
        gone: Peer | None = None
        for peer in self.peers:
            if peer.gone or not (peer.owed or peer.credits < self._window or peer.open()):
                continue
            port.spend(self._c_timer_peer)
            if peer.owed:
                if cycle - peer.owed_since >= timeout >> 2:
                    self.counters["acks"] += 1
                    if not await self._control(peer, wire.K_ACK):
                        peer.owed_since = cycle
                if peer.owed:
                    deadline = min(deadline, peer.owed_since + (timeout >> 2))
            waiting = False
            for sender in peer.senders:
                if sender.base == sender.next:
                    continue
                waiting = True
                patience = timeout << min(sender.tries, BACK_OFF)
                if cycle - sender.progress >= patience:
                    if sender.bulk and await self._way.moves():
                        sender.progress = cycle
                    else:
                        self.counters["timeouts"] += 1
                        sender.tries += 1
                        if sender.tries > (min(3, self._retries) if self._disabling and peer.bye
                                           else self._retries):
                            gone = peer
                        sender.rewind(cycle)
                        self._queue(sender)
                        patience = timeout << min(sender.tries, BACK_OFF)
                deadline = min(deadline, sender.progress + patience)
            if not waiting and peer.credits < self._window:
                if peer.heard > peer.probe_at:
                    peer.silent = 0
                since = max(peer.heard, peer.probe_at)
                if cycle - since >= timeout:
                    peer.silent += 1
                    if peer.silent > self._retries:
                        gone = peer
                    await self._probe(peer)
                    since = cycle
                deadline = min(deadline, since + timeout)
        self._deadline = deadline
        port.mark(CONTROL, END, 0)
        if gone is not None:
            gone.give_up()
            self._backlog = [sender for sender in self._backlog if sender.peer is not gone]
            self._held = sum(not sender.bulk for sender in self._backlog)
            if not (self._disabling and gone.bye):
                raise PeerGone(self.node.number, gone.number, self._retries, timeout)
        if self._backlog:
            await self._pump()
