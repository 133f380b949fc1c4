"""Nothing of a packet counts before it is known to be good, whatever the receiver's parts do.

Of the receiver's machine alone: its parts and all around it may do anything, but that the verdict
on a packet, once it is there, stays until the next packet begins, and that what is kept of a VI is
looked up only when it may be. While a packet is under way and
not known to be good, nothing completes, answers, breaks, is counted or told, no RDMA write begins,
and of what is kept of its VI nothing is written but that a receive descriptor is held. Its data is
written only behind what was delivered before. A machine that takes every packet for a good one is
refuted.
"""

import pytest
from amaranth.hdl import Assert, Assume, C, Fragment, Module, Mux, ResetSignal, Signal, Value
from amaranth.lib import wiring
from nicbed.layouts.description import Description
from nicbed.rtl.vi.descriptors.segment_walk import SegmentWalk
from nicbed.rtl.vi.receive.descriptor import ReceiveDescriptor
from nicbed.rtl.vi.receive.packet_data import PacketWords
from nicbed.rtl.vi.receive.parse import ReceiveParse
from nicbed.rtl.vi.receive.receiver import Receiver
from nicbed.rtl.vi.receive.scatter import ScatterWriter
from nicbed.rtl.vi.receive.steps import PacketMachine
from nicbed.rtl.vi.receive.vi_state import Message, ReceiveState
from nicbed.rtl.vi.types import Access

from tests.formal.prover import Refuted, needs_prover, prove

pytestmark = needs_prover

TOLD = ("break_", "event", "read_done", "acknowledged")
"""What is told once the packet is over, and waits until it is taken."""
BEHIND = ("WRITE", "REFUSE", "JOB", "ACKNOWLEDGE", "MISS", "PROBED")
"""States of a good packet."""
OPEN = ("CHECK", "DESCRIPTOR", "RESUME", "WALK", "FINISH", "VOID")
SERVING = ("CONTROL", "FLUSH", "READING", "READ_LOST", "READ_OVER")


class Trusting:
    """Words of packets that are all good to whoever looks."""

    def __init__(self, words):
        self._words = words
        self.whole, self.bad = C(1), C(0)

    def __getattr__(self, name):
        return getattr(self._words, name)


class Verdict(wiring.Elaboratable):
    """The machine between parts that do as they like, and the claims."""

    def __init__(self, *, sees=lambda words: words):
        self.port = Receiver(description=Description.model_validate({"via": {"vis": 8}}))
        self.words = PacketWords(depth=256)
        self.parts = {"parse": ReceiveParse(), "state": ReceiveState(vis=8),
                      "descriptor": ReceiveDescriptor(), "walk": SegmentWalk(),
                      "scatter": ScatterWriter()}
        self.sees = sees

    def ports(self):
        return [Value.cast(value) for block in (self.port, self.words, *self.parts.values())
                for _, _, value in block.signature.flatten(block)]

    def elaborate(self, platform):
        m = Module()
        port, words = self.port, self.words
        machine = PacketMachine(m, port, words=self.sees(words), **self.parts)
        state, descriptor, walk, scatter = (
            self.parts[name] for name in ("state", "descriptor", "walk", "scatter"))
        for unused in (port, words, *self.parts.values()):
            Fragment.get(unused, platform)
        good = Signal()
        packet = Signal()
        unknown = Signal()
        m.d.comb += [
            Assume(~ResetSignal()),
            Assume(~descriptor.look | descriptor.may_look),
            good.eq(words.whole & ~words.bad),
            unknown.eq(packet & ~machine.ongoing("IDLE") & ~good),
        ]
        with m.If(machine.ongoing("IDLE")):
            m.d.sync += packet.eq(words.begin)

        # The verdict stays. At first there is no packet.
        stays, was_bad = Signal(), Signal()
        m.d.sync += [stays.eq(words.whole & ~words.begin), was_bad.eq(words.bad)]
        m.d.comb += Assume(~stays | words.whole & (words.bad == was_bad))

        # What was kept of the VI when the packet was judged.
        looked = Signal()
        looked_vi = Signal.like(state.vi)
        found = {name: Signal(Message, name=f"found_{name}") for name in ("message", "reading")}
        m.d.sync += [looked.eq(machine.looks), looked_vi.eq(state.vi)]
        with m.If(looked):
            m.d.sync += [found[name].eq(getattr(state, name)) for name in found]
        delivered = Signal(Message)
        m.d.comb += delivered.eq(Mux(machine.on_read, found["reading"], found["message"]))

        held = Signal(Message)
        m.d.comb += [
            held.eq(state.message), held.held.eq(1), held.address.eq(state.next_message.address)]
        with m.If(unknown):
            m.d.comb += [
                Assert(~port.complete.valid), Assert(~port.control_packet.valid),
                Assert(~port.read_job.valid), Assert(~port.events[1].valid),
                Assert(~port.unmatched), Assert(~port.duplicate), Assert(~port.gap),
                Assert(~port.dropped),
                Assert(~state.write_sequence), Assert(~state.write_reading),
                Assert(~state.write_message | (Value.cast(state.next_message)
                                               == Value.cast(held))),
                Assert(~state.write_message | (looked & (looked_vi == state.write_vi))),
                Assert(~scatter.request.valid
                       | (scatter.request.payload.access == Access.LOCAL)),
                Assert(~walk.load | Mux(walk.fresh, ~delivered.begun,
                                        (walk.walk.index == delivered.index)
                                        & (walk.walk.offset == delivered.offset))),
            ]
        silent = Signal()
        m.d.sync += silent.eq(unknown)
        for name in TOLD:
            told = Signal(name=f"told_{name}")
            m.d.sync += told.eq(getattr(port, name).valid)
            m.d.comb += Assert(~(silent & getattr(port, name).valid) | told)

        # By induction.
        message = machine.message
        for names, holds in ((BEHIND, packet & good), (OPEN, packet), (SERVING, ~packet),
                             (("VOID",), words.whole & words.bad),
                             (("RESUME",), good | (message.index == delivered.index)
                              & (message.offset == delivered.offset)),
                             (("CHECK",), ~machine.on_read),
                             (("DESCRIPTOR",), good | ~delivered.begun),
                             (("VOID", "CHECK"), looked & (looked_vi == machine.vi))):
            for name in names:
                m.d.comb += Assert(~machine.ongoing(name) | holds)
        return m


def test_nothing_counts_before_the_verdict(tmp_path):
    claims = Verdict()
    prove(claims, claims.ports(), tmp_path, depth=2)


def test_a_machine_that_trusts_is_refuted(tmp_path):
    claims = Verdict(sees=Trusting)
    with pytest.raises(Refuted, match=r"DONE \(FAIL"):
        prove(claims, claims.ports(), tmp_path, depth=8)
