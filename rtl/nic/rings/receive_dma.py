"""Receive DMA: moves packets from the receive FIFO into the slots of the receive ring."""

from amaranth.hdl import Module, Signal, unsigned
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from ....layouts.packet import TRACE_BITS
from ....layouts.rings import COMPLETION
from ....layouts.trace import Kind
from ...bus.burst import Burst
from ...bus.write_bursts import WriteBursts
from ...parts.event import EventPort
from ...parts.flit import Header
from ...parts.receive_word import ReceiveWord
from ...parts.sizes import check_power_of_two

__all__ = ["ReceiveDma", "ReceiveRingRegisters"]

Completion = data.StructLayout({field.name: unsigned(field.width) for field in COMPLETION.fields})


ReceiveRingRegisters = wiring.Signature({
    "enable": Out(1),
    "base": Out(32),
    "taken": Out(16),
    "filled": In(16),
    "landed": In(1),
})
"""The receive ring's registers, from the side of software: ``enable``: take packets; words that are
not a packet's header when it rises are thrown away; ``receive_base``, ``receive_taken``,
``receive_filled``; ``landed``, high for a cycle: a packet's completion word has landed."""


class ReceiveDma(wiring.Component):
    """Writes each packet to the next slot: header and payload, then the completion word.

    A slot is filled only if software has taken it (``filled - taken < ring``). Bursts are at most
    ``max_beats`` long; the completion word is the last beat of the last one. A packet's last word
    is written whole: bytes beyond its length are whatever the packet carried there.

    Latency: 1 cycle from a packet on ``i`` to the request. Throughput: 1 word a cycle within a
    burst. Back-pressure: packets wait while the ring is full or ``enable`` is low. Reset: idle,
    nothing filled.

    Parameters
    ----------
    ring : int
        Slots in the ring: a power of two of at least 2.
    slot_bytes : int
        Stride of the slots, a multiple of 8.

    Members
    -------
    registers : In(ReceiveRingRegisters)
        The ring's registers.
    max_beats : In(10)
        Longest burst in beats, at least 1.
    i : In(stream of ReceiveWord)
        Packets.
    bus : Out(Burst)
        To host memory.
    idle : Out(1)
        Nothing under way and nothing to begin.
    event : Out(EventPort)
        Block RECEIVE_DMA: BEGIN at a packet's first request, END when its completion word landed.

    Raises
    ------
    ValueError
        ``ring`` or ``slot_bytes`` breaks its rule.
    """

    def __init__(self, *, ring: int, slot_bytes: int) -> None:
        check_power_of_two("ring", ring)
        if slot_bytes <= 0 or slot_bytes % 8:
            raise ValueError(f"slot_bytes must be a multiple of 8, not {slot_bytes}")
        self._ring = ring
        self._slot_bytes = slot_bytes
        super().__init__({
            "registers": In(ReceiveRingRegisters),
            "max_beats": In(10),
            "i": In(stream.Signature(ReceiveWord)),
            "bus": Out(Burst()),
            "idle": Out(1),
            "event": Out(EventPort),
        })

    @property
    def ring(self) -> int:
        """Slots in the ring."""
        return self._ring

    @property
    def slot_bytes(self) -> int:
        """Stride of the slots, in bytes."""
        return self._slot_bytes

    def elaborate(self, platform: object) -> Module:
        m = Module()
        request = self.bus.request.payload
        word = self.i.payload
        header = data.View(Header, word.data)
        slots = (self._ring - 1).bit_length()

        # A slot's place is base + offset; the offset runs with filled, so nothing multiplies.
        offset = Signal(32)
        slot = Signal(29)
        # Beats not yet requested.
        left = Signal(max(10, (self._slot_bytes // 8).bit_length()))
        address = Signal(32)
        length = Signal(16)
        trace = Signal(TRACE_BITS)
        first = Signal()
        takes = Signal()
        m.d.comb += [
            slot.eq((self.registers.base + offset)[3:]),
            self.event.number.eq(trace),
        ]
        with m.If(self.i.valid):
            with m.If(self.registers.enable):
                m.d.comb += takes.eq(~word.first | (
                    (self.registers.filled - self.registers.taken)[:16] < self._ring))

        bursts = WriteBursts(m, self.bus, left=left, max_beats=self.max_beats)
        completion = data.View(Completion, Signal(64, name="completion"))
        with m.FSM() as state:
            with m.State("IDLE"):
                with m.If(takes):
                    with m.If(~word.first):
                        m.d.comb += self.i.ready.eq(1)
                    with m.Else():
                        m.d.sync += [
                            length.eq(header.length),
                            trace.eq(word.trace),
                            left.eq(word.following + 2),
                            address.eq(slot + 1 << 3),
                            first.eq(1),
                        ]
                        m.next = "REQUEST"
            bursts.states(lambda: self._landed(m, offset))
        with m.If(bursts.asks):
            m.d.comb += [
                request.write.eq(1),
                request.address.eq(address),
                request.jump_address.eq(slot << 3),
                request.beats.eq(bursts.next_beats),
                request.trace.eq(trace),
                self.event.valid.eq(first),
                self.event.kind.eq(Kind.BEGIN),
            ]
            m.d.sync += first.eq(0)
        with m.If(bursts.writes):
            m.d.comb += self.bus.write.payload.strobe.eq(0xFF)
            with m.If(bursts.last):
                m.d.comb += [
                    completion.phase.eq(~self.registers.filled[slots]),
                    completion.length.eq(length),
                    completion.trace.eq(trace),
                    completion.index.eq(self.registers.filled[:slots]),
                    self.bus.write.payload.data.eq(completion.as_value()),
                    self.bus.write.payload.jump.eq(1),
                    self.bus.write.valid.eq(1),
                ]
            with m.Else():
                m.d.comb += [
                    self.bus.write.payload.data.eq(word.data),
                    self.bus.write.valid.eq(self.i.valid),
                    self.i.ready.eq(self.bus.write.ready),
                ]
        with m.If(bursts.moved):
            m.d.sync += address.eq(address + 8)
        m.d.comb += self.idle.eq(state.ongoing("IDLE") & ~takes)
        return m

    def _landed(self, m: Module, offset: Signal) -> None:
        """The packet is in its slot, its completion word, too."""
        slots = (self._ring - 1).bit_length()
        filled = self.registers.filled
        m.d.comb += [self.registers.landed.eq(1), self.event.valid.eq(1),
                     self.event.kind.eq(Kind.END)]
        m.d.sync += [filled.eq(filled + 1), offset.eq(offset + self._slot_bytes)]
        with m.If(filled[:slots] == self._ring - 1):
            m.d.sync += offset.eq(0)
        m.next = "IDLE"
