"""The packet whose turn it is in the receiver: its registers."""

from amaranth.hdl import Signal

from ....layouts.via import VI_BITS
from ..types import Address
from .parse import Parsed
from .receive_state import Message, Sequence

__all__ = ["Turn"]


class Turn:
    """Registers of the packet under way, and how it ends; and what is said of it in a cycle."""

    def __init__(self) -> None:
        # The packet under way is here whole, and as its sender sent it.
        self.good = Signal()
        # The VI's entries are looked up for the machine. The message kept, with the descriptor that
        # was taken for a packet of it; and that for the packet under way.
        self.looks = Signal()
        self.kept = Signal(Message)
        self.held = Signal()
        self.held_address = Signal(Address)
        # The packet, and what its VI is.
        self.packet = Signal(Parsed)
        self.vi = Signal(VI_BITS)
        self.tag = Signal(16)
        self.reliable = Signal()
        self.reception = Signal()
        self.left = Signal(16)
        # The message that it belongs to, and what the VI's sequence entry becomes.
        self.message = Signal(Message)
        self.on_read = Signal()
        self.walked = Signal()
        # The message's descriptor has been taken from the receive queue.
        self.took = Signal()
        self.sequence = Signal(Sequence)
        # How the packet ends. ``at_once``: the descriptor is completed, whatever it says.
        # ``partial``: something has landed, though the completion's Length is zero.
        self.at_once = Signal()
        self.completes = Signal()
        self.silent = Signal()
        self.errors = Signal(8)
        self.partial = Signal()
        self.acknowledges = Signal()
        self.breaks = Signal()
        self.break_event = Signal(8)
        self.tells = Signal()
        self.code = Signal(2)
        self.raises = Signal()
        self.event_code = Signal(8)
        self.replies = Signal()
        self.lost = Signal()
        self.refused = Signal()
        self.none_posted = Signal()
        self.flush_read = Signal()
        # The packet carries an acknowledgement, if its VI is reliable.
        self.carries = Signal()
        # In this cycle: an answer; the packet is over; nothing of the last one is pending.
        self.answers = Signal()
        self.answer_kind = Signal(3)
        self.over = Signal()
        self.clear = Signal()
