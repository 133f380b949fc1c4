"""VI contexts: what was written is read, by everybody, from the next cycle on."""

import random
from typing import Any

import cocotb
import pytest
from cocotb.triggers import RisingEdge
from nicbed.rtl.vi.contexts import Contexts
from nicbed.rtl.vi.types import Context

from tests.labs.bench import cycles, parameters, reset_and_clock, run_bench, seed, unpack
from tests.labs.rows import more


def write(dut: Any, valid: bool, vi: int, attributes: int, peer: int) -> None:
    """What the manager lays down in the next cycle."""
    dut.write__valid.value, dut.write__vi.value = int(valid), vi
    dut.write__attributes.value, dut.write__peer.value = attributes, peer


def set_state(dut: Any, valid: bool, vi: int = 0, state: int = 0) -> None:
    """The state that a VI is put in in the next cycle."""
    dut.set_state__valid.value, dut.set_state__vi.value = int(valid), vi
    dut.set_state__state.value = state


async def sweep(dut: Any, vis: int) -> None:
    """Wait for ``ready``, which comes after one cycle a VI."""
    count = 0
    while dut.ready.value != 1:
        assert count <= vis, f"not ready after {count} cycles"
        count += 1
        await RisingEdge(dut.clk)


@cocotb.test()
async def agrees_with_a_model(dut: Any) -> None:
    vis, readers = parameters()["vis"], parameters()["readers"]
    rng = random.Random(seed())
    await reset_and_clock(dut)
    await sweep(dut, vis)
    # Few enough to meet again.
    pool = rng.sample(range(vis), 8)
    laid: dict[int, tuple[int, int]] = {}
    states = [0] * vis
    expected: list[Any] = [None] * readers
    edge = RisingEdge(dut.clk)
    checked = 0
    busy = 0.9
    for cycle in range(parameters()["cycles"]):
        if cycle % 100 == 0:
            busy = rng.choice([0.02, 0.3, 0.9])
        for reader in range(readers):
            port = getattr(dut, f"read__{reader}__vi")
            # Long stays, so that a write must reach who does not move.
            if rng.random() < 0.4:
                port.value = rng.randrange(4096) if rng.random() < 0.1 else rng.choice(pool)
        writes, sets = rng.random() < busy, rng.random() < busy
        write_vi = rng.choice(pool) if rng.random() < 0.95 else rng.randrange(4096)
        state_vi = rng.choice(pool) if rng.random() < 0.95 else rng.randrange(4096)
        words = rng.getrandbits(46), rng.getrandbits(60)
        state = rng.randrange(4)
        write(dut, writes, write_vi, *words)
        set_state(dut, sets, state_vi, state)
        await edge
        for reader in range(readers):
            if expected[reader] is not None:
                vi, both, was = expected[reader]
                got = unpack(Context, int(getattr(dut, f"read__{reader}__data").value))
                assert got["state"] == was, (cycle, reader, vi)
                if both is not None:
                    assert (got["attributes"], got["peer"]) == both, (cycle, reader, vi)
                    checked += 1
            vi = int(getattr(dut, f"read__{reader}__vi").value)
            expected[reader] = (vi, laid.get(vi), states[vi] if vi < vis else 0)
        # A write of this cycle is seen by who asks in the next.
        if writes and write_vi < vis:
            laid[write_vi] = words
        if sets and state_vi < vis:
            states[state_vi] = state
    assert checked > readers * parameters()["cycles"] / 2


@cocotb.test()
async def closes_all_at_reset(dut: Any) -> None:
    vis = parameters()["vis"]
    await reset_and_clock(dut)
    edge = RisingEdge(dut.clk)
    await sweep(dut, vis)
    for vi in range(vis):
        set_state(dut, True, vi, 2)
        await edge
    set_state(dut, False)
    dut.read__0__vi.value = vis - 1
    await cycles(dut, 3)
    assert unpack(Context, int(dut.read__0__data.value))["state"] == 2
    assert dut.idle.value == 1
    dut.rst.value = 1
    await edge
    dut.rst.value = 0
    # Closed at once, although the sweep has not come to it.
    await edge
    await edge
    while dut.ready.value != 1:
        assert unpack(Context, int(dut.read__0__data.value))["state"] == 0
        assert dut.idle.value == 0
        await edge
    for vi in range(vis):
        dut.read__0__vi.value = vi
        await cycles(dut, 2)
        assert unpack(Context, int(dut.read__0__data.value))["state"] == 0


@pytest.mark.parametrize("vis, readers", [(8, 3), more(64, 1), (4096, 2)])
def test_agrees_with_a_model(vis: int, readers: int) -> None:
    run_bench(Contexts(vis=vis, readers=readers), __file__, testcase="agrees_with_a_model",
              vis=vis, readers=readers, cycles=1500, seed=vis)


@pytest.mark.parametrize("vis", [2, 16])
def test_closes_all_at_reset(vis: int) -> None:
    run_bench(Contexts(vis=vis, readers=1), __file__, testcase="closes_all_at_reset", vis=vis)


@pytest.mark.parametrize("vis", [0, 1, 12, 8192])
def test_vis_is_a_power_of_two(vis: int) -> None:
    with pytest.raises(ValueError, match="vis must be "):
        Contexts(vis=vis, readers=1)


def test_parameters_are_integers() -> None:
    with pytest.raises(TypeError, match="vis must be an integer, not '8'"):
        Contexts(vis="8", readers=1)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="readers must be an integer, not 1.5"):
        Contexts(vis=8, readers=1.5)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="readers must be at least 1, not 0"):
        Contexts(vis=8, readers=0)
