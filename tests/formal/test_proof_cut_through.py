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
from amaranth.hdl import Assert, Assume, Module, Mux, ResetSignal, Signal, Value
from amaranth.lib import wiring
from nicbed.rtl.vi.receive.packet_machine import PacketMachine
from nicbed.rtl.vi.receive.receive_state import Message
from nicbed.rtl.vi.types import Access

from tests.formal.prover import Refuted, needs_prover, prove

pytestmark = needs_prover

BEHIND = ("REFUSE", "JOB", "ACKNOWLEDGE", "MISS", "PROBED")
"""States of a good packet."""
OPEN = ("CHECK", "DELIVER", "END")


class Verdict(wiring.Elaboratable):
    """The machine between parts that do as they like, and the claims. ``trusts``: it takes every
    packet for a good one."""

    def __init__(self, *, trusts=False):
        self.machine = PacketMachine()
        self.trusts = trusts
        self.whole, self.bad = Signal(), Signal()

    def ports(self):
        seen = (self.machine.words.whole, self.machine.words.bad)
        values = [Value.cast(value)
                  for _, _, value in self.machine.signature.flatten(self.machine)]
        return [self.whole, self.bad,
                *(value for value in values if not any(value is one for one in seen))]

    def elaborate(self, platform):
        m = Module()
        machine = self.machine
        # Elaborated here, so that their insides are there to speak of.
        for part in (machine.finish, machine.serve, machine.deliver):
            inside = part.elaborate(platform)
            part.elaborate = lambda platform, inside=inside: inside
        m.submodules.machine = machine.elaborate(platform)
        ends, serves = machine.finish._state, machine.serve._state
        delivers = machine.deliver._state
        turn, state, walk = machine.turn, machine.state, machine.walk
        words, ahead = machine.words, machine.descriptor.ahead
        m.d.comb += [words.whole.eq(1 if self.trusts else self.whole),
                     words.bad.eq(0 if self.trusts else self.bad)]
        whole, bad = self.whole, self.bad
        good = Signal()
        packet = Signal()
        unknown = Signal()
        m.d.comb += [
            Assume(~ResetSignal()),
            Assume(~ahead.look | ahead.may),
            good.eq(whole & ~bad),
            unknown.eq(packet & ~machine.ongoing("IDLE") & ~good),
        ]
        with m.If(machine.ongoing("IDLE")):
            m.d.sync += packet.eq(words.begin)

        # The verdict stays. At first there is no packet.
        stays, was_bad = Signal(), Signal()
        m.d.sync += [stays.eq(whole & ~words.begin), was_bad.eq(bad)]
        m.d.comb += Assume(~stays | whole & (bad == was_bad))

        # What was kept of the VI when the packet was judged.
        looked = Signal()
        looked_vi = Signal.like(state.vi)
        found = {name: Signal(Message, name=f"found_{name}") for name in ("message", "reading")}
        m.d.sync += [looked.eq(machine.looks), looked_vi.eq(state.vi)]
        with m.If(looked):
            m.d.sync += [found[name].eq(getattr(state, name)) for name in found]
        delivered = Signal(Message)
        m.d.comb += delivered.eq(Mux(turn.on_read, found["reading"], found["message"]))

        held = Signal(Message)
        m.d.comb += [
            held.eq(state.message), held.held.eq(1), held.address.eq(state.next_message.address)]
        with m.If(unknown):
            m.d.comb += [
                Assert(~machine.reports.complete.valid),
                Assert(~machine.sender.control_packet.valid),
                Assert(~machine.sender.read_job.valid), Assert(~machine.event.valid),
                *(Assert(~getattr(machine.counts, name))
                  for name in machine.counts.signature.members),
                Assert(~state.write_sequence), Assert(~state.write_reading),
                Assert(~state.write_message | (Value.cast(state.next_message)
                                               == Value.cast(held))),
                Assert(~state.write_message | (looked & (looked_vi == state.write_vi))),
                Assert(~machine.scatter.request.valid
                       | (machine.scatter.request.payload.access == Access.LOCAL)),
                Assert(~walk.load | Mux(walk.fresh, ~delivered.begun,
                                        (walk.walk.index == delivered.index)
                                        & (walk.walk.offset == delivered.offset))),
            ]
        silent = Signal()
        m.d.sync += silent.eq(unknown)
        for name, port in (("break", machine.reports.break_), ("event", machine.reports.event),
                           ("read_done", machine.sender.read_done),
                           ("acknowledged", machine.sender.acknowledged)):
            # Told once the packet is over; it waits until it is taken.
            told = Signal(name=f"told_{name}")
            m.d.sync += told.eq(port.valid)
            m.d.comb += Assert(~(silent & port.valid) | told)

        # By induction.
        message = turn.message
        m.d.comb += [
            Assert(machine.ongoing("END") == ~ends.ongoing("IDLE")),
            Assert(machine.ongoing("SERVE") == ~serves.ongoing("IDLE")),
            Assert(machine.ongoing("DELIVER") == ~delivers.ongoing("IDLE")),
            Assert(~ends.ongoing("VOID") | whole & bad & looked & (looked_vi == turn.vi)),
        ]
        for of, names, holds in (
                (machine, BEHIND, packet & good), (machine, OPEN, packet),
                (machine, ("SERVE",), ~packet), (machine, ("CHECK",), ~turn.on_read),
                (machine, ("CHECK",), looked & (looked_vi == turn.vi)),
                (delivers, ("WRITE",), good),
                (delivers, ("RESUME",), good | (message.index == delivered.index)
                 & (message.offset == delivered.offset)),
                (delivers, ("DESCRIPTOR",), good | ~delivered.begun)):
            for name in names:
                m.d.comb += Assert(~of.ongoing(name) | holds)
        return m


def test_nothing_counts_before_the_verdict(tmp_path):
    claims = Verdict()
    prove(claims, claims.ports(), tmp_path, depth=2)


def test_a_machine_that_trusts_is_refuted(tmp_path):
    claims = Verdict(trusts=True)
    with pytest.raises(Refuted, match=r"DONE \(FAIL"):
        prove(claims, claims.ports(), tmp_path, depth=8)
