"""Splits received packets by protocol."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from ...layouts.packet import Protocol
from ..parts.flit import Header
from .fifos.receive_fifo import ReceiveWord

__all__ = ["ProtocolSplit"]


class ProtocolSplit(wiring.Component):
    """Packets of one protocol go one way, all others another.

    Latency: none (combinational). Throughput: 1 word a cycle. Back-pressure: a packet that is not
    taken holds up those behind it, whichever way they go. Reset: between packets.

    Parameters
    ----------
    protocol : Protocol, optional
        The one that is told apart; None: the one that ``select`` says.

    Members
    -------
    i : In(stream of ReceiveWord)
        Packets, from the receive FIFO.
    select : In(9)
        layouts.processor.PROTOCOL_SELECT, looked at between packets. Without ``protocol`` only.
    match, other : Out(stream of ReceiveWord)
        Those of ``protocol``, and the others.

    Raises
    ------
    TypeError
        ``protocol`` is not a Protocol.
    """

    def __init__(self, *, protocol: Protocol | None) -> None:
        if protocol is not None and not isinstance(protocol, Protocol):
            raise TypeError(f"protocol must be a Protocol, not {protocol!r}")
        self._protocol = protocol
        super().__init__({
            **({"select": In(9)} if protocol is None else {}),
            "i": In(stream.Signature(ReceiveWord)),
            "match": Out(stream.Signature(ReceiveWord)),
            "other": Out(stream.Signature(ReceiveWord)),
        })

    @property
    def protocol(self) -> Protocol | None:
        """The one that is told apart."""
        return self._protocol

    def elaborate(self, platform: object) -> Module:
        m = Module()
        word = self.i.payload
        header = data.View(Header, word.data)
        held = Signal()
        matches = Signal()
        if self._protocol is None:
            chosen = self.select[8] & (header.protocol == self.select[:8])
        else:
            chosen = header.protocol == self._protocol.value
        m.d.comb += [self.match.payload.eq(word), self.other.payload.eq(word)]
        with m.If(self.i.valid):
            m.d.comb += [
                matches.eq(Mux(word.first, chosen, held)),
                self.match.valid.eq(matches),
                self.other.valid.eq(~matches),
                self.i.ready.eq(Mux(matches, self.match.ready, self.other.ready)),
            ]
            m.d.sync += held.eq(matches)
        return m
