"""What Active Messages keep on one node, and what marks mean.

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
from ...layouts.packet import FLIT_BYTES, HEADER_BYTES
from ...layouts.trace import Activity, Kind
from ..node import Node
from ..sent_again import SentAgain
from . import paths, wire
from .injection import injection
from .window import AmError, Peer, Sender, Transfer

__all__ = ["State"]

BEGIN, END = int(Kind.BEGIN), int(Kind.END)
REQUEST_SEND, REQUEST_HANDLE = int(Activity.REQUEST_SEND), int(Activity.REQUEST_HANDLE)
REPLY_SEND, REPLY_HANDLE = int(Activity.REPLY_SEND), int(Activity.REPLY_HANDLE)
EMPTY_POLL, WINDOW_WAIT = int(Activity.EMPTY_POLL), int(Activity.WINDOW_WAIT)
BULK_SEND, BULK_HANDLE = int(Activity.BULK_SEND), int(Activity.BULK_HANDLE)
CONTROL = int(Activity.CONTROL)

FAR = 1 << 62
"""A deadline that never comes."""
HOLD = 2000
"""Cycles for which an acknowledgement is owed in any case, for a packet that can carry it."""
SMALL_BYTES = wire.SMALL_BYTES
PROGRAM, IN_REQUEST, IN_REPLY = 0, 1, 2

Handler = Callable[..., Any]


class State:
    """State of the layer on one node: peers, handlers, rings, deadlines, prices."""

    def __init__(self, node: Node, handlers: Sequence[Handler]) -> None:
        self.node = node
        self.port = port = node.port
        self.memory = node.memory
        description = node.description
        am, nic = description.am, description.nic
        self._window = am.request_window
        self._retries = am.retries
        self._keep_alive = am.keep_alive_polls
        self._quarter = max(1, am.reply_window // 4)
        self._chunk = am.chunk_packets
        self._way = injection(node)
        self._full = BLOCK - self._way.entries
        """Entries of a block beyond which a packet has no room."""
        self._inject = self._way.small
        self._stores = self._way.stores
        self._timeout = am.retry_timeout
        self._hold = max(am.retry_timeout >> 2, HOLD)
        """Cycles for which an acknowledgement is owed at the most."""
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
        self._mtu = nic.mtu
        self.counters = {"nacks": 0, "duplicates": 0, "timeouts": 0, "probes": 0, "acks": 0,
                         "resent": 0, "samples": 0}
        self.again = SentAgain(port, "Active Messages")
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
        self._c_sample = path(paths.SAMPLE)
        self._c_transfer = path(paths.TRANSFER)
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
        am, way = self.node.description.am, self._way
        peer = Peer(number, am.request_window, am.reply_window, am.chunk_packets * am.chunks,
                    am.retry_timeout)
        peer.wire = tuple(way.header(number, beats * FLIT_BYTES - HEADER_BYTES) if beats > 2 else 0
                          for beats in range(wire.SMALL_BEATS + 1))
        peer.bulk_wire = way.header(number, wire.BULK_HEADER_BYTES, bulk=True)
        return peer

    def _add_handler(self, handler: Handler) -> int:
        if len(self._handlers) >= wire.NO_HANDLER:
            raise AmError(f"a handler table has {wire.NO_HANDLER} entries, and it is full")
        index = self._indices.setdefault(handler, len(self._handlers))
        self._handlers.append(handler)
        return index

    def _queue(self, sender: Sender) -> None:
        if not sender.queued:
            sender.queued = True
            self._backlog.append(sender)
            if not sender.bulk:
                self._held += 1


if CHANNEL_OF[AmKind.GET] != CHANNEL_OF[AmKind.BYE] or NIC_BASE & 0xFFFF:
    raise AssertionError("the dispatch of packets does not match the declared layouts")
