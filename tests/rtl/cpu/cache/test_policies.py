"""The policies of a cache of one CPU: every decision, against the rules in words."""

import itertools
from typing import Any

import pytest
from amaranth.sim import Simulator
from nicbed.layouts.operations import Forgotten
from nicbed.rtl.cpu.cache.flushing import Flushing
from nicbed.rtl.cpu.cache.policy import Step
from nicbed.rtl.cpu.cache.private import Private
from nicbed.rtl.cpu.cache.upgrading import Upgrading

ACCESS, SNOOP = 0x40, 0x80


def first_step(policy: Any, kind: str, hit: bool, dirty: bool, held: bool) -> Step:
    """What an access of this kind does first."""
    if kind == "block":
        return Step.CHANGE if hit else Step.END
    if kind == "flush":
        return Step.END if not hit else Step.FLUSH if dirty else Step.CHANGE
    if hit and kind != "fetch":
        if kind == "load" or dirty:
            return Step.END
        return Step.UPGRADE if isinstance(policy, Upgrading) else Step.CHANGE
    # A fetched line stays where it is, unless it has to be as if flushed.
    leaves = held and dirty and (not hit or isinstance(policy, Flushing))
    return Step.BACK if leaves else Step.READ


@pytest.mark.parametrize("policy, kinds", [
    (Private(), ("load", "store", "fetch", "block")),
    (Upgrading(), ("load", "store", "fetch")),
    (Flushing(), ("load", "store", "fetch", "flush"))], ids=lambda one: type(one).__name__)
def test_an_access_begins_as_its_line_is(policy: Any, kinds: tuple[str, ...]) -> None:
    given = set()

    async def bench(ctx: Any) -> None:
        for kind, hit, held, dirty in itertools.product(kinds, *[(False, True)] * 3):
            if hit and not held:
                continue
            ctx.set(policy.access, {
                "address": ACCESS, "hit": hit, "store": kind in ("store", "block"),
                "fetch": kind == "fetch", "block": kind == "block", "flush": kind == "flush"})
            ctx.set(policy.own.held, held)
            ctx.set(policy.own.dirty, dirty)
            step = ctx.get(policy.step)
            assert step == first_step(policy, kind, hit, dirty, held), (kind, hit, held, dirty)
            given.add(step)
            assert ctx.get(policy.fills) == (not hit or isinstance(policy, Flushing))
            assert ctx.get(policy.entered.held) == (kind not in ("block", "flush"))
            if kind in ("load", "store", "fetch"):
                assert ctx.get(policy.entered.dirty) == (kind == "store")

    simulator = Simulator(policy)
    simulator.add_testbench(bench)
    simulator.run()
    assert given == policy.steps


@pytest.mark.parametrize("policy", [Private(), Upgrading(), Flushing()],
                         ids=lambda one: type(one).__name__)
def test_a_snoop_changes_its_line(policy: Any) -> None:
    flushes = isinstance(policy, Flushing)

    async def bench(ctx: Any) -> None:
        for valid, write, known, meets, passed, dirty, stale in itertools.product(
                *[(False, True)] * 7):
            ctx.set(policy.snoop, {"valid": valid, "write": write, "address": SNOOP,
                                   "known": known, "meets": meets, "passed": passed})
            ctx.set(policy.other.held, known)
            ctx.set(policy.other.dirty, dirty)
            if flushes:
                ctx.set(policy.other.stale, stale)
            change = policy.change
            assert ctx.get(change.valid) == (valid and known and (
                write and not stale if flushes else write or dirty))
            if ctx.get(change.valid):
                assert ctx.get(change.address) == SNOOP
                assert ctx.get(change.state.held) == (flushes or not write)
                assert ctx.get(change.state.dirty) == (flushes and dirty)
                assert not flushes or ctx.get(change.state.stale)
            assert ctx.get(policy.strikes) == (valid and write and meets
                                               and (passed or not flushes))
            fault = ctx.get(policy.fault)
            assert fault.valid == (flushes and valid and known and dirty)
            if fault.valid:
                assert fault.what == (Forgotten.LOST_WRITE if write else Forgotten.OLD_READ)
                assert fault.address == SNOOP

    simulator = Simulator(policy)
    simulator.add_testbench(bench)
    simulator.run()


def test_a_store_waits_for_a_snoop_of_its_line() -> None:
    policy = Upgrading()

    async def bench(ctx: Any) -> None:
        for store, meets in itertools.product((0, 1), (0, 1)):
            ctx.set(policy.access.store, store)
            ctx.set(policy.snoop.meets, meets)
            assert ctx.get(policy.waits) == (store and meets)

    simulator = Simulator(policy)
    simulator.add_testbench(bench)
    simulator.run()


def test_an_access_to_a_stale_line_is_a_fault() -> None:
    policy = Flushing()

    async def bench(ctx: Any) -> None:
        for hit, stale, fetch, flush in itertools.product(*[(0, 1)] * 4):
            ctx.set(policy.access, {"address": ACCESS, "hit": hit, "fetch": fetch, "flush": flush})
            ctx.set(policy.own.held, hit)
            ctx.set(policy.own.stale, stale)
            fault = ctx.get(policy.fault)
            assert fault.valid == (hit and stale and not fetch and not flush)
            if fault.valid:
                assert (fault.what, fault.address) == (Forgotten.OLD_LOAD, ACCESS)

    simulator = Simulator(policy)
    simulator.add_testbench(bench)
    simulator.run()
