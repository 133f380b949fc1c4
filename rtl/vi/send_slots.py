"""Send slots: whole packets, kept until they have left or are acknowledged."""

from amaranth.hdl import Array, Cat, Module, Mux, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import ceil_log2

from ...layouts.via import VI_BITS
from ..block_ram import BlockRam
from ..queue import Queue
from .send_job import Release, Slot, before
from .sizes import check_count, check_power_of_two

__all__ = ["FRONT_WORDS", "SendSlots"]

FRONT_WORDS = 4
"""Room for a packet's headers, in words."""


def _count(bits: Value) -> Value:
    """How many of ``bits`` are set."""
    if len(bits) == 1:
        return bits
    return _count(bits[:len(bits) // 2]) + _count(bits[len(bits) // 2:])


class SendSlots(wiring.Component):
    """Storage and state of the packets that wait to be sent, or to be acknowledged.

    A slot is ``free``, then written, then with ``commit`` it waits its turn (first committed, first
    sent); whoever commits it before its last word sees to it that no word is read before it is
    written. ``o`` offers the slot to send now: one to be sent again before a
    new one. When it is ``sent``, a slot that is not reliable is free again; a reliable one waits
    for its ``release`` (an acknowledgement, or all of its VI: an abort). While it waits,
    ``expired`` tells that ``timeout`` has passed since it was sent, or ``extension`` since the last
    ``extend``; ``again`` puts slot ``again_slot`` in line once more. A slot released while it is in
    line or being sent is free only after that.

    A reliable slot that is taken from ``o`` while more than half of the slots are committed is to
    ask for an acknowledgement (``o_asks``): so where no slot is free and none in line, the last
    that was sent has asked (proven: tests/formal). So is one that was sent before.

    Latency: ``commit`` to ``o`` 2 cycles. ``release`` acts at the edge. Throughput: one commit,
    one release, one transmission a cycle. A time-out is seen at most ``slots`` cycles late.
    Reset: all free.

    Parameters
    ----------
    slots : int
        A power of two, at least 2.
    words : int
        Payload words of a packet.

    Members
    -------
    free, free_slot : Out(1), Out
        A slot for the next packet; stays until ``commit``, but the index may change from cycle to
        cycle: keep it.
    front_write, front_index, front_data : In
        Header word ``front_index`` of slot ``write_slot``.
    body_write, body_index, body_data : In
        Payload word of slot ``write_slot``.
    write_slot, commit, meta : In, In(1), In(Slot)
        The slot written, and the end of it.
    release : In(Release)
        Forget packets.
    look_vi, look_sequence, found, found_slot, found_waits : In, In, Out, Out, Out
        Which slot holds that packet of that VI, and whether it was sent and is not in line.
    found_sent : Out(32)
        When it was sent last, a cycle later; of a slot that waited.
    again, again_slot : In(1), In
        Put a slot that waits (``found_waits``) in line.
    expired, expired_vi, expired_sequence : Out(1), Out(12), Out(8)
        That packet of that VI was not acknowledged in time; until ``extend``, ``again`` or
        ``release`` ends it.
    extend, extension : In(1), In(32)
        Ask again about the packet that has ``expired`` after so many cycles.
    now, timeout : In(32), In(25)
        Cycle counter and time.
    o : Out(stream)
        The slot to send now.
    o_again, o_asks : Out(1), Out(1)
        It was sent before; it is to ask for an acknowledgement, whether it was made to or not.
    owed, owed_sequence : In(12), In(8)
        An acknowledgement that is owed to the peer of that VI.
    o_same, owed_lined, owed_waits : Out(1), Out(1), Out(1)
        What ``o`` offers can carry it; some slot in line can; there is one of that VI already that
        was left to the slots.
    leave, settle : In(1), In(1)
        Leave it to the slots in line (``owed_lined``); forget the one that was left, as a later one
        leaves.
    o_carries, o_carried : Out(1), Out(8)
        What ``o`` offers can carry the acknowledgement that was left for its VI; it is forgotten
        with ``o.ready``.
    forgotten : Out(1)
        What ``o`` offers was released in line: not to be sent; only ``sent``.
    sent, sent_slot : In(1), In
        That slot has left (or is forgotten).
    meta_read : Out(Slot)
        Of the slot that ``read_slot`` said in the cycle before.
    read_slot, read_index, front, body : In, In, Out(64), Out(64)
        In the cycle after ``read_en``: word ``read_index`` of the headers, and word
        ``body_index_read`` of the payload.
    idle : Out(1)
        All free.
    """

    def __init__(self, *, slots: int, words: int) -> None:
        check_power_of_two("slots", slots)
        check_count("words", words)
        self._slots = slots
        self._words = words
        bits = ceil_log2(slots)
        self._live = Signal(slots)
        self._queued = Signal(slots)
        self._waits = Signal(slots)
        self._reliable = Signal(slots)
        # May carry an acknowledgement; one was left to it, or to any other of its VI.
        self._carries = Signal(slots)
        self._left = Signal(slots)
        self._vi = Array(Signal(VI_BITS, name=f"vi_{n}") for n in range(slots))
        self._left_sequence = Array(Signal(8, name=f"left_sequence_{n}") for n in range(slots))
        super().__init__({
            "free": Out(1), "free_slot": Out(bits),
            "front_write": In(1), "front_index": In(2), "front_data": In(64),
            "body_write": In(1), "body_index": In(8), "body_data": In(64),
            "write_slot": In(bits), "commit": In(1), "meta": In(Slot),
            "release": In(Release),
            "look_vi": In(VI_BITS), "look_sequence": In(8),
            "found": Out(1), "found_slot": Out(bits), "found_waits": Out(1),
            "found_sent": Out(32),
            "again": In(1), "again_slot": In(bits),
            "expired": Out(1), "expired_vi": Out(VI_BITS), "expired_sequence": Out(8),
            "extend": In(1), "extension": In(32),
            "now": In(32), "timeout": In(25),
            "o": Out(stream.Signature(bits)), "o_again": Out(1), "o_asks": Out(1),
            "owed": In(VI_BITS), "owed_sequence": In(8),
            "o_same": Out(1), "owed_lined": Out(1), "owed_waits": Out(1),
            "leave": In(1), "settle": In(1),
            "o_carries": Out(1), "o_carried": Out(8),
            "forgotten": Out(1),
            "sent": In(1), "sent_slot": In(bits),
            "read_en": In(1), "read_slot": In(bits), "read_front": In(2), "read_body": In(8),
            "meta_read": Out(Slot), "front": Out(64), "body": Out(64),
            "idle": Out(1),
        })

    @property
    def slots(self) -> int:
        """Packets that fit."""
        return self._slots

    @property
    def words(self) -> int:
        """Payload words of a packet."""
        return self._words

    def elaborate(self, platform: object) -> Module:
        m = Module()
        slots = range(self._slots)
        bits = ceil_log2(self._slots)
        live, queued, waits = self._live, self._queued, self._waits
        reliable = self._reliable
        crowded = Signal()
        vi = self._vi
        sequence = Array(Signal(8, name=f"sequence_{n}") for n in slots)
        deadline = Array(Signal(32, name=f"deadline_{n}") for n in slots)

        self._memories(m, bits)
        m.submodules.times = times = BlockRam(shape=32, depth=self._slots)
        time_write, time_read = times.write_port(), times.read_port()
        m.d.comb += [
            time_write.en.eq(self.sent),
            time_write.addr.eq(self.sent_slot),
            time_write.data.eq(self.now),
            time_read.addr.eq(self.found_slot),
            time_read.en.eq(self.found_waits),
            self.found_sent.eq(time_read.data),
        ]
        m.submodules.new = new = Queue(shape=bits, depth=self._slots)
        m.submodules.resend = resend = Queue(shape=bits, depth=self._slots)

        # Taking and giving back.
        free = Signal(self._slots)
        m.d.comb += [
            free.eq(~(live | queued)),
            self.free.eq(free.any()),
            self.idle.eq(~(live | queued).any()),
            crowded.eq(_count(live) > self._slots // 2),
            new.i.payload.eq(self.write_slot),
            new.i.valid.eq(self.commit),
            resend.i.payload.eq(self.again_slot),
            resend.i.valid.eq(self.again),
        ]
        for n in reversed(slots):
            with m.If(free[n]):
                m.d.comb += self.free_slot.eq(n)

        # In line.
        m.d.comb += [
            self.o_again.eq(resend.o.valid),
            self.o.valid.eq(resend.o.valid | new.o.valid),
            self.o.payload.eq(Mux(resend.o.valid, resend.o.payload, new.o.payload)),
            resend.o.ready.eq(self.o.ready & resend.o.valid),
            new.o.ready.eq(self.o.ready & ~resend.o.valid),
        ]
        with m.If(self.o.valid):
            m.d.comb += [
                self.forgotten.eq(~live.bit_select(self.o.payload, 1)),
                self.o_asks.eq(self.o_again
                               | (crowded & reliable.bit_select(self.o.payload, 1))),
            ]

        self._owed(m)

        released = Signal(self._slots)
        matches = Signal(self._slots)
        for n in slots:
            mine = Signal(name=f"mine_{n}")
            with m.If(self.release.valid):
                m.d.comb += [
                    mine.eq(live[n] & reliable[n] & (vi[n] == self.release.vi)),
                    released[n].eq((mine & before(sequence[n], self.release.sequence))
                                   | (self.release.all & live[n] & (vi[n] == self.release.vi))),
                ]
            m.d.comb += matches[n].eq(live[n] & reliable[n] & (vi[n] == self.look_vi)
                                      & (sequence[n] == self.look_sequence))
            with m.If(matches[n]):
                m.d.comb += [self.found_slot.eq(n), self.found_waits.eq(waits[n])]
        m.d.comb += self.found.eq(matches.any())

        set_live, set_queued, set_waits = (Signal(self._slots, name=f"set_{name}")
                                           for name in ("live", "queued", "waits"))
        end_live, end_queued, end_waits = (Signal(self._slots, name=f"end_{name}")
                                           for name in ("live", "queued", "waits"))
        with m.If(self.commit):
            m.d.comb += [set_live.bit_select(self.write_slot, 1).eq(1),
                         set_queued.bit_select(self.write_slot, 1).eq(1)]
            m.d.sync += [
                vi[self.write_slot].eq(self.meta.vi),
                sequence[self.write_slot].eq(self.meta.sequence),
                reliable.bit_select(self.write_slot, 1).eq(self.meta.reliable),
                self._carries.bit_select(self.write_slot, 1).eq(self.meta.carries),
            ]
        with m.If(self.again):
            m.d.comb += [set_queued.bit_select(self.again_slot, 1).eq(1),
                         end_waits.bit_select(self.again_slot, 1).eq(1)]
        with m.If(self.sent):
            m.d.comb += end_queued.bit_select(self.sent_slot, 1).eq(1)
            m.d.sync += deadline[self.sent_slot].eq(self.now + self.timeout)
            with m.If(reliable.bit_select(self.sent_slot, 1)):
                m.d.comb += set_waits.bit_select(self.sent_slot, 1).eq(1)
            with m.Else():
                m.d.comb += end_live.bit_select(self.sent_slot, 1).eq(1)
        with m.If(self.commit | self.sent | self.again | self.release.valid):
            m.d.sync += [
                live.eq((live & ~end_live & ~released) | set_live),
                queued.eq((queued & ~end_queued) | set_queued),
                waits.eq(((waits & ~end_waits) | set_waits) & ~released & (live | set_live)),
            ]

        # Time: one slot a cycle.
        turn = Signal(bits)
        late = Signal()
        m.d.comb += [self.expired_vi.eq(vi[turn]), self.expired_sequence.eq(sequence[turn])]
        with m.If(self.extend):
            m.d.sync += deadline[turn].eq(self.now + self.extension)
        with m.If(waits.any()):
            m.d.comb += late.eq((self.now - deadline[turn])[:32].as_signed() >= 0)
            m.d.comb += self.expired.eq(waits.bit_select(turn, 1) & late)
            with m.If(~self.expired):
                m.d.sync += turn.eq(turn + 1)
        return m

    def _owed(self, m: Module) -> None:
        """Acknowledgements that were left to the slots in line."""
        left, vi, numbers = self._left, self._vi, self._left_sequence
        owing, offered, gone, place = (Signal(self._slots, name=name)
                                       for name in ("owing", "offered", "gone", "place"))
        lined = Signal(self._slots)
        can = Signal()
        m.d.comb += [
            can.eq(self.o.valid & self._carries.bit_select(self.o.payload, 1)),
            lined.eq(self._queued & self._live & self._carries & owing),
            self.o_same.eq(self.o.valid & lined.bit_select(self.o.payload, 1)),
            self.owed_lined.eq(lined.any()),
            self.owed_waits.eq((left & owing).any()),
            place.eq(lined & -lined),
            self.o_carries.eq((left & offered).any()),
            gone.eq(Mux(self.settle, owing, 0) | Mux(self.o.ready, offered, 0)),
        ]
        m.d.sync += left.eq((left & ~gone) | Mux(self.leave, place, 0))
        for n in range(self._slots):
            m.d.comb += [owing[n].eq(vi[n] == self.owed),
                         offered[n].eq(can & (vi[n] == vi[self.o.payload]))]
            with m.If(self.leave & place[n]):
                m.d.sync += numbers[n].eq(self.owed_sequence)
            with m.If(left[n] & offered[n]):
                m.d.comb += self.o_carried.eq(numbers[n])
            # Nothing of a connection that is over is told.
            with m.If(self.release.valid & self.release.all & (vi[n] == self.release.vi)):
                m.d.sync += left[n].eq(0)

    def _memories(self, m: Module, bits: int) -> None:
        stride = 1 << ceil_log2(self._words)
        m.submodules.fronts = fronts = BlockRam(shape=64, depth=self._slots * FRONT_WORDS)
        m.submodules.bodies = bodies = BlockRam(shape=64, depth=self._slots * stride)
        m.submodules.metas = metas = BlockRam(shape=Slot, depth=self._slots)
        low = ceil_log2(stride)
        for items, en, place, value in (
                (fronts, self.front_write, Cat(self.front_index, self.write_slot),
                 self.front_data),
                (bodies, self.body_write, Cat(self.body_index[:low], self.write_slot),
                 self.body_data),
                (metas, self.commit, self.write_slot, self.meta)):
            port = items.write_port()
            m.d.comb += [port.en.eq(en), port.addr.eq(place), port.data.eq(value)]
        for items, place, out in (
                (fronts, Cat(self.read_front, self.read_slot), self.front),
                (bodies, Cat(self.read_body[:low], self.read_slot), self.body),
                (metas, self.read_slot, self.meta_read)):
            port = items.read_port()
            m.d.comb += [port.en.eq(self.read_en), port.addr.eq(place), out.eq(port.data)]
