"""A target of nothing but host ports that can only delay: what back ends are tested against.

It keeps the protocol of the top ports (attention, stall, go, waiting, entries, answers) as the
whole target does, one entry a block, and emits an event per operation.
"""

from amaranth.hdl import Cat, ClockSignal, Instance, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out
from nicbed.layouts.description import Description
from nicbed.layouts.operations import ANSWER_WORDS, BLOCK, ENTRY_WORDS, WORK_BITS, Op
from nicbed.layouts.processor import CRASH_WORDS

__all__ = ["ToyTarget"]


class ToyTarget(wiring.Component):
    """``ports`` host ports that execute DELAY and STOP."""

    def __init__(self, *, ports: int) -> None:
        self._ports = ports
        super().__init__({
            "cfg_we": In(1), "cfg_index": In(8), "cfg_data": In(32), "trace_enable": In(1),
            "profile_enable": In(1), "crash": Out(32 * CRASH_WORDS),
            "skip_enable": In(1), "limit": In(64), "attention": Out(1), "stall": Out(1),
            "expired": Out(1), "cycle": Out(64), "waiting": Out(ports, init=(1 << ports) - 1),
            "stopped": Out(ports), "quiescent": Out(1), "go": In(ports),
            **{f"port{p}_{name}": member for p in range(ports) for name, member in {
                "count": In(3), "entries": In(BLOCK * ENTRY_WORDS * 32),
                "answers": Out(BLOCK * ANSWER_WORDS * 32)}.items()},
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        after = Signal(64)
        expires = Signal()
        m.d.comb += [after.eq(self.cycle + 1),
                     expires.eq((self.limit != 0) & (after >= self.limit))]
        m.d.sync += self.cycle.eq(after)
        with m.If(expires):
            m.d.sync += self.expired.eq(1)
        seen = Signal(self._ports)
        m.d.sync += seen.eq(self.go)
        ended = []
        for p in range(self._ports):
            entries = getattr(self, f"port{p}_entries")
            work = entries[32 + WORK_BITS:64]
            deadline = Signal(32, name=f"deadline{p}")
            ends = Signal(name=f"ends{p}")
            given = Signal(name=f"given{p}")
            m.d.comb += given.eq(self.waiting[p] & (self.go[p] != seen[p]))
            with m.If(given):
                m.d.sync += self.waiting[p].eq(0)
                with m.If(entries[:4] == Op.STOP):
                    m.d.sync += self.stopped[p].eq(1)
                with m.Else():
                    m.d.sync += deadline.eq(self.cycle + work)
                    m.d.comb += ends.eq(work <= 1)
            with m.Elif(~self.waiting[p] & ~self.stopped[p]):
                m.d.comb += ends.eq(after[:32] == deadline)
            with m.If(ends):
                m.d.sync += self.waiting[p].eq(1)
                m.d.sync += getattr(self, f"port{p}_answers").eq(Cat(after[:32]))
            ended.append(ends)
            m.submodules += Instance(
                "nicbed_trace", i_clk=ClockSignal(), i_enable=self.trace_enable, i_valid=ends,
                i_cycle=self.cycle, i_node=p, i_block=0, i_kind=1, i_number=p + 1,
                i_arg=Mux(given, 1, 0))
        m.d.comb += self.stall.eq((self.waiting & ~(self.go ^ seen)).any() | self.expired)
        with m.If(Cat(ended).any() | (expires & ~self.expired)):
            m.d.sync += self.attention.eq(~self.attention)
        return m


def make(*, description: Description, memory: str, gated: bool = False) -> ToyTarget:
    """The toy for a description, as the simulators' builder asks for it."""
    return ToyTarget(ports=description.fabric.nodes)


def make_half(*, description: Description, memory: str, gated: bool = False) -> ToyTarget:
    """A toy that breaks when part of it is made."""
    toy = make(description=description, memory=memory, gated=gated)
    raise RuntimeError(f"half-way: {toy.signature.members['go'].shape}")
