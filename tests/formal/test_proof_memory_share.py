"""Nobody starves at NIC memory's port, proven for all time; broken shares are refuted."""

import pytest
from amaranth.hdl import Assert, Assume, Cat, Module, Mux, ResetSignal, Signal, Value
from amaranth.lib import wiring
from nicbed.rtl.processor.memory.memory_share import MemoryShare

from tests.formal.prover import Refuted, needs_prover, prove

pytestmark = needs_prover

FIELDS = ("valid", "write", "address", "data", "strobe")


class Served(wiring.Elaboratable):
    """At most one client is served in a cycle, with its own access and all of it; the first
    client at once, any other after at most clients - 2 others."""

    def __init__(self, share: MemoryShare) -> None:
        self.share = share

    def elaborate(self, platform):
        m = Module()
        m.submodules.share = share = self.share
        memory = share.memory
        turn = share._arbiter._turn
        count = share.clients - 1
        took = Signal(share.clients)
        m.d.comb += [
            Assume(~ResetSignal()),
            took.eq(Cat(client.valid & client.ready for client in share.client)),
            Assert((took & (took - 1)) == 0),
            Assert(took.any() == (memory.valid & memory.ready)),
            Assert(memory.valid == Cat(client.valid for client in share.client).any()),
            Assert(~(share.client[0].valid & memory.ready) | took[0]),
        ]
        for number, client in enumerate(share.client):
            m.d.comb += Assert(client.read == memory.read)
            with m.If(took[number]):
                m.d.comb += [Assert(getattr(memory, field) == getattr(client, field))
                             for field in FIELDS]

        first = Signal(range(count + 1))
        for n in reversed(range(count)):
            with m.If(turn[n] & (turn[:n] == 0)):
                m.d.comb += first.eq(n)
        m.d.comb += Assert((turn == 0) | (turn == ~((1 << first) - 1) & ((1 << count) - 1)))
        for n, client in enumerate(list(share.client)[1:]):
            # Accesses of others, the first client's not counted, since this one began to ask.
            waited = Signal(range(count + 1), name=f"waited_{n}")
            with m.If(~client.valid | took[n + 1]):
                m.d.sync += waited.eq(0)
            with m.Elif(took[1:].any()):
                m.d.sync += waited.eq(waited + 1)
            distance = Mux(first <= n, n - first, n + count - first)
            m.d.comb += [
                Assert(waited <= count - 1),
                Assert(waited + distance <= count - 1),
            ]
        return m


def check(share: MemoryShare, work, *, depth: int) -> None:
    ports = [Value.cast(value) for _, _, value in share.signature.flatten(share)]
    prove(Served(share), ports, work, depth=depth)


@pytest.mark.parametrize("clients", [2, 6])
def test_nobody_starves(tmp_path, clients):
    check(MemoryShare(clients=clients), tmp_path, depth=2)


class Unfair(MemoryShare):
    """The turn stays: the lowest client first."""

    def elaborate(self, platform):
        m = super().elaborate(platform)
        m.d.comb += self._arbiter.advance.eq(0)
        return m


class Impatient(MemoryShare):
    """Moves the turn on while client 0 has the port."""

    def elaborate(self, platform):
        m = super().elaborate(platform)
        m.d.comb += self._arbiter.advance.eq(1)
        return m


class Generous(MemoryShare):
    """Tells client 1 that it was served whenever it asks."""

    def elaborate(self, platform):
        m = super().elaborate(platform)
        with m.If(self.client[1].valid):
            m.d.comb += self.client[1].ready.eq(1)
        return m


@pytest.mark.parametrize("broken", [Unfair, Impatient, Generous])
def test_broken_share_is_refuted(tmp_path, broken):
    with pytest.raises(Refuted, match=r"DONE \(FAIL"):
        check(broken(clients=6), tmp_path, depth=16)
