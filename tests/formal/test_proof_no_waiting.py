"""A VI whose peer lives and whose network loses nothing never waits for a time-out, in parts.

Who waits for a slot waits for an acknowledgement that was asked for (Full); who waits for a window
does (Window); what is owed is not forgotten and only replaced by what is newer (Owed), and is told
after at most one answer of each other VI (Turns of test_proof_scheduler.py, of any OnceQueue). They
stand beside broken designs that they refute.
"""

import pytest
from amaranth.hdl import Assert, Assume, Module, ResetSignal, Signal, Value
from amaranth.lib import memory, wiring
from nicbed.layouts.via import PacketKind, Reliability
from nicbed.rtl.vi.owed_answers import OwedAnswers
from nicbed.rtl.vi.send_decide import SendDecide
from nicbed.rtl.vi.send_slots import SendSlots
from nicbed.rtl.vi.send_transmit import ASKS, SendTransmit
from nicbed.rtl.vi.types import ControlPacket
from prover import Refuted, needs_prover, prove

pytestmark = needs_prover


class Full(wiring.Elaboratable):
    """When all slots are taken and none is in line, the packet that was sent last has asked for an
    acknowledgement: all were taken when it left, as whoever came later would be in line.

    That a line gives out what was put in is Queue's.
    """

    def __init__(self, slots: SendSlots, transmit: SendTransmit) -> None:
        self.slots = slots
        self.transmit = transmit
        self.taken = Signal()
        self.left = Signal()

    def elaborate(self, platform):
        m = Module()
        m.submodules.slots = slots = self.slots
        m.submodules.transmit = transmit = self.transmit
        wiring.connect(m, transmit.slot, slots.o)
        m.d.comb += [
            Assume(~ResetSignal()),
            transmit.slot_again.eq(slots.o_again),
            transmit.slot_forgotten.eq(slots.forgotten),
            transmit.slot_asks.eq(slots.o_asks),
            slots.sent.eq(transmit.done), slots.sent_slot.eq(transmit.done_slot),
            slots.read_en.eq(transmit.read_en), slots.read_slot.eq(transmit.read_slot),
            slots.read_front.eq(transmit.read_front), slots.read_body.eq(transmit.read_body),
            transmit.meta.eq(slots.meta_read),
            transmit.front.eq(slots.front), transmit.body.eq(slots.body),
            # Packets are made in free slots, and only what waits is sent again.
            Assume(~slots.commit | ~(slots._live | slots._queued).bit_select(slots.write_slot, 1)),
            Assume(~slots.again | slots._waits.bit_select(slots.again_slot, 1)),
            Assume(~slots.o.valid | slots._queued.bit_select(slots.o.payload, 1)),
        ]
        full = slots._live.all()
        sending = transmit._sending
        others = slots._queued & ~(sending << transmit.done_slot)
        asked = Signal(slots.slots)
        last = Signal.like(transmit.done_slot)
        this = Signal()
        before = Signal()
        m.d.comb += this.eq(before)
        with m.If(sending & transmit.o.payload.first):
            m.d.comb += this.eq((transmit.o.payload.data & ASKS) != 0)
        m.d.sync += before.eq(this)
        with m.If(transmit.done):
            m.d.sync += [last.eq(transmit.done_slot),
                         asked.bit_select(transmit.done_slot, 1).eq(this)]
        m.d.comb += [
            # The claim.
            Assert(~(full & ~sending & (slots._queued == 0)) | asked.bit_select(last, 1)),
            # While it is sent.
            Assert(~(full & sending & (others == 0)) | transmit._asks
                   | ~slots._reliable.bit_select(transmit.done_slot, 1)),
            Assert(~(sending & transmit._asks & (transmit._index != 0)) | before),
            Assert(~sending | slots._queued.bit_select(transmit.done_slot, 1)),
            Assert(~transmit._forgets | ~slots._live.bit_select(transmit.done_slot, 1)),
        ]
        return m


class Window(wiring.Elaboratable):
    """Of so many packets as half a window of a reliable VI has, one asks for an acknowledgement."""

    def __init__(self, decide: SendDecide) -> None:
        self.decide = decide

    def elaborate(self, platform):
        m = Module()
        m.submodules.decide = decide = self.decide
        half = max(1, decide.window // 2)
        silent = Signal(8)
        since = Signal(6)
        with m.If(decide.hand & decide.counts):
            m.d.sync += [silent.eq(silent + 1), since.eq(decide.next_numbers.since)]
            with m.If(decide.job.acknowledge):
                m.d.sync += silent.eq(0)
        m.d.comb += [
            Assume(~ResetSignal()),
            Assume(decide.context.attributes.reliability != Reliability.UNRELIABLE_DELIVERY),
            Assume(decide.numbers.since == since),
            Assert(silent < half),
            Assert(silent == since),
        ]
        return m


class Owed(wiring.Elaboratable):
    """Of any VI: what leaves is the answer that was its newest when it had its turn, offered until
    it is taken; and until then, what is kept is the newest.

    That who came gets a turn, later, and nobody else does, is OnceQueue's.
    """

    def __init__(self, owed: OwedAnswers) -> None:
        self.owed = owed
        self.watched = Signal(range(max(4, owed.vis)))

    def elaborate(self, platform):
        m = Module()
        m.submodules.owed = owed = self.owed
        turns = owed._turns
        kept = memory.Memory.read_port(owed._answers, domain="comb")
        newest, paid = Signal(ControlPacket), Signal(ControlPacket)
        due, pays = Signal(), Signal()
        comes, turn, begun = Signal(), Signal(), Signal()
        before = Signal.like(self.watched)
        m.d.comb += [
            kept.addr.eq(self.watched),
            comes.eq(owed.i.valid & owed.i.ready & (owed.i.payload.vi == self.watched)),
            turn.eq(turns.o.valid & turns.o.ready & (turns.o.payload == self.watched)),
            Assume(~ResetSignal()),
            Assume(~begun | (before == self.watched)),
            Assume(owed.i.payload.vi < owed.vis),
            Assume(~turn | due),
            Assert(~comes | (turns.i.valid & turns.i.ready & (turns.i.payload == self.watched))),
            Assert(~(turn & comes)),
            Assert(~due | (Value.cast(kept.data) == Value.cast(newest))),
            Assert(~pays | (owed._read & (Value.cast(owed.o.payload)
                                         == Value.cast(paid)))),
            Assert(~pays | (owed.o.valid == (paid.kind != PacketKind.SEND))),
        ]
        m.d.sync += [begun.eq(1), before.eq(self.watched)]
        with m.If(comes):
            m.d.sync += [due.eq(1), newest.eq(owed.i.payload)]
        with m.If(pays & (owed.o.ready | ~owed.o.valid)):
            m.d.sync += pays.eq(0)
        with m.If(turn):
            m.d.sync += [due.eq(0), pays.eq(1), paid.eq(newest)]
        return m


def ports_of(*blocks, more=()):
    return [*(Value.cast(value) for block in blocks
              for _, _, value in block.signature.flatten(block)), *more]


def check_full(slots, transmit, work, depth=1):
    prove(Full(slots, transmit), ports_of(slots, transmit), work, depth=depth)


def check_owed(owed, work, depth=1):
    claims = Owed(owed)
    prove(claims, ports_of(owed, more=[claims.watched]), work, depth=depth)


@pytest.mark.parametrize("slots", [4, 8])
def test_who_waits_for_a_slot(tmp_path, slots):
    check_full(SendSlots(slots=slots, words=2), SendTransmit(slots=slots), tmp_path)


@pytest.mark.parametrize("window", [1, 8, 32])
def test_who_waits_for_its_window(tmp_path, window):
    decide = SendDecide(window=window, mtu=64)
    prove(Window(decide), ports_of(decide), tmp_path, depth=1)


@pytest.mark.parametrize("vis", [2, 8])
def test_what_is_owed(tmp_path, vis):
    check_owed(OwedAnswers(vis=vis), tmp_path)


class Roomy(SendSlots):
    """Does not ask when slots are short."""

    def elaborate(self, platform):
        m = super().elaborate(platform)
        m.d.comb += self.o_asks.eq(self.o_again)
        return m


class Hasty(OwedAnswers):
    """Takes a turn while another answer comes."""

    def elaborate(self, platform):
        m = super().elaborate(platform)
        m.d.comb += self._turns.o.ready.eq(~self._read | self.o.ready)
        return m


def test_broken_slots_are_refuted(tmp_path):
    with pytest.raises(Refuted, match=r"DONE \(FAIL"):
        check_full(Roomy(slots=2, words=2), SendTransmit(slots=2), tmp_path, depth=24)


def test_broken_answers_are_refuted(tmp_path):
    with pytest.raises(Refuted, match=r"DONE \(FAIL"):
        check_owed(Hasty(vis=2), tmp_path, depth=12)
