"""A VI whose peer lives and whose network loses nothing never waits for a time-out, in parts.

Who waits for a slot waits for an acknowledgement that was asked for (Full); who waits for a window
does (Window); what is owed is not forgotten and only replaced by what is newer (Owed), and is told
after at most one answer of each other VI (Turns of test_proof_scheduler.py, of any DistinctQueue),
or left to a packet in line, which takes it along (Left). They stand beside broken designs that they
refute.
"""

import pytest
from amaranth.hdl import Assert, Assume, Cat, Module, Mux, ResetSignal, Signal, Value
from amaranth.lib import memory, wiring
from nicbed.layouts.via import VI_BITS, VIA_HEADER, PacketKind, Reliability
from nicbed.rtl.vi.send.owed_answers import OwedAnswers
from nicbed.rtl.vi.send.slots import SendSlots
from nicbed.rtl.vi.send.transmit import ASKS, CARRIES, SendTransmit
from nicbed.rtl.vi.send.turn import SendTurn
from nicbed.rtl.vi.types import ControlPacket

from tests.formal.prover import Refuted, needs_prover, prove
from tests.labs.rows import more

pytestmark = needs_prover


def joined(m: Module, slots: SendSlots, transmit: SendTransmit) -> None:
    """Slots and transmitter as the sender joins them, and what it promises them."""
    m.submodules.slots = slots
    m.submodules.transmit = transmit
    wiring.connect(m, transmit.slots, slots.send)
    wiring.connect(m, transmit.owing, slots.owing)
    m.d.comb += [
        Assume(~ResetSignal()),
        # Packets are made in free slots, and only what waits is sent again.
        Assume(~slots.write.commit
               | ~(slots._live | slots._queued).bit_select(slots.write.slot, 1)),
        Assume(~slots.wait.again | slots._waits.bit_select(slots.wait.again_slot, 1)),
        Assume(~slots.send.offer.valid | slots._queued.bit_select(slots.send.offer.payload, 1)),
    ]


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
        slots, transmit = self.slots, self.transmit
        joined(m, slots, transmit)
        full = slots._live.all()
        sending = transmit._sending
        others = slots._queued & ~(sending << transmit.slots.done_slot)
        asked = Signal(slots.slots)
        last = Signal.like(transmit.slots.done_slot)
        this = Signal()
        before = Signal()
        m.d.comb += this.eq(before)
        with m.If(sending & transmit.o.payload.first):
            m.d.comb += this.eq((transmit.o.payload.data & ASKS) != 0)
        m.d.sync += before.eq(this)
        with m.If(transmit.slots.done):
            m.d.sync += [last.eq(transmit.slots.done_slot),
                         asked.bit_select(transmit.slots.done_slot, 1).eq(this)]
        m.d.comb += [
            # The claim.
            Assert(~(full & ~sending & (slots._queued == 0)) | asked.bit_select(last, 1)),
            # While it is sent.
            Assert(~(full & sending & (others == 0)) | transmit._asks
                   | ~slots._reliable.bit_select(transmit.slots.done_slot, 1)),
            Assert(~(sending & transmit._asks & (transmit._index != 0)) | before),
            Assert(~sending | slots._queued.bit_select(transmit.slots.done_slot, 1)),
            Assert(~transmit._forgets | ~slots._live.bit_select(transmit.slots.done_slot, 1)),
        ]
        return m


class Window(wiring.Elaboratable):
    """Of so many packets as half a window of a reliable VI has, one asks for an acknowledgement."""

    def __init__(self, decide: SendTurn) -> None:
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

    That who came gets a turn, later, and nobody else does, is DistinctQueue's.
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


class Left(wiring.Elaboratable):
    """Of any VI: an ACK that was taken and not told waits beside a packet of the VI in line, and
    leaves with the first of them, or alone in its place, or is replaced by an answer of the VI that
    leaves; unless all packets of the VI are forgotten.

    That what is in line has its turn is Queue's: after at most as many packets as there are slots.
    """

    def __init__(self, slots: SendSlots, transmit: SendTransmit) -> None:
        self.slots = slots
        self.transmit = transmit
        self.watched = Signal(VI_BITS)

    def elaborate(self, platform):
        m = Module()
        slots, transmit, watched = self.slots, self.transmit, self.watched
        joined(m, slots, transmit)
        answer, flit, index = transmit.answer, transmit.o.payload.data, transmit._index
        place = VIA_HEADER.offset("immediate")
        before = Signal.like(watched)
        begun, waits, takes, takes_now, replaced, over = (Signal() for _ in range(6))
        number, taken, shown = Signal(8), Signal(8), Signal(8)
        mine = Signal(slots.slots)
        forgot = Signal()
        forgot_vi = Signal(VI_BITS)
        m.d.comb += [
            mine.eq(Cat(slots._left[n] & (slots._vi[n] == watched) for n in range(slots.slots))),
            replaced.eq(transmit.owing.settle & (answer.payload.vi == watched)),
            over.eq(slots.wait.release.valid & slots.wait.release.all
                    & (slots.wait.release.vi == watched)),
            takes_now.eq(slots.send.offer.valid & slots.send.offer.ready
                         & slots._carries.bit_select(slots.send.offer.payload, 1)
                         & (slots._vi[slots.send.offer.payload] == watched)
                         & (waits | replaced)),
        ]
        m.d.sync += [begun.eq(1), before.eq(watched), takes.eq(takes_now),
                     taken.eq(Mux(replaced, answer.payload.sequence, number)),
                     forgot.eq(transmit._forgets & transmit._carries),
                     forgot_vi.eq(transmit.slots.read.meta.vi), shown.eq(transmit._carried)]
        with m.If(takes_now | replaced):
            m.d.sync += waits.eq(0)
        with m.If(transmit.owing.leave & (answer.payload.vi == watched)):
            m.d.sync += [waits.eq(1), number.eq(answer.payload.sequence)]
        with m.If(over):
            m.d.sync += waits.eq(0)
        for n in range(slots.slots):
            m.d.comb += Assert(~mine[n] | (slots._left_sequence[n] == number))
        m.d.comb += [
            Assume(~begun | (before == watched)),
            Assert((slots._left & ~(slots._queued & slots._carries)) == 0),
            Assert(~transmit._sending | ~slots._left.bit_select(transmit.slots.done_slot, 1)),
            Assert(waits == mine.any()),
            Assert((mine & (mine - 1)) == 0),
            Assert(~transmit._sending | slots._queued.bit_select(transmit.slots.done_slot, 1)),
            # Not told, but for an order to leave it; what is told is told with a packet.
            Assert(~(transmit.owing.leave & ~answer.ready)),
            Assert(~takes | (transmit._sending & transmit._carries & (transmit._carried == taken))),
            Assert(~forgot | (transmit._tells & (transmit._control.kind == PacketKind.ACK)
                              & (transmit._control.sequence == shown)
                              & (transmit._control.vi == forgot_vi))),
            # In the packet, which has neither of its own.
            Assume((transmit.slots.read.front & CARRIES) == 0),
            Assume((transmit.slots.read.front >> place)[:8] == 0),
        ]
        with m.If(transmit._sending & ~transmit._forgets & (index == 0)):
            m.d.comb += Assert(((flit & CARRIES) != 0) == transmit._carries)
        with m.If(transmit._sending & ~transmit._forgets & (index == 1)):
            m.d.comb += Assert((flit >> place)[:8] == Mux(transmit._carries, transmit._carried, 0))
        return m


def ports_of(*blocks, more=()):
    return [*(Value.cast(value) for block in blocks
              for _, _, value in block.signature.flatten(block)), *more]


def check_full(slots, transmit, work, depth=1):
    prove(Full(slots, transmit), ports_of(slots, transmit), work, depth=depth)


def check_left(slots, transmit, work, depth=1):
    claims = Left(slots, transmit)
    prove(claims, ports_of(slots, transmit, more=[claims.watched]), work, depth=depth)


def check_owed(owed, work, depth=1):
    claims = Owed(owed)
    prove(claims, ports_of(owed, more=[claims.watched]), work, depth=depth)


@pytest.mark.full
@pytest.mark.parametrize("slots", [4, 8])
def test_who_waits_for_a_slot(tmp_path, slots):
    check_full(SendSlots(slots=slots, words=2), SendTransmit(slots=slots), tmp_path)


@pytest.mark.parametrize("slots", [4, more(8)])
def test_slots_left_to_packets(tmp_path, slots):
    check_left(SendSlots(slots=slots, words=2), SendTransmit(slots=slots), tmp_path)


@pytest.mark.parametrize("window", [1, more(8), more(32)])
def test_who_waits_for_its_window(tmp_path, window):
    decide = SendTurn(window=window, mtu=64)
    prove(Window(decide), ports_of(decide), tmp_path, depth=1)


@pytest.mark.parametrize("vis", [2, 8])
def test_owed_answers(tmp_path, vis):
    check_owed(OwedAnswers(vis=vis), tmp_path)


class Roomy(SendSlots):
    """Does not ask when slots are short."""

    def elaborate(self, platform):
        m = super().elaborate(platform)
        m.d.comb += self.send.asks.eq(self.send.again)
        return m


class Careless(SendSlots):
    """Takes an acknowledgement for packets that have left, too."""

    def elaborate(self, platform):
        m = super().elaborate(platform)
        m.d.comb += self.owing.lined.eq((self._live & self._carries).any())
        return m


class Hasty(OwedAnswers):
    """Takes a turn while another answer comes."""

    def elaborate(self, platform):
        m = super().elaborate(platform)
        m.d.comb += self._turns.o.ready.eq(~self._read | self.o.ready)
        return m


@pytest.mark.full
def test_broken_slots_are_refuted(tmp_path):
    with pytest.raises(Refuted, match=r"DONE \(FAIL"):
        check_full(Roomy(slots=2, words=2), SendTransmit(slots=2), tmp_path, depth=24)


def test_broken_lines_are_refuted(tmp_path):
    with pytest.raises(Refuted, match=r"DONE \(FAIL"):
        check_left(Careless(slots=2, words=2), SendTransmit(slots=2), tmp_path, depth=24)


def test_broken_answers_are_refuted(tmp_path):
    with pytest.raises(Refuted, match=r"DONE \(FAIL"):
        check_owed(Hasty(vis=2), tmp_path, depth=12)
