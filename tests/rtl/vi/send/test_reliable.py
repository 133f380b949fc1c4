"""The sender on a lossy wire: acknowledgements, go-back-N, time-outs, breaks, aborts."""

import random
from typing import Any

import cocotb
import pytest
from nicbed.layouts.via import BreakCode, Event, PacketKind, Status

from tests.labs.bench import cycles, parameters, reset_and_clock, run_bench, seed, within
from tests.labs.rows import more
from tests.labs.vi_sender import RD, RR, UD, Descriptor, Lab, Packet
from tests.rtl.vi.send.test_sender import check, sender


class Peer:
    """Receives what a VI sends as the contract says, over a wire that loses and answers late."""

    def __init__(self, lab: Lab, vi: int, *, loss: float, delay: int, seed: int) -> None:
        self.lab, self.vi, self.loss, self.delay = lab, vi, loss, delay
        self.random = random.Random(seed)
        self.expected = 0
        self.said_gap = False
        self.accepted: list[Packet] = []
        self.messages: list[bytes] = []
        self.unacknowledged = 0
        self._body = b""
        cocotb.start_soon(self._run())

    async def _run(self) -> None:
        seen = len(self.lab.packets)
        while True:
            await self.lab.edge
            while seen < len(self.lab.packets):
                packet = self.lab.packets[seen]
                seen += 1
                if packet.source == self.vi and packet.kind == PacketKind.PROBE:
                    self._probe(packet)
                elif packet.source == self.vi and packet.kind < PacketKind.ACK:
                    self._packet(packet)

    def _probe(self, packet: Packet) -> None:
        if self.random.random() >= self.loss:
            cocotb.start_soon(self._answer(self.expected, 0, echo=1, code=packet.value))

    def _packet(self, packet: Packet) -> None:
        if self.random.random() < self.loss:
            return
        ahead = (packet.sequence - self.expected) & 0xFF
        assert ahead < 32 or ahead >= 224, "outside of every window"
        if ahead == 0:
            self.said_gap = False
            self.expected = (self.expected + 1) & 0xFF
            self.accepted.append(packet)
            self._body = packet.data if packet.first else self._body + packet.data
            if packet.last:
                self.messages.append(self._body)
            self.unacknowledged += 1
            assert self.unacknowledged <= 8 or packet.acknowledge, "never asks"
            if packet.acknowledge:
                self.unacknowledged = 0
                cocotb.start_soon(self._answer(self.expected, 0))
        elif ahead >= 128:
            cocotb.start_soon(self._answer(self.expected, 0))
        elif not self.said_gap:
            self.said_gap = True
            cocotb.start_soon(self._answer(self.expected, 1))

    async def _answer(self, sequence: int, again: int, **more: int) -> None:
        if self.random.random() < self.loss:
            return
        for _ in range(self.random.randrange(self.delay + 1)):
            await self.lab.edge
        self.lab.acknowledge(self.vi, sequence, again=again, **more)


@cocotb.test()
async def lossy(dut: Any) -> None:
    """Everything arrives once and in order; RR completes only what has arrived."""
    values = parameters()
    await reset_and_clock(dut)
    lab = Lab(dut, vis=8, seed=seed(), stall=values["stall"], ready=values["ready"],
              timeout=values["timeout"], retries=200)
    rng = random.Random(seed())
    mtu = values["mtu"]
    levels = {1: RD, 2: RR, 3: RR, 5: RD, 6: UD}
    posted: dict[int, list[Descriptor]] = {}
    trace = 0
    for vi, level in levels.items():
        await lab.open(vi, level)
    peers = {vi: Peer(lab, vi, loss=values["loss"], delay=values["delay"], seed=vi)
             for vi, level in levels.items() if level != UD}
    for vi in levels:
        posted[vi] = []
        for _ in range(values["count"]):
            trace += 1
            size = rng.choice((0, 8, mtu, mtu + 1, rng.randrange(12 * mtu), 3))
            cut = rng.randrange(size + 1)
            payload = rng.randbytes(size)
            posted[vi].append(lab.descriptor([payload[:cut], payload[cut:]], trace=trace))
        lab.post(2 * vi, *posted[vi])

    done: dict[int, int] = dict.fromkeys(levels, 0)

    def collect() -> bool:
        for completion in lab.done.taken:
            vi = completion["queue"] >> 1
            descriptor = posted[vi][done[vi]]
            check(completion, 2 * vi, descriptor)
            done[vi] += 1
            if levels[vi] == RR:
                assert len(peers[vi].messages) >= done[vi], "completed before it arrived"
        lab.done.taken.clear()
        return all(count == values["count"] for count in done.values())

    await lab.until(collect, 1_000_000, "all completed")
    await lab.quiet(200_000)
    for vi, peer in peers.items():
        assert peer.messages == [descriptor.payload for descriptor in posted[vi]]
        assert [packet.sequence for packet in peer.accepted] == [
            n & 0xFF for n in range(len(peer.accepted))]
    assert lab.breaks.taken == []
    total = sum(len(peer.accepted) for peer in peers.values())
    assert lab.sent >= total
    assert (lab.resent > 0) == (values["loss"] > 0)


@pytest.mark.parametrize("loss, stall, ready, delay, window, timeout, seed", [
    (0.1, 0.0, 0.7, 100, 1, 900, 5), more(0.0, 0.0, 0.5, 900, 4, 100, 6),
    more(0.0, 0.2, 0.3, 60, 2, 5000, 2), more(0.0, 0.0, 0.0, 0, 4, 5000, 1),
    more(0.2, 0.0, 0.0, 30, 4, 800, 3), more(0.3, 0.1, 0.4, 200, 4, 600, 4)])
def test_lossy(loss: float, stall: float, ready: float, delay: int, window: int, timeout: int,
               seed: int) -> None:
    run_bench(sender(window=window), __file__, testcase="lossy", loss=loss, stall=stall,
              ready=ready, delay=delay, timeout=timeout, mtu=64, count=14, seed=seed,
              many_cycles=True)


@cocotb.test()
async def numbers_wrap(dut: Any) -> None:
    """Sequence numbers go round, with losses on the way."""
    await reset_and_clock(dut)
    lab = Lab(dut, vis=8, seed=seed(), timeout=600, retries=200)
    await lab.open(4, RR)
    peer = Peer(lab, 4, loss=0.05, delay=20, seed=3)
    descriptors = [lab.descriptor([bytes([n] * 8)]) for n in range(150)]
    descriptors[20:20] = [lab.descriptor([random.Random(n).randbytes(64 * 20)]) for n in range(10)]
    lab.post(8, *descriptors)
    for completion, descriptor in zip(await lab.completed(160, 400_000), descriptors, strict=True):
        check(completion, 8, descriptor)
    assert len(peer.accepted) == 350
    assert peer.messages == [descriptor.payload for descriptor in descriptors]


def test_numbers_wrap() -> None:
    run_bench(sender(), __file__, testcase="numbers_wrap", many_cycles=True)


@cocotb.test()
async def silent_peer(dut: Any) -> None:
    """Probes, then the oldest unfinished descriptor fails and the connection breaks; others go on.
    Nothing is sent again: it may have arrived."""
    level = parameters()["level"]
    await reset_and_clock(dut)
    lab = Lab(dut, vis=8, seed=seed(), timeout=300, retries=3)
    await lab.open(1, level)
    await lab.open(2, level)
    Peer(lab, 2, loss=0.0, delay=5, seed=1)
    # The first message is longer than the window.
    mine = [lab.descriptor([b"a" * 64 * 6], trace=1), lab.descriptor([b"b"], trace=2)]
    if parameters()["short"]:
        mine.insert(0, lab.descriptor([b"c" * 10], trace=3))
    lab.post(2, *mine)
    await lab.until(lambda: lab.breaks.taken, 20_000, "a break")
    assert lab.breaks.taken == [{"vi": 1, "event": Event.CONN_LOST}]
    before = lab.cycle
    assert before > 7 * 300, "the second time-out takes twice the first one's time, and so on"
    assert lab.resent == 0
    assert len([p for p in lab.packets if p.kind == PacketKind.PROBE]) == 2
    await lab.abort(1)
    good = 1 if parameters()["short"] and level == RD else 0
    done = await lab.completed(len(mine))
    for number, (completion, descriptor) in enumerate(zip(done, mine, strict=True)):
        error = 0 if number < good else Status.TRANSPORT if number == good else Status.FLUSHED
        check(completion, 2, descriptor, error | (
            Status.PARTIAL if descriptor.trace == 1 else 0))
    await lab.until(lambda: lab.packets[-1].kind == PacketKind.BREAK, 200, "BREAK")
    assert lab.packets[-1].value == BreakCode.LOST
    lab.post(4, other := lab.descriptor([b"still"]))
    check((await lab.completed(1))[0], 4, other)
    await lab.quiet()
    # A new connection begins anew.
    await lab.open(1, level)
    Peer(lab, 1, loss=0.0, delay=5, seed=1)
    lab.post(2, again := lab.descriptor([b"again" * 20]))
    check((await lab.completed(1))[0], 2, again)
    await lab.quiet()
    assert [packet.sequence for packet in lab.packets if packet.source == 1][-2:] == [0, 1]


@pytest.mark.parametrize("level, short", [(RD, False), (RR, True), more(RR, False), more(RD, True)])
def test_silent_peer(level: int, short: bool) -> None:
    run_bench(sender(), __file__, testcase="silent_peer", level=int(level), short=short,
              many_cycles=True)


@cocotb.test()
async def peer_breaks(dut: Any) -> None:
    """A BREAK completes what has arrived before it, blames the descriptor it is about. LOST is
    about none, and its number says nothing: all are flushed."""
    values = parameters()
    await reset_and_clock(dut)
    lab = Lab(dut, vis=8, seed=seed(), timeout=5000)
    await lab.open(1, RR)
    mine = [lab.descriptor([bytes([n] * 8)], trace=n) for n in range(4)]
    lab.post(2, *mine)
    await lab.until(lambda: len(lab.packets) == 4, 2000, "packets")
    lab.acknowledge(1, 2, broken=1, code=values["code"])
    await lab.until(lambda: lab.breaks.taken, 200, "a break")
    await lab.abort(1)
    done = await lab.completed(4)
    flushed = Status.FLUSHED
    blamed = {BreakCode.REMOTE_DESCRIPTOR: Status.REMOTE_DESCRIPTOR,
              BreakCode.RDMA_PROTECTION: Status.RDMA_PROTECTION,
              BreakCode.TRANSPORT: Status.TRANSPORT}
    code = BreakCode(values["code"])
    errors = (flushed,) * 4 if code is BreakCode.LOST else (0, 0, blamed[code], flushed)
    for completion, descriptor, error in zip(done, mine, errors, strict=True):
        check(completion, 2, descriptor, error)
    await lab.quiet()
    assert len(lab.breaks.taken) == 1


@pytest.mark.parametrize("code", list(BreakCode))
def test_peer_breaks(code: BreakCode) -> None:
    run_bench(sender(), __file__, testcase="peer_breaks", code=int(code))


@cocotb.test()
async def aborts(dut: Any) -> None:
    """An abort at any moment: every descriptor completes once, in order, good ones first; the
    others flushed; other VIs are not disturbed; the VI can be connected again."""
    values = parameters()
    await reset_and_clock(dut)
    lab = Lab(dut, vis=8, seed=seed(), stall=values["stall"], ready=values["ready"], timeout=700,
              retries=200)
    rng = random.Random(seed())
    await lab.open(7, RR)
    bystander = Peer(lab, 7, loss=0.1, delay=20, seed=9)
    others: list[Descriptor] = []
    finished = partials = 0
    for round_ in range(values["count"]):
        level = rng.choice((UD, RD, RR))
        vi = rng.randrange(1, 5)
        sent = len(lab.packets)
        await lab.open(vi, level)
        peer = Peer(lab, vi, loss=0.2, delay=40, seed=round_) if level != UD else None
        mine = [lab.descriptor([rng.randbytes(rng.choice((0, 8, 64, 200, 500)))], trace=n)
                for n in range(rng.randrange(1, 7))]
        lab.post(2 * vi, *mine)
        received = [lab.descriptor([b"x" * 20]) for _ in range(rng.randrange(3))]
        if received:
            lab.post(2 * vi + 1, *received)
        more = [lab.descriptor([rng.randbytes(rng.randrange(200))]) for _ in range(2)]
        others += more
        await lab.until(lambda: not lab.vis[7].posted[0], 20_000, "the bystander's taken")
        lab.post(14, *more)
        await cycles(dut, rng.choice((1, rng.randrange(60), rng.randrange(400),
                                      rng.randrange(2000))))
        await lab.abort(vi)
        done: list[dict[str, int]] = []
        back: list[dict[str, int]] = []

        def collect(vi: int = vi, done: list = done, back: list = back,
                    others: list = others) -> bool:
            nonlocal finished
            for completion in lab.done.taken:
                if completion["queue"] == 14:
                    check(completion, 14, others[finished])
                    finished += 1
                elif completion["queue"] == 2 * vi:
                    done.append(completion)
                else:
                    assert completion["queue"] == 2 * vi + 1
                    back.append(completion)
            lab.done.taken.clear()
            return len(done) == len(mine) and len(back) == len(received)  # noqa: B023

        await lab.until(collect, 40_000, f"round {round_}, all of them")
        bad = False
        for completion, descriptor in zip(done, mine, strict=True):
            bad = bad or bool(completion["status"] & Status.FLUSHED)
            went = any(packet.source == vi and packet.trace == descriptor.trace
                       and packet.kind == PacketKind.SEND for packet in lab.packets[sent:])
            partial = completion["status"] & Status.PARTIAL
            partials += bool(partial)
            if partial:
                assert len(descriptor.payload) > 64
            elif bad:
                assert level == RR or not went, "partly sent"
            check(completion, 2 * vi, descriptor, Status.FLUSHED | partial if bad else 0)
        for completion, descriptor in zip(back, received, strict=True):
            assert completion["address"] & (1 << 38) - 1 == descriptor.va
            assert completion["status"] == Status.FLUSHED | 1 << 16
        good = sum(1 for completion in done if not completion["status"] & Status.FLUSHED)
        if level == RR:
            assert peer is not None and len(peer.messages) >= good
        if peer is not None:
            peer.loss = 1.0
            peer.vi = -1
        await cycles(dut, rng.randrange(100))
        lab.vis[vi].state = 1
    await lab.until(lambda: (collect(), finished == len(others))[1], 100_000, "the bystander")
    await lab.quiet(20_000)
    assert partials
    assert bystander.messages == [descriptor.payload for descriptor in others]
    assert lab.breaks.taken == []


@pytest.mark.parametrize("stall, ready, seed", [
    (0.1, 0.9, 4), more(0.0, 0.0, 1), more(0.2, 0.3, 2), more(0.0, 0.8, 3)])
def test_aborts(stall: float, ready: float, seed: int) -> None:
    run_bench(sender(), __file__, testcase="aborts", stall=stall, ready=ready, count=16, seed=seed,
              many_cycles=True)


@cocotb.test()
async def no_slot(dut: Any) -> None:
    """Dead peers hold all slots: an abort of the VI that waits for one is over at once, and
    acknowledgements are taken."""
    await reset_and_clock(dut)
    lab = Lab(dut, vis=8, seed=seed(), timeout=100_000)
    for vi, level in ((1, RD), (2, RR), (3, UD)):
        await lab.open(vi, level)
    for vi in (1, 2):
        lab.post(2 * vi, lab.descriptor([b"d" * 64 * 9]))
    await lab.until(lambda: len(lab.packets) == 8, 5000, "all slots")
    lab.post(6, waits := lab.descriptor([b"waits"]))
    await cycles(dut, 300)
    assert len(lab.packets) == 8 and lab.done.taken == []
    began = lab.cycle
    await within(500, lab.abort(3))
    assert lab.cycle - began < 40
    check((await lab.completed(1, 200))[0], 6, waits, Status.FLUSHED)
    lab.acknowledge(1, 2)
    await lab.until(lambda: len(lab.packets) == 10, 500, "two more")


def test_no_slot() -> None:
    run_bench(sender(), __file__, testcase="no_slot")
