"""The logic of wire_nic: a queue of frames to send, and a ring of slots to receive into."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import connect, flipped
from nicbed import NicSide
from nicbed.layouts.packet import TRACE_BITS
from nicbed.layouts.trace import Kind
from nicbed.rtl.bus.burst import beats_of
from nicbed.rtl.nic.crc import CrcAppend, CrcCheck
from nicbed.rtl.parts.csr_file import CsrFile
from nicbed.rtl.parts.flit import Flit, Header
from nicbed.rtl.parts.queue import Queue

from .registers import QUEUE, REGISTERS

__all__ = ["WireNic"]

Send = data.StructLayout({"header": Header, "address": 32, "trace": TRACE_BITS})
"""A frame to send."""
Came = data.StructLayout({"words": 16, "bad": 1})
"""A whole frame in the receive queue: its words, and whether it is to be dropped."""


class WireNic(wiring.Component):
    """Sends frames out of host memory, and receives frames into the slots of a ring there.

    A write to ``send_address`` queues a frame; its words are read by DMA when the frames before it
    have been, and leave with a CRC behind them. A frame that comes is kept until it is whole. If
    it is good it is written to the next free slot, the completion word last; else it is dropped
    and counted.

    Latency, in cycles, with nothing in the way: write of ``send_address`` to the DMA request, 4;
    last flit on ``link.rx`` to the DMA request, 4. Throughput: 1 word a cycle each way.
    Back-pressure: ``link.rx`` waits while a queue or the ring is full. Reset: everything empty.

    Parameters
    ----------
    side : NicSide
        Its socket.
    mtu : int
        Bytes of the longest frame.
    slots : int
        Slots of the receive ring: a power of two.
    slot_bytes : int
        From one slot to the next.
    """

    def __init__(self, *, side: NicSide, mtu: int, slots: int, slot_bytes: int) -> None:
        self._frame_words = 1 + -(-mtu // 8)
        self._slots = slots
        self._slot_bytes = slot_bytes
        super().__init__(side)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.registers = self._file = file = CsrFile(
            registers=REGISTERS, counters={"sent": 1, "received": 1, "dropped": 1, "refused": 1})
        pio = self.pio
        m.d.comb += [
            pio.ready.eq(1),
            pio.answer.data.eq(file.access.read),
            file.access.select.eq(pio.valid & (pio.address[12:] == 0)),
            file.access.write.eq(pio.write),
            file.access.offset.eq(pio.address),
            file.access.data.eq(pio.data),
            file.values.node.eq(self.node),
        ]
        m.d.sync += pio.answer.valid.eq(pio.valid & ~pio.write)
        send_idle = self._send(m)
        receive_idle = self._receive(m)
        m.d.comb += self.idle.eq(send_idle & receive_idle & ~self.link.tx.valid
                                 & ~self.link.rx.valid & ~pio.answer.valid)
        return m

    def _send(self, m: Module) -> Signal:
        """Frames out; whether there is nothing to do."""
        file, bus, event = self._file, self.dma[0], self.events[0]
        depth = 1 << (2 * self._frame_words).bit_length()
        m.submodules.sends = sends = Queue(shape=Send, depth=QUEUE)
        m.submodules.out = out = Queue(shape=Flit, depth=depth)
        m.submodules.crc_append = crc = CrcAppend()
        connect(m, out.o, crc.i)
        connect(m, crc.o, flipped(self.link.tx))

        ask = sends.o.payload
        address = Signal(32)
        left = Signal(14)  # bytes not yet read
        beats = Signal(10)  # words to come in this burst
        pause = Signal.like(self.own.gap)
        m.d.comb += [
            sends.i.valid.eq(file.writes.send_address),
            sends.i.payload.header.eq(file.values.send_header),
            sends.i.payload.address.eq(self.pio.data),
            sends.i.payload.trace.eq(self.pio.trace),
            file.counts.refused.eq(sends.i.valid & ~sends.i.ready),
            bus.request.payload.address.eq(address),
            bus.request.payload.beats.eq(
                beats_of((left + 7) >> 3, self.timing.bus_max_burst >> 3)),
            bus.request.payload.trace.eq(ask.trace),
            event.number.eq(ask.trace),
            out.i.payload.trace.eq(ask.trace),
        ]
        with m.If(pause != 0):
            m.d.sync += pause.eq(pause - 1)
        with m.FSM() as state:
            with m.State("IDLE"):
                # All of the frame must find room: a burst that waits would hold the bus, and with
                # it the frames that come, until the other side takes ours.
                with m.If(sends.o.valid & (pause == 0) & (out.level <= depth - self._frame_words)):
                    m.d.comb += [out.i.valid.eq(1), out.i.payload.data.eq(ask.header),
                                 out.i.payload.size.eq(8), out.i.payload.first.eq(1),
                                 event.valid.eq(1), event.kind.eq(Kind.BEGIN)]
                    m.d.sync += [address.eq(ask.address), left.eq(ask.header.length)]
                    m.next = "REQUEST"
            with m.State("REQUEST"):
                m.d.comb += bus.request.valid.eq(1)
                m.d.sync += beats.eq(bus.request.payload.beats)
                with m.If(bus.request.ready):
                    m.next = "READ"
            with m.State("READ"):
                m.d.comb += [out.i.valid.eq(bus.read.valid), bus.read.ready.eq(out.i.ready),
                             out.i.payload.data.eq(bus.read.payload),
                             out.i.payload.size.eq(Mux(left < 8, left, 8)),
                             out.i.payload.last.eq(left <= 8)]
                with m.If(bus.read.valid & bus.read.ready):
                    m.d.sync += [address.eq(address + 8), beats.eq(beats - 1),
                                 left.eq(Mux(left < 8, 0, left - 8))]
                    with m.If(beats == 1):
                        m.next = "DONE"
                        with m.If(bus.done):
                            self._burst_done(m, last=left <= 8)
            with m.State("DONE"):
                with m.If(bus.done):
                    self._burst_done(m, last=left == 0)
        with m.If(file.counts.sent):
            m.d.comb += [sends.o.ready.eq(1), event.valid.eq(1), event.kind.eq(Kind.END)]
            m.d.sync += pause.eq(self.own.gap)
        return (state.ongoing("IDLE") & (sends.level == 0) & (out.level == 0) & (pause == 0)
                & crc.idle)

    def _burst_done(self, m: Module, *, last: Signal) -> None:
        m.next = "REQUEST"
        with m.If(last):
            m.d.comb += self._file.counts.sent.eq(1)
            m.next = "IDLE"

    def _receive(self, m: Module) -> Signal:
        """Frames in; whether there is nothing to do."""
        file, bus, event = self._file, self.dma[1], self.events[1]
        m.submodules.crc_check = crc = CrcCheck()
        m.submodules.words = words = Queue(
            shape=Flit, depth=1 << (2 * self._frame_words).bit_length())
        m.submodules.frames = frames = Queue(shape=Came, depth=16)
        connect(m, flipped(self.link.rx), crc.i)

        # Into the queues. A frame is bad if its CRC, its length or its destination is wrong.
        header = Signal(Header)
        count = Signal(16)
        bytes_here = Signal(17)
        both = words.i.ready & frames.i.ready
        m.d.comb += [
            crc.o.ready.eq(both),
            words.i.valid.eq(crc.o.valid & frames.i.ready),
            words.i.payload.eq(crc.o.payload),
            bytes_here.eq((count - 1 << 3) + crc.o.p.size),
            frames.i.valid.eq(crc.o.valid & crc.o.p.last & words.i.ready),
            frames.i.payload.words.eq(count + 1),
            frames.i.payload.bad.eq(crc.bad | (header.length != bytes_here)
                                    | (header.destination != self.node)),
        ]
        with m.If(crc.o.valid & both):
            m.d.sync += count.eq(Mux(crc.o.p.last, 0, count + 1))
            with m.If(crc.o.p.first):
                m.d.sync += header.eq(crc.o.p.data)

        # Out of them, into a slot: word 0 is the completion word, written last.
        word, came = words.o.payload, frames.o.payload
        filled = Signal(16)
        slot = Signal(32)
        place = Signal(range(self._slots))
        address = Signal(32)
        left = Signal(16)
        beats = Signal(10)
        length = Signal(16)
        phase = Signal(init=1)
        m.d.comb += [
            file.values.filled.eq(filled),
            bus.request.payload.write.eq(1),
            bus.request.payload.address.eq(address),
            bus.request.payload.jump_address.eq(slot),
            bus.request.payload.beats.eq(beats_of(left, self.timing.bus_max_burst >> 3)),
            bus.request.payload.trace.eq(word.trace),
            bus.write.payload.strobe.eq(0xFF),
        ]
        trace = Signal(TRACE_BITS)
        ready = file.values.control[0] & ((filled - file.values.taken)[:16] < self._slots)
        with m.FSM() as state:
            with m.State("IDLE"):
                with m.If(frames.o.valid & words.o.valid):
                    with m.If(came.bad):
                        m.d.sync += left.eq(came.words)
                        m.next = "DROP"
                    with m.Elif(ready):
                        m.d.comb += [event.valid.eq(1), event.kind.eq(Kind.BEGIN),
                                     event.number.eq(word.trace)]
                        m.d.sync += [
                            slot.eq(file.values.receive_base + place * self._slot_bytes),
                            address.eq(file.values.receive_base + place * self._slot_bytes + 8),
                            left.eq(came.words + 1), trace.eq(word.trace),
                            length.eq(data.View(Header, word.data).length)]
                        m.next = "REQUEST"
            with m.State("DROP"):
                m.d.comb += words.o.ready.eq(1)
                with m.If(words.o.valid):
                    m.d.sync += left.eq(left - 1)
                    with m.If(left == 1):
                        m.d.comb += [frames.o.ready.eq(1), file.counts.dropped.eq(1)]
                        m.next = "IDLE"
            with m.State("REQUEST"):
                m.d.comb += [bus.request.valid.eq(1), bus.request.payload.trace.eq(trace)]
                m.d.sync += beats.eq(bus.request.payload.beats)
                with m.If(bus.request.ready):
                    m.next = "WRITE"
            with m.State("WRITE"):
                with m.If(left == 1):
                    m.d.comb += [bus.write.valid.eq(1), bus.write.payload.jump.eq(1),
                                 bus.write.payload.data.eq(phase | length << 8 | trace << 24)]
                with m.Else():
                    m.d.comb += [bus.write.valid.eq(words.o.valid),
                                 bus.write.payload.data.eq(word.data),
                                 words.o.ready.eq(bus.write.ready)]
                with m.If(bus.write.valid & bus.write.ready):
                    m.d.sync += [address.eq(address + 8), left.eq(left - 1), beats.eq(beats - 1)]
                    with m.If(beats == 1):
                        m.next = "DONE"
                        with m.If(bus.done):
                            self._landed(m, last=left == 1)
            with m.State("DONE"):
                with m.If(bus.done):
                    self._landed(m, last=left == 0)
        with m.If(file.counts.received):
            m.d.comb += [frames.o.ready.eq(1), event.valid.eq(1), event.kind.eq(Kind.END),
                         event.number.eq(trace)]
            m.d.sync += [filled.eq(filled + 1), place.eq(place + 1)]
            with m.If(place == self._slots - 1):
                m.d.sync += phase.eq(~phase)
        return state.ongoing("IDLE") & crc.idle & (words.level == 0)

    def _landed(self, m: Module, *, last: Signal) -> None:
        m.next = "REQUEST"
        with m.If(last):
            m.d.comb += self._file.counts.received.eq(1)
            m.next = "IDLE"
