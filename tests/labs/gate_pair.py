"""A block beside its own netlist of ECP5 cells, both with the same inputs."""

import random
from collections.abc import Callable
from typing import Any

from amaranth.hdl import ClockSignal, Instance, Module, ResetSignal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out
from nicbed.testbench.simulators.verilog import ports
from nicbed.testbench.synth.gates import gates

from tests.labs.bench import _passed, reset_and_clock, run_bench, seed

__all__ = ["Pair", "check_gates", "drive_pair"]


class Pair(wiring.Component):
    """``block`` and the module ``gates``. Inputs are those of ``block``, by their flat names;
    outputs ``rtl_*`` of the one and ``gate_*`` of the other."""

    def __init__(self, block: Any) -> None:
        self._block = block
        members = {}
        for name, (value, is_input) in ports(block).items():
            if is_input:
                members[name] = In(len(value))
            else:
                members |= {f"rtl_{name}": Out(len(value)), f"gate_{name}": Out(len(value))}
        super().__init__(members)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.block = block = self._block
        connections = {}
        for name, (value, is_input) in ports(block).items():
            if is_input:
                m.d.comb += value.eq(getattr(self, name))
                connections[f"i_{name}"] = getattr(self, name)
            else:
                m.d.comb += getattr(self, f"rtl_{name}").eq(value)
                connections[f"o_{name}"] = getattr(self, f"gate_{name}")
        m.submodules.gates = Instance("gates", i_clk=ClockSignal(), i_rst=ResetSignal(),
                                      **connections)
        return m


def check_gates(make: Callable[[], Any], module: str, *, source: str | None = None, testcase: str,
                **parameters: Any) -> None:
    """Run ``testcase`` of file ``module`` on the block that ``make`` returns beside the netlist of
    another one, or beside ``source``."""
    run_bench(Pair(make()), module, testcase=testcase, unkind=False,
              source=source or gates(make(), top="gates").text, **parameters)


async def drive_pair(dut: Any, *, cycles: int, often: dict[str, float], fixed: dict[str, int],
                     narrow: dict[str, int], still: list[str]) -> None:
    """Random inputs for ``cycles``, and a reset now and then; the outputs compared in each cycle.

    ``often``: how often an input of one bit is high, if not half of the time; ``fixed``: those that
    stay as they are; ``narrow``: bits that are random of an input, if not all, so that addresses
    meet; ``still``: outputs that need not change. What the block leaves undefined, such as a
    memory's output before it was first read, may be anything.
    """
    from cocotb.triggers import ReadOnly, RisingEdge

    chance = random.Random(seed())
    await reset_and_clock(dut, **fixed)
    inputs = [(getattr(dut, name), often.get(name, 0.5), narrow.get(name))
              for name in _passed()["inputs"] if name not in fixed]
    names = [name.removeprefix("rtl_") for name in dir(dut) if name.startswith("rtl_")]
    outputs = [(name, getattr(dut, f"rtl_{name}"), getattr(dut, f"gate_{name}"))
               for name in names]
    edge, settled = RisingEdge(dut.clk), ReadOnly()
    moves = dict.fromkeys(names, 0)
    before: dict[str, str] = {}
    for cycle in range(cycles):
        dut.rst.value = int(chance.random() < 0.002)
        for signal, share, bits in inputs:
            width = len(signal)
            signal.value = (int(chance.random() < share) if width == 1
                            else chance.getrandbits(min(bits or width, width)))
        await settled
        for name, rtl, gate in outputs:
            wanted, got = str(rtl.value), str(gate.value)
            assert wanted == got or all(a in ("X", b) for a, b in zip(wanted, got, strict=True)), \
                f"{name} is {got}, not {wanted}, in cycle {cycle}"
            moves[name] += before.get(name) != wanted
            before[name] = wanted
        await edge
    quiet = [name for name, count in moves.items() if count < 3 and name not in still]
    assert not quiet, f"these never changed: {quiet}"
