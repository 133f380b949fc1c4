"""Packets of Active Messages, out and in: injection, the receive ring, acknowledgements, timers.

Marks
-----
Each instant of a node's CPU belongs to the innermost activity that is open, or to the program if
none is:

- REQUEST_SEND: from the call to the last store having left the CPU. The one check that a request
  makes after it is an EMPTY_POLL with the request's number if it finds nothing.
- REQUEST_HANDLE, REPLY_HANDLE, BULK_HANDLE: from the begin of the check (or of the call of a poll)
  that found the message, to the end of what it caused. REPLY_SEND lies inside REQUEST_HANDLE or
  BULK_HANDLE.
- EMPTY_POLL: a check, or the whole spin, that found nothing yet.
- WINDOW_WAIT: a request waiting for a credit; inside it lies what it handles meanwhile.
- BULK_SEND: setting up a transfer, and each packet's descriptor.
- CONTROL: acknowledgements, NACKs, probes, time-outs, sending again.

What is done once in many messages, asking for room in the send window and telling the NIC of slots
taken, belongs to the message at which it is done.
"""

from collections.abc import Callable, Sequence
from typing import Any

from ...layouts.am import CHANNEL_OF, AmKind
from ...layouts.operations import BLOCK, NIC_BASE
from ...layouts.registers import address
from ...layouts.trace import Activity, Kind
from ..node import Node
from ..port import F_NOT_EQUAL, F_ONCE, TIMEOUT
from . import paths, wire
from .window import AmError, Peer, PeerGone, Sender, Transfer

__all__ = ["Engine"]

BEGIN, END = int(Kind.BEGIN), int(Kind.END)
REQUEST_SEND, REQUEST_HANDLE = int(Activity.REQUEST_SEND), int(Activity.REQUEST_HANDLE)
REPLY_SEND, REPLY_HANDLE = int(Activity.REPLY_SEND), int(Activity.REPLY_HANDLE)
EMPTY_POLL, WINDOW_WAIT = int(Activity.EMPTY_POLL), int(Activity.WINDOW_WAIT)
BULK_SEND, BULK_HANDLE = int(Activity.BULK_SEND), int(Activity.BULK_HANDLE)
CONTROL = int(Activity.CONTROL)

BACK_OFF = 4
"""A time-out without progress doubles the next, up to this often: what is lost is sent again soon,
what is only slow is not buried under copies."""
FAR = 1 << 62
"""A deadline that never comes."""
SMALL_BYTES = 8 * wire.SMALL_BEATS
SPACE_MASK = (1 << 32) - 1 & ~(2 * SMALL_BYTES - 1)
"""Bits of send_space of which one is set when two small packets have room."""
PROGRAM, IN_REQUEST, IN_REPLY = 0, 1, 2
ANSWER_MASK = wire.ANSWER & 0xFFFF

SEND_SPACE = address("send_space")
RECEIVE_TAKEN = address("receive_taken")

Handler = Callable[..., Any]


class Engine:
    """State of the layer on one node, and everything below the public calls."""

    def __init__(self, node: Node, handlers: Sequence[Handler]) -> None:
        self.node = node
        self.port = port = node.port
        self.memory = node.memory
        description = node.description
        am, nic = description.am, description.nic
        self._window = am.request_window
        self._timeout = am.retry_timeout
        self._retries = am.retries
        self._keep_alive = am.keep_alive_polls
        self._quarter = max(1, am.reply_window // 4)
        self._chunk = am.chunk_packets
        self.peers = [self._make_peer(number) for number in range(node.nodes)]
        self._partners = [peer for peer in self.peers
                          if peer.number in node.active and peer.number != node.number]
        self._handlers: list[Handler] = []
        self._indices: dict[Handler, int] = {}
        for handler in handlers:
            self._add_handler(handler)
        self.enabled = False
        self._disabling = False
        self._context = PROGRAM
        self._source: Peer | None = None
        self._replied = False
        self._ring = nic.receive_ring
        self._ring_quarter = max(1, nic.receive_ring // 4)
        self._slot_bytes = description.slot_bytes
        self._slots = 0
        self._slot = 0
        self._phase = 1
        self._taken = 0
        self._told = 0
        self._space = 0
        self._idle = 0
        self._deadline = FAR
        self._backlog: list[Sender] = []
        self._held = 0
        """Senders of small packets in the backlog."""
        self._blocked = self._want_space = self._want_ring = False
        self._due: list[Peer] = []
        self._owing: list[Peer] = []
        self._ended: list[Transfer] = []
        self._send_ring = nic.send_ring
        self._descriptors = 0
        self._report = 0
        self._posted = 0
        self._done = 0
        self._done_then = 0
        self._mtu = nic.mtu
        self.counters = {"requests": 0, "nacks": 0, "duplicates": 0, "timeouts": 0, "probes": 0,
                         "acks": 0, "resent": 0}
        path = port.path
        self._c_request = [path(p) for p in paths.REQUEST]
        self._c_reply = [path(p) for p in paths.REPLY]
        self._c_null_reply = path(paths.NULL_REPLY)
        self._c_request_handle = [path(p) for p in paths.REQUEST_HANDLE]
        self._c_reply_handle = [path(p) for p in paths.REPLY_HANDLE]
        self._c_null_handle = path(paths.NULL_HANDLE)
        self._c_poll = path(paths.POLL)
        self._c_wait = path(paths.WAIT)
        self._c_misplaced = path(paths.CHECK_MISPLACED)
        self._c_control_send = path(paths.CONTROL_SEND)
        self._c_control_handle = path(paths.CONTROL_HANDLE)
        self._c_taken = path(paths.TAKEN)
        self._c_timers = path(paths.TIMERS)
        self._c_timer_peer = path(paths.TIMER_PEER)
        self._c_again = path(paths.AGAIN)
        self._c_space = path(paths.SPACE)
        self._c_transfer = path(paths.TRANSFER)
        self._c_bulk_send = path(paths.BULK_SEND)
        self._c_bulk_handle = path(paths.BULK_HANDLE)
        self._c_bulk_last = path(paths.BULK_LAST)
        self._c_end = path(paths.END)
        self._c_query = path(paths.QUERY)
        self._c_enable = path(paths.ENABLE)
        self._c_enable_peer = path(paths.ENABLE_PEER)
        self._c_disable = path(paths.DISABLE)
        self._c_bye = path(paths.BYE)
        self._c_register = path(paths.REGISTER)

    def _make_peer(self, number: int) -> Peer:
        node, am = self.node, self.node.description.am
        peer = Peer(number, am.request_window, am.reply_window, am.chunk_packets * am.chunks)
        route = node.route(number)
        peer.wire = tuple(wire.small_header(route, node.number, number, beats) if beats > 2 else 0
                          for beats in range(wire.SMALL_BEATS + 1))
        peer.bulk_wire = wire.wire_header(route, node.number, number, wire.BULK_HEADER_BYTES)
        return peer

    def _add_handler(self, handler: Handler) -> int:
        if len(self._handlers) >= wire.NO_HANDLER:
            raise AmError(f"a handler table has {wire.NO_HANDLER} entries, and it is full")
        index = self._indices.setdefault(handler, len(self._handlers))
        self._handlers.append(handler)
        return index

    # Out

    def _launch(self, peer: Peer, sender: Sender, word: int, low: int, high: int, beats: int,
                number: int) -> None:
        """Give a small packet its sequence number, keep it, and send it if nothing is in its way.
        The block must have room."""
        sequence = sender.next
        word |= (sequence & 255) << 24
        sender.packets[sequence & 255] = (word, low, high, beats, number)
        sender.next = sequence + 1
        if sequence == sender.base:
            sender.progress = cycle = self.port.cycle
            if self._deadline > cycle + self._timeout:
                self._deadline = cycle + self._timeout
        if sender.sent == sequence and self._space >= SMALL_BYTES and not self._held:
            sender.sent = sender.high = sequence + 1
            expected = peer.expected
            self.port.put_write(
                wire.WINDOW, beats, peer.wire[beats],
                word | expected[0] << 32 | expected[1] << 40 | expected[2] << 48, low, high, number)
            self._space -= 8 * beats
            peer.owed = 0
        else:
            self._queue(sender)

    def _queue(self, sender: Sender) -> None:
        if not sender.queued:
            sender.queued = True
            self._backlog.append(sender)
            if not sender.bulk:
                self._held += 1

    async def _refresh(self) -> None:
        """Ask the NIC how much room the send window has."""
        port = self.port
        port.spend(self._c_space)
        if port.count == BLOCK:
            await port.submit()
        port.put_read(SEND_SPACE)
        await port.submit()
        self._space = port.data

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

    async def _pump_small(self, sender: Sender) -> bool:
        """Send the small packets of ``sender`` that are due; False if the window has no room."""
        port, peer = self.port, sender.peer
        while sender.sent < sender.next:
            if self._space < SMALL_BYTES:
                await self._refresh()
                if self._space < SMALL_BYTES:
                    return False
            if port.count == BLOCK:
                await port.submit()
            word, low, high, beats, number = sender.packets[sender.sent & 255]
            port.mark(CONTROL, BEGIN, number)
            port.spend(self._c_again)
            acks = peer.expected
            port.put_write(wire.WINDOW, beats, peer.wire[beats],
                           word | acks[0] << 32 | acks[1] << 40 | acks[2] << 48, low, high, number)
            port.mark(CONTROL, END, number)
            self._space -= 8 * beats
            sender.sent += 1
            peer.owed = 0
            if sender.sent > sender.high:
                sender.high = sender.sent
            else:
                self.counters["resent"] += 1
        return True

    async def _pump_bulk(self, sender: Sender) -> bool:
        raise NotImplementedError

    async def _ring_moves(self) -> bool:
        raise NotImplementedError

    async def _control(self, peer: Peer, word: int) -> bool:
        """Send a packet without sequence number; False if it has no room."""
        port = self.port
        if self._space < SMALL_BYTES:
            await self._refresh()
            if self._space < SMALL_BYTES:
                return False
        if port.count == BLOCK:
            await port.submit()
        number = self.node.trace_number()
        port.mark(CONTROL, BEGIN, number)
        port.spend(self._c_control_send)
        acks = peer.expected
        port.put_write(wire.WINDOW, 3, peer.wire[3],
                       word | acks[0] << 32 | acks[1] << 40 | acks[2] << 48, 0, 0, number)
        port.mark(CONTROL, END, number)
        self._space -= 24
        peer.owed = 0
        return True

    # In

    async def _handle(self, begin: list[int]) -> None:
        """Handle the message whose slot's completion word a poll has just found. ``begin`` is the
        mark at which that began, to be named here."""
        port = self.port
        slot = self._slot
        (completion, _, length, source, _, _, _, flags, handler, sequence, acks,
         a0, a1, a2, a3) = wire.SLOT.unpack(self.memory.read(slot, wire.SLOT_BYTES))
        number = completion >> wire.TRACE_SHIFT & wire.TRACE_MASK
        begin[3] = number
        self._idle = 0
        peer = self.peers[source]
        cycle = port.cycle
        peer.heard = cycle
        if acks != peer.acked:
            self._acknowledge(peer, acks)
        kind = flags & 15
        count = flags >> 4 & 7
        if kind == wire.K_REQUEST:
            begin[1] = activity = REQUEST_HANDLE
            expected = peer.expected
            if sequence != expected[0]:
                begin[1] = activity = CONTROL
                await self._misplaced(peer, 0, sequence)
            else:
                expected[0] = sequence + 1 & 255
                if peer.gapped:
                    peer.gaps[0] = 0
                if count > 2:
                    if port.count == BLOCK:
                        await port.submit()
                    port.put_touch(slot + 32, 8)
                port.spend(self._c_request_handle[count])
                if self._space < SMALL_BYTES and not self._held:
                    await self._refresh()
                if port.count == BLOCK:
                    await port.submit()
                self._context = IN_REQUEST
                self._source = peer
                self._replied = False
                function = self._handlers[handler]
                if count == 1:
                    result = function(self, source, a0)
                elif count == 0:
                    result = function(self, source)
                else:
                    result = function(self, source, *(a0, a1, a2, a3)[:count])
                if result is not None:
                    await result
                if not self._replied:
                    if port.count == BLOCK:
                        await port.submit()
                    self._null_reply(peer)
                self._context = PROGRAM
        elif kind == wire.K_REPLY or kind == wire.K_NULL:
            begin[1] = activity = REPLY_HANDLE
            expected = peer.expected
            if sequence != expected[1]:
                begin[1] = activity = CONTROL
                await self._misplaced(peer, 1, sequence)
            else:
                expected[1] = sequence + 1 & 255
                if peer.gapped:
                    peer.gaps[1] = 0
                peer.credits += 1
                self._owe(peer, cycle)
                if peer.owed >= self._quarter:
                    self._due.append(peer)
                if kind == wire.K_NULL:
                    port.spend(self._c_null_handle)
                else:
                    if count > 2:
                        if port.count == BLOCK:
                            await port.submit()
                        port.put_touch(slot + 32, 8)
                    port.spend(self._c_reply_handle[count])
                    self._context = IN_REPLY
                    function = self._handlers[handler]
                    if count == 1:
                        result = function(self, source, a0)
                    elif count == 0:
                        result = function(self, source)
                    else:
                        result = function(self, source, *(a0, a1, a2, a3)[:count])
                    if result is not None:
                        await result
                    self._context = PROGRAM
        elif kind == wire.K_STORE or kind == wire.K_DATA:
            begin[1] = activity = BULK_HANDLE
            if sequence != peer.expected[2]:
                begin[1] = activity = CONTROL
                await self._misplaced(peer, 2, sequence)
            else:
                peer.expected[2] = sequence + 1 & 255
                peer.gaps[2] = 0
                self._owe(peer, cycle)
                await self._handle_bulk(peer, kind, flags, handler, a0, a1,
                                        length - wire.BULK_HEADER_BYTES)
        else:
            begin[1] = activity = CONTROL
            if kind == wire.K_GET or kind == wire.K_BYE:
                if sequence != peer.expected[0]:
                    await self._misplaced(peer, 0, sequence)
                else:
                    peer.expected[0] = sequence + 1 & 255
                    peer.gaps[0] = 0
                    self._owe(peer, cycle)
                    if kind == wire.K_GET:
                        begin[1] = activity = BULK_HANDLE
                        await self._handle_get(peer, handler, a0, a1, a2, a3, number)
                    else:
                        port.spend(self._c_control_handle)
                        peer.bye = True
                        self._owe_soon(peer)
            else:
                port.spend(self._c_control_handle)
                await self._handle_control(peer, kind, flags)
        # The slot is free again.
        self._taken = taken = self._taken + 1
        slot += self._slot_bytes
        if taken % self._ring == 0:
            slot = self._slots
            self._phase ^= 1
        self._slot = slot
        if taken - self._told >= self._ring_quarter:
            if port.count == BLOCK:
                await port.submit()
            port.spend(self._c_taken)
            port.put_write(RECEIVE_TAKEN, 1, taken & 0xFFFF)
            self._told = taken
        if self._ended:
            await self._run_ends()
        if self._due:
            await self._pay(self._due)
        if self._backlog and not self._blocked:
            await self._pump()
        port.mark(activity, END, number)

    def _owe(self, peer: Peer, cycle: int) -> None:
        if not peer.owed:
            peer.owed_since = cycle
            if self._deadline > cycle + (self._timeout >> 2):
                self._deadline = cycle + (self._timeout >> 2)
        peer.owed += 1

    def _owe_soon(self, peer: Peer) -> None:
        """Acknowledge once nothing else waits to be handled."""
        if not peer.owing:
            peer.owing = True
            self._owing.append(peer)

    async def _pay(self, peers: list[Peer]) -> None:
        """Send the acknowledgements of the list; those without room stay owed."""
        while peers:
            peer = peers.pop(0)
            peer.owing = False
            if peer.gone:
                continue
            self.counters["acks"] += 1
            if not await self._control(peer, wire.K_ACK):
                self._deadline = min(self._deadline, self.port.cycle + (self._timeout >> 2))
                peer.owed += 1

    def _null_reply(self, peer: Peer) -> None:
        port = self.port
        number = self.node.trace_number()
        port.mark(REPLY_SEND, BEGIN, number)
        port.spend(self._c_null_reply)
        self._launch(peer, peer.reply, wire.K_NULL, 0, 0, 3, number)
        port.mark(REPLY_SEND, END, number)
        self._replied = True

    def _acknowledge(self, peer: Peer, acks: int) -> None:
        peer.acked = acks
        cycle = self.port.cycle
        sender = peer.request
        if acks & 255 != sender.base & 255:
            sender.acknowledge(acks & 255, cycle)
        sender = peer.reply
        if acks >> 8 & 255 != sender.base & 255:
            sender.acknowledge(acks >> 8 & 255, cycle)
        sender = peer.bulk
        if acks >> 16 & 255 != sender.base & 255:
            base = sender.base
            for packet in range(base, base + sender.acknowledge(acks >> 16 & 255, cycle)):
                transfer = sender.packets[packet & 255][5]
                if transfer is not None:
                    self._ended.append(transfer)
            if peer.transfers:
                self._queue(sender)

    async def _misplaced(self, peer: Peer, channel: int, sequence: int) -> None:
        """A packet out of sequence: drop it, say so."""
        self.port.spend(self._c_misplaced)
        distance = sequence - peer.expected[channel] & 255
        if distance >= 128:
            self.counters["duplicates"] += 1
            self._owe_soon(peer)
        elif peer.misplaced(channel, distance):
            self.counters["nacks"] += 1
            await self._control(peer, wire.K_NACK | channel << wire.CHANNEL)

    async def _handle_control(self, peer: Peer, kind: int, flags: int) -> None:
        cycle = self.port.cycle
        if kind == wire.K_NACK:
            sender = peer.senders[flags >> wire.CHANNEL & 3]
            if sender.rewind(cycle):
                self._queue(sender)
        elif kind == wire.K_PROBE:
            await self._control(peer, wire.K_ACK | wire.ANSWER)
        elif kind == wire.K_ACK and flags & ANSWER_MASK:
            for sender in peer.senders:
                if sender.base < sender.probed and sender.rewind(cycle):
                    self._queue(sender)
                sender.probed = 0
        elif kind != wire.K_ACK:
            raise AmError(f"node {self.node.number} got a packet of kind {kind} from node "
                          f"{peer.number}: no such kind")

    async def _handle_bulk(self, peer: Peer, kind: int, flags: int, handler: int, target: int,
                           argument: int, length: int) -> None:
        raise NotImplementedError

    async def _handle_get(self, peer: Peer, handler: int, remote: int, local: int, length: int,
                          argument: int, number: int) -> None:
        raise NotImplementedError

    async def _run_ends(self) -> None:
        raise NotImplementedError

    # Polling

    async def _check(self, number: int, path: int) -> None:
        """Check once for a message; handle it and all behind it."""
        port = self.port
        begin = port.mark(EMPTY_POLL, BEGIN, number)
        if path >= 0:
            port.spend(path)
        while True:
            if port.count == BLOCK:
                await port.submit()
            port.put_poll(self._slot, self._phase, 1, 0, F_ONCE)
            await port.submit()
            if port.status & TIMEOUT:
                break
            await self._handle(begin)
            begin = port.mark(EMPTY_POLL, BEGIN, 0)
        port.mark(EMPTY_POLL, END, begin[3])
        self._idle += 1
        if (self._owing or self._backlog or port.cycle >= self._deadline
                or self._idle >= self._keep_alive):
            await self._settle()

    async def _spin(self) -> None:
        """Wait for one message and handle it, or for a deadline and see to that."""
        port = self.port
        if self._owing or self._backlog or port.cycle >= self._deadline:
            await self._settle()
        opened = port.mark(EMPTY_POLL, BEGIN, 0)
        if port.count > BLOCK - 3:
            await port.submit()
        timeout = 0
        if self._deadline != FAR:
            timeout = self._deadline - port.cycle
            if timeout < 1:
                timeout = 1
        if self._blocked:
            # The ring first in each round: what comes in makes room in the end.
            port.put_watch(self._slot, self._phase, 1)
            if self._want_space and self._want_ring:
                port.put_watch(SEND_SPACE, 0, SPACE_MASK, F_NOT_EQUAL)
            if self._want_ring:
                port.put_poll(self._report, self._done & 0xFFFF, 0xFFFF, timeout, F_NOT_EQUAL)
            else:
                port.put_poll(SEND_SPACE, 0, SPACE_MASK, timeout, F_NOT_EQUAL)
        else:
            port.put_poll(self._slot, self._phase, 1, timeout)
        await port.submit()
        status = port.status
        if status & (TIMEOUT | 0xF0):
            port.mark(EMPTY_POLL, END, opened[3])
            self._blocked = False
            return
        began = port.check_began()
        port.mark_at(began, EMPTY_POLL, END, 0)
        await self._handle(port.mark_at(began, REPLY_HANDLE, BEGIN, 0))

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

    async def _probe(self, peer: Peer) -> None:
        self.counters["probes"] += 1
        peer.probe_at = self.port.cycle
        for sender in peer.senders:
            sender.probed = sender.sent
        await self._control(peer, wire.K_PROBE)

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
                    if sender.bulk and await self._ring_moves():
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


if CHANNEL_OF[AmKind.GET] != CHANNEL_OF[AmKind.BYE] or NIC_BASE & 0xFFFF:
    raise AssertionError("the engine's dispatch does not match the declared layouts")
