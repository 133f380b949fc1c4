"""The turns of two nodes on one copy: in order, and nothing moves that somebody looks at."""

import random
from typing import Any

import pytest
from amaranth.sim import Simulator
from nicbed.rtl.boards.turns import Turns
from nicbed.rtl.machine import Machine
from nicbed.rtl.node.shared_nodes import Turn

from tests.programs.am import describe


@pytest.mark.parametrize("eager", [0.0, 0.3, 1.0])
def test_turns(eager: float) -> None:
    """``step`` as its owner has it: it changes where it may look, and nowhere else."""
    turn = Turn()
    turns = Turns(turn=turn)
    rng = random.Random(1)
    clocks = []

    async def owner(sim: Any) -> None:
        for _ in range(2000):
            await sim.delay(1e-7)
            clocks.append({name: sim.get(signal) for name, signal in {
                "bank": turn.bank, "first": turn.edge & ~turn.bank,
                "second": turn.edge & turn.bank,
                "keep": turn.keep, "last": turns.last, "look": turns.look,
                "step": turns.step}.items()})
            looks = sim.get(turns.look)
            await sim.tick()
            if looks:
                sim.set(turns.step, rng.random() < eager)

    simulator = Simulator(turns)
    simulator.add_clock(1e-6)
    simulator.add_testbench(owner)
    simulator.run()

    shown = False       # node 1, since somebody moved
    settles = 0
    for now, then in zip(clocks, clocks[1:], strict=False):
        assert now["second"] == now["last"] and not (now["look"] and now["first"])
        assert now["bank"] != then["bank"]
        if now["bank"] == 0 and not settles:
            # A step is decided on what both show.
            assert shown and now["first"] == now["step"] and now["look"] == (not now["step"])
        if now["first"]:
            assert then["last"] and then["bank"] == 1 and then["look"] and then["step"]
        if now["last"]:
            # What memories read at that edge is put aside before node 1 is shown.
            assert not (then["keep"] or then["look"] or then["first"] or then["last"])
        settles = now["last"]
        shown = bool(now["keep"]) or (shown and not now["look"])
    steps = sum(clock["last"] for clock in clocks)
    assert steps == {0.0: 0, 1.0: 499}.get(eager, steps)
    assert eager == 1.0 or sum(clock["look"] for clock in clocks) >= 600


@pytest.mark.parametrize("wrong", [None, 3, Turn])
def test_wrong_turns(wrong: Any) -> None:
    with pytest.raises(TypeError, match="^turn must be a Turn, not "):
        Turns(turn=wrong)
    if wrong is not None:
        with pytest.raises(TypeError, match="^turn must be a Turn, not "):
            Machine(description=describe({}), inline=True, trace="ports", turn=wrong)


@pytest.mark.parametrize("knobs, arguments", [
    ({"fabric.nodes": 3}, {}), ({"nic.processor": "picorv32"}, {}), ({}, {"inline": False}),
    ({}, {"trace": "collectors"}), ({}, {"inline": False, "gated": True, "trace": "collectors"}),
])
def test_who_does_not_take_turns(knobs: dict[str, Any], arguments: dict[str, Any]) -> None:
    who = {"inline": True, "trace": "ports", "turn": Turn()}
    assert Machine(description=describe({}), **who)
    with pytest.raises(ValueError, match="^a turn is one of two inline nodes without a NIC proc"):
        Machine(description=describe(knobs), **who | arguments)
