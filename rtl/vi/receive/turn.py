"""The packet whose turn it is in the receiver: what is known of it, and how it ends."""

from amaranth.hdl import Mux, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import Out

from ....layouts.via import STATUS, VI_BITS, PacketKind, Status
from .parse import Parsed
from .receive_state import Message, Sequence

__all__ = ["Answering", "StatusLayout", "Turn", "all_errors", "carries", "errors_of"]

StatusLayout = data.StructLayout({field.name: field.width for field in STATUS.fields})


Turn = wiring.Signature({
    "packet": Out(Parsed),
    "vi": Out(VI_BITS),
    "tag": Out(16),
    "reliable": Out(1),
    "reception": Out(1),
    "left": Out(16),
    "message": Out(Message),
    "on_read": Out(1),
    "walked": Out(1),
    "took": Out(1),
    "sequence": Out(Sequence),
    "at_once": Out(1),
    "completes": Out(1),
    "silent": Out(1),
    "errors": Out(8),
    "partial": Out(1),
    "acknowledges": Out(1),
    "breaks": Out(1),
    "break_event": Out(8),
    "tells": Out(1),
    "code": Out(2),
    "raises": Out(1),
    "event_code": Out(8),
    "replies": Out(1),
    "lost": Out(1),
    "refused": Out(1),
    "none_posted": Out(1),
})
"""The ``packet`` under way, and its ``vi`` with ``tag``, which is ``reliable``, and of Reliable
``reception``; ``left``, the bytes that have not landed.

The ``message`` that it belongs to, which is with ``on_read`` the VI's own RDMA read;
``walked``: by its descriptor's segments; ``took``: the descriptor was taken from the receive
queue. ``sequence``: what the VI's entry becomes.

How it ends: ``at_once``, the descriptor is completed whatever it says; ``completes`` it,
``silent``, with ``errors``; ``partial``: something has landed, though the completion's Length
is zero; ``acknowledges`` the packet; ``breaks`` the connection with ``break_event``; ``tells``
the peer by ``code``; ``raises`` an event ``event_code``; ``replies``: it is an answer to the
sender; ``lost``: the peer has broken the connection; ``refused``: it is dropped;
``none_posted``: for want of a descriptor."""


Answering = wiring.Signature({"valid": Out(1), "kind": Out(3)})
"""With ``valid`` the peer is owed an answer of ``kind`` (layouts.via.PacketKind)."""


def errors_of(status: Status) -> int:
    """The field ``errors`` of STATUS."""
    return status >> 1


def carries(packet: data.View) -> Value:
    """Tells whether the packet carries an acknowledgement, if its VI is reliable."""
    kind = packet.detail.kind
    return (packet.detail.carries
            & ((kind == PacketKind.SEND) | (kind == PacketKind.RDMA_WRITE)
               | (kind == PacketKind.READ_RESPONSE))
            & ~(packet.detail.immediate & packet.detail.last))


def all_errors(errors: Value, partial: Value) -> Value:
    """``errors``, and PARTIAL if there is one and some of the message has landed (``partial``)."""
    return errors | Mux((errors != 0) & partial, errors_of(Status.PARTIAL), 0)
