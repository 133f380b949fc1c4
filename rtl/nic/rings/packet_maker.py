"""Makes packets of descriptors: header, inline bytes and payload, a word after the other."""

from amaranth.hdl import Module, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from ....layouts.packet import TRACE_BITS
from ....layouts.rings import INLINE_BYTES
from ....layouts.trace import Drop, Kind
from ...parts.event import EventPort
from ...parts.flit import Header
from .descriptor_store import Descriptor
from .payload_fetch import PayloadOrder

__all__ = ["PacketMaker"]


class PacketMaker(wiring.Component):
    """One descriptor at a time: checks it, then hands header, inline bytes and payload to the lane.

    A descriptor whose lengths disagree is refused: it makes no packet, but is done, once the
    descriptors before it have gone.

    Latency: 1 cycle from a descriptor to its first word, none from a word of payload. Throughput: 1
    word a cycle, 1 cycle between packets. Back-pressure: ``words`` stalls the payload. Reset: idle,
    nothing done.

    Parameters
    ----------
    mtu, longest : int
        Bytes of the longest payload, and of the longest packet behind its wire header.

    Members
    -------
    descriptor : In(Descriptor)
        Descriptor ``done``.
    payload : Out(PayloadOrder)
        Its payload.
    words : Out(stream of 64), traces : Out(stream of TRACE_BITS)
        The lane: words, and with each packet's header its trace number. ``traces`` has room if
        ``words`` has.
    merged : In(16), skip : Out(1)
        As of DmaLane.
    done : Out(16), finished : Out(1)
        Descriptors done, modulo 65536; one more is done from the next cycle on.
    trace : Out(TRACE_BITS)
        Trace number of the packet that is being made.
    event : Out(EventPort)
        As of SendDma.
    """

    def __init__(self, *, mtu: int, longest: int) -> None:
        self._mtu = mtu
        self._longest = longest
        super().__init__({
            "descriptor": In(Descriptor),
            "payload": Out(PayloadOrder),
            "words": Out(stream.Signature(64)),
            "traces": Out(stream.Signature(TRACE_BITS)),
            "merged": In(16),
            "skip": Out(1),
            "done": Out(16),
            "finished": Out(1),
            "trace": Out(TRACE_BITS),
            "event": Out(EventPort),
        })

    @property
    def mtu(self) -> int:
        """Bytes of the longest payload."""
        return self._mtu

    @property
    def longest(self) -> int:
        """Bytes of the longest packet behind its wire header."""
        return self._longest

    def elaborate(self, platform: object) -> Module:
        m = Module()
        descriptor, payload = self.descriptor, self.payload
        header = data.View(Header, descriptor.word)
        control = descriptor.control
        good = Signal()
        has_payload = Signal()
        m.d.comb += [
            payload.address.eq(descriptor.address),
            payload.bytes.eq(control.payload),
            self.traces.payload.eq(self.trace),
            self.event.number.eq(self.trace),
        ]

        with m.FSM(name="packet_state"):
            with m.State("IDLE"):
                with m.If(descriptor.there):
                    m.d.sync += self.trace.eq(control.trace)
                    m.d.comb += [
                        self.event.number.eq(control.trace),
                        good.eq((header.length == control.inline + control.payload)
                                & (header.length <= self._longest)
                                & (control.inline <= INLINE_BYTES)
                                & (control.payload <= self._mtu)
                                & ((control.payload == 0) | (control.inline[:3] == 0))),
                    ]
                    with m.If(good):
                        m.d.comb += [self.event.valid.eq(1), self.event.kind.eq(Kind.BEGIN),
                                     self.event.arg.eq(descriptor.asked),
                                     payload.start.eq(control.payload != 0)]
                        m.d.sync += [
                            has_payload.eq(control.payload != 0),
                            payload.front.eq(1 + ((control.inline[:6] + 7) >> 3)),
                        ]
                        m.next = "FRONT"
                    with m.Else():
                        m.next = "REFUSED"
            with m.State("FRONT"):
                m.d.comb += [
                    self.words.payload.eq(descriptor.word),
                    self.words.valid.eq(1),
                    self.traces.valid.eq((descriptor.front == 0) & self.words.ready),
                ]
                with m.If(self.words.ready):
                    m.d.sync += [payload.front.eq(payload.front - 1),
                                 descriptor.front.eq(descriptor.front + 1)]
                    with m.If(payload.front == 1):
                        m.d.sync += descriptor.front.eq(0)
                        m.next = "PAYLOAD"
                        with m.If(~has_payload):
                            m.d.comb += self.finished.eq(1)
                            m.next = "IDLE"
            with m.State("PAYLOAD"):
                m.d.comb += [
                    self.words.payload.eq(payload.words.payload),
                    self.words.valid.eq(payload.words.valid),
                    payload.words.ready.eq(self.words.ready),
                ]
                with m.If(payload.words.valid & self.words.ready & payload.last):
                    m.d.comb += self.finished.eq(1)
                    m.next = "IDLE"
            with m.State("REFUSED"):
                with m.If(self.merged == self.done):
                    m.d.comb += [self.skip.eq(1), self.event.valid.eq(1),
                                 self.event.kind.eq(Kind.DROP), self.event.arg.eq(Drop.REFUSED)]
                    m.d.comb += self.finished.eq(1)
                    m.next = "IDLE"

        with m.If(self.finished):
            m.d.sync += self.done.eq(self.done + 1)
            with m.If(~self.skip):
                m.d.comb += [self.event.valid.eq(1), self.event.kind.eq(Kind.END)]
        return m
