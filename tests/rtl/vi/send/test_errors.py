"""The sender and descriptors that are wrong: each completes as the contract says, and the other
VIs go on."""

import random
from typing import Any

import cocotb
import pytest
from nicbed.layouts.via import Event, Status, format_error

from tests.labs.bench import parameters, reset_and_clock, run_bench, seed
from tests.labs.rows import more
from tests.labs.vi_sender import RD, RR, UD, Descriptor, Lab
from tests.rtl.vi.send.test_sender import check, sender


def wrong(lab: Lab, rng: random.Random, kind: str, reliable: bool) -> tuple[Descriptor, int]:
    """A descriptor with one thing wrong, and the error it completes with."""
    good = lab.buffer(b"g" * 100)
    if kind == "format":
        while True:
            control, count = rng.randrange(1 << 16) & rng.choice((15, 31, 0xFFFF)), rng.choice(
                (0, 1, 253, 0xFFFF))
            if format_error(False, count, control, reliable):
                break
        descriptor = lab.descriptor([], control=control, count=count,
                                    segments=[(*good, 10)] * 2, length=20)
        descriptor.operation = control & 3 if control & 3 != 3 else 0
        return descriptor, Status.FORMAT
    if kind == "tag":
        va, handle = lab.memory.region(10, tag=8)
        return lab.descriptor([], segments=[(*good, 5), (va, handle, 5)],
                              length=10), Status.PROTECTION
    if kind == "bounds":
        return lab.descriptor([], segments=[(*good, 101)], length=101), Status.PROTECTION
    if kind == "wide":
        va, handle = good
        place = (va | 1 << rng.randrange(38, 64), handle) if rng.random() < 0.5 else (
            va, handle | 1 << rng.randrange(26, 32))
        return lab.descriptor([], segments=[(*place, 9)], length=9), Status.PROTECTION
    if kind == "remote":
        remote = (1 << rng.randrange(38, 64), 5) if rng.random() < 0.5 else (
            9, 1 << rng.randrange(26, 32))
        descriptor = lab.descriptor([b"abc"], operation=1, remote=remote)
        return descriptor, Status.PROTECTION
    if kind == "block":
        # Its third block lies behind the region's end.
        count = rng.randrange(3, 20)
        return lab.descriptor([], segments=[(*good, 4)] * count, length=4 * count,
                              room=32 + 16 * (count - 1)), Status.PROTECTION
    if kind == "sum":
        return lab.descriptor([], segments=[(*good, 30)] * 3,
                              length=90 + rng.choice((-90, -1, -30, 1, 100))), Status.LENGTH
    assert kind == "long"
    return lab.descriptor([], segments=[(*good, 100)] * 20, length=2000), Status.LENGTH


KINDS = ("format", "tag", "bounds", "wide", "remote", "block", "sum", "long")


@cocotb.test()
async def errors(dut: Any) -> None:
    values = parameters()
    level = values["level"]
    await reset_and_clock(dut)
    lab = Lab(dut, vis=8, seed=seed(), stall=values["stall"], retries=100, timeout=3000)
    rng = random.Random(seed())
    await lab.open(7, UD)
    seen: set[tuple[int, bool]] = set()
    for round_ in range(values["count"]):
        kind = KINDS[round_ % len(KINDS)]
        vi = 1 + round_ % 4
        await lab.open(vi, level, max_transfer=1999)
        bad, error = wrong(lab, rng, kind, level != UD)
        bad.trace = 77
        if kind in ("format",):
            bad.trace = 0
            bad.payload = b""
        else:
            # The trace number is in the descriptor.
            lab.memory.write(bad.va + 16, bad.handle, (77).to_bytes(4, "little"))
        before = [lab.descriptor([b"q" * rng.randrange(64)], trace=n)
                  for n in range(rng.randrange(3))]
        after = [lab.descriptor([b"p" * rng.randrange(64)], trace=n)
                 for n in range(rng.randrange(3))]
        mine = [*before, bad, *after]
        sent = len(lab.packets)
        lab.post(2 * vi, *mine)
        lab.post(14, other := lab.descriptor([b"bystander"]))
        if level == UD:
            done = await lab.completed(len(mine) + 1)
        else:
            if level == RR and before:
                await lab.until(lambda sent=sent, vi=vi, before=before: sum(
                    packet.source == vi for packet in lab.packets[sent:]) >= len(before),
                    5000, "what is before it")
                lab.acknowledge(vi, len(before))
            await lab.until(lambda: lab.breaks.taken, 5000, "a break")
            assert await lab.breaks.receive(1) == [{"vi": vi, "event": Event.CONN_LOST}]
            await lab.abort(vi)
            done = await lab.completed(len(mine) + 1)
        check(next(c for c in done if c["queue"] == 14), 14, other)
        done = [c for c in done if c["queue"] == 2 * vi]
        failed = False
        for completion, descriptor in zip(done, mine, strict=True):
            if descriptor is bad:
                begun = any(packet.source == vi and packet.trace == 77
                            for packet in lab.packets[sent:])
                check(completion, 2 * vi, bad, error | (Status.PARTIAL if begun else 0))
                seen.add((error, begun))
                failed = True
            elif level == UD or not failed:
                check(completion, 2 * vi, descriptor)
            else:
                check(completion, 2 * vi, descriptor, Status.FLUSHED)
        await lab.quiet()
        assert lab.breaks.taken == []
        if level == UD:
            want = [d.payload for d in (*before, *after)]
            got = [p.data for p in lab.packets[sent:] if p.source == vi and p.last]
            assert got == want, kind
        lab.vis[vi].state = 1
    assert (Status.LENGTH, True) in seen and (Status.PROTECTION, False) in seen


@pytest.mark.parametrize("level, stall, seed", [
    (UD, 0.2, 2), more(RD, 0.1, 3), more(RR, 0.2, 5), more(UD, 0.0, 1), more(RR, 0.0, 4)])
def test_errors(level: int, stall: float, seed: int) -> None:
    run_bench(sender(), __file__, testcase="errors", level=int(level), stall=stall, count=24,
              seed=seed, many_cycles=True)


@cocotb.test()
async def unreadable(dut: Any) -> None:
    """A descriptor nobody can read: POST_DESC, a silent completion, the chain forgotten."""
    await reset_and_clock(dut)
    lab = Lab(dut, vis=8, seed=seed())
    for kind in ("handle", "short", "odd", "next wide", "next foreign"):
        await lab.open(1, UD)
        good = lab.descriptor([b"first"])
        bad = lab.descriptor([b"second"], room=24 if kind == "short" else None)
        last = lab.descriptor([b"third"])
        if kind == "handle":
            bad.handle += 1 << 20
            bad.room = 0
        if kind == "odd":
            bad.va += 8
        lab.post(2, good, bad, last)
        if kind.startswith("next"):
            value = bad.va | 1 << 50 if kind == "next wide" else bad.va + (1 << 30)
            lab.memory.write(good.va, good.handle, value.to_bytes(8, "little"))
        done = await lab.completed(2)
        check(done[0], 2, good)
        assert done[1]["silent"] and done[1]["queue"] == 2
        await lab.quiet()
        assert await lab.breaks.receive(1) == [{"vi": 1, "event": Event.POST_DESC}], kind
        assert lab.links.taken[-1]["lost"] and not lab.vis[1].posted[0]
        lab.vis[1].linked.clear()
    await lab.open(1, UD)
    lab.post(2, good := lab.descriptor([b"again"]))
    check((await lab.completed(1))[0], 2, good)


def test_unreadable() -> None:
    run_bench(sender(), __file__, testcase="unreadable")


@cocotb.test()
async def idle_flushes(dut: Any) -> None:
    """Sends posted to a VI that is not connected complete flushed, with their operation; receives
    stay; a VI in error that was never connected flushes both."""
    await reset_and_clock(dut)
    lab = Lab(dut, vis=8, seed=seed())
    await lab.open(1, RR, connect=False)
    mine = [lab.descriptor([b"one"]), lab.descriptor([b"two"], operation=1),
            lab.descriptor([b""], operation=2)]
    lab.post(2, *mine)
    for completion, descriptor in zip(await lab.completed(3), mine, strict=True):
        check(completion, 2, descriptor, Status.FLUSHED)
    receives = [lab.descriptor([b"12"]) for _ in range(3)]
    lab.post(3, *receives)
    await lab.quiet()
    assert lab.done.taken == [] and len(lab.vis[1].posted[1]) == 3
    lab.vis[1].state = 3
    lab.wake(2)
    lab.wake(3)
    for completion, descriptor in zip(await lab.completed(3), receives, strict=True):
        assert completion["address"] & (1 << 38) - 1 == descriptor.va and completion["queue"] == 3
        assert completion["status"] == Status.FLUSHED | 1 << 16
    await lab.quiet()
    assert lab.packets == [] and lab.breaks.taken == []


def test_idle_flushes() -> None:
    run_bench(sender(), __file__, testcase="idle_flushes")
