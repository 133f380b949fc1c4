"""The packet whose turn it is in the receiver: what is known of it, and how it ends."""

from amaranth.hdl import Mux, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import Out

from ....layouts.via import STATUS, VI_BITS, PacketKind, Status
from .parse import Parsed
from .receive_state import Message, Sequence

__all__ = ["Answering", "StatusLayout", "Turn", "all_errors", "carries", "errors_of"]

StatusLayout = data.StructLayout({field.name: field.width for field in STATUS.fields})


class Turn(data.Struct):
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
    ``none_posted``: for want of a descriptor.
    """

    packet: Parsed
    vi: VI_BITS
    tag: 16
    reliable: 1
    reception: 1
    left: 16
    message: Message
    on_read: 1
    walked: 1
    took: 1
    sequence: Sequence
    at_once: 1
    completes: 1
    silent: 1
    errors: 8
    partial: 1
    acknowledges: 1
    breaks: 1
    break_event: 8
    tells: 1
    code: 2
    raises: 1
    event_code: 8
    replies: 1
    lost: 1
    refused: 1
    none_posted: 1


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
