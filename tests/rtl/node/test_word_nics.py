"""NICs of one's own in a target: in Amaranth and in Verilog, with knobs and events of their own."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from amaranth.hdl import Elaboratable
from amaranth.lib import wiring
from nicbed.layouts.description import Description
from nicbed.layouts.doors import DoorError
from nicbed.layouts.trace import Block, Event
from nicbed.rtl.node.node import Node
from nicbed.testbench.backends.session import run_job

from tests.labs.rows import more
from tests.rtl.node.word_nics.designs import AmaranthWords

DESIGNS = Path(__file__).parent / "word_nics" / "designs.py"
WORDS = [[1001 + at for at in range(5)], [1000 + at for at in range(5)]]


def describe(design: str, **knobs: Any) -> Description:
    return Description().with_({"nic.design": f"{DESIGNS}:{design}", **knobs})


def run(design: str, sim: str = "verilator", wait: int = 3, **options: Any) -> dict[str, Any]:
    description = describe(design)
    return run_job(description, function="tests.programs.word_jobs:exchange", sim=sim, arguments={
        "settings": {f"{description.design.name}.wait": wait}, "trace": True, **options})


def test_a_design_has_registers_and_events_of_its_own() -> None:
    """A knob's change is in the next run, without another simulator; a read waits for its answer,
    beside the 12 cycles of bus.pio_read."""
    for wait in (0, 3, 77):
        found = run("AmaranthWords", wait=wait)
        assert found["results"] == [[words, 12 + max(1, wait + 1), wait, number]
                                    for number, words in enumerate(WORDS)]
    events = [event for event in map(Event._make, found["events"])
              if event.block == max(Block) + 1]
    assert [event.kind for event in events if event.node == 0] == [0, 1] * 5


@pytest.mark.parametrize("design, sim", [
    ("VerilogWords", "verilator"), more("VerilogWords", "icarus"), more("VerilogWords", "uart"),
    more("WideWords", "verilator"), more("AmaranthWords", "icarus")])
def test_all_forms_of_a_nic_take_the_same_cycles(design: str, sim: str) -> None:
    """Although the one in Verilog sleeps, and the one in Amaranth never does."""
    one, other = run("AmaranthWords"), run(design, sim)
    for key in ("cycles", "results", "events"):
        assert one[key] == other[key]


@pytest.mark.full
@pytest.mark.parametrize("design", ["AmaranthWords", "VerilogWords"])
def test_time_is_skipped_and_not(design: str) -> None:
    one, other = run(design), run(design, skip=False)
    assert (one["cycles"], one["events"]) == (other["cycles"], other["events"])


@pytest.mark.parametrize("cpus, nics, lines", [
    (1, 1, {0: [0, 1]}), (2, 1, {0: [0], 1: [1]}), (3, 2, {0: [0], 1: [1, 10], 2: [11]})])
def test_lines_of_a_nic_interrupt_cpus_in_turn(cpus: int, nics: int,
                                               lines: dict[int, Sequence[int]]) -> None:
    """Lines by 10 times the NIC and the line; a NIC alone with one line interrupts all CPUs."""
    from amaranth.hdl import Module
    from amaranth.sim import Simulator

    node = Node(description=describe("WideWords", **{"node.cpus": cpus, "node.nics": nics}))
    for cpu, wanted in lines.items():
        m = Module()
        m.d.comb += [node.cpus.eq(cpus)]
        value = node._interrupt(cpu)
        seen = []

        async def bench(ctx: Any, value: Any = value, seen: list[int] = seen) -> None:
            for nic, one in enumerate(node.nics):
                for line in range(2):
                    ctx.set(one.irq, 1 << line)
                    await ctx.delay(1e-9)
                    if ctx.get(value):
                        seen.append(10 * nic + line)
                    ctx.set(one.irq, 0)

        simulator = Simulator(m)
        simulator.add_testbench(bench)
        simulator.run()
        assert seen == wanted


class Wrong(AmaranthWords):
    name = "wrong"

    def __init__(self, **parameters: Any) -> None:
        self.parameters = parameters

    def side(self, description: Any, cpus: int) -> Any:
        return self.socket(description, cpus, **self.parameters)

    def build(self, description: Any, side: Any, *, step: Any = None) -> Any:
        class Empty(wiring.Component):
            def elaborate(self, platform: object) -> Elaboratable:
                raise NotImplementedError

        return Empty(AmaranthWords().side(description, side.cpus))


@pytest.mark.parametrize("parameters, error, text", [
    ({"irqs": 2}, DoorError, r"build\(\) of NIC design 'wrong' must make a component of signature "
                             r"NicSide\(.*irqs=2.*, not NicSide\(.*irqs=1"),
    ({"own": None}, DoorError, r"own=None.*, not NicSide"),
])
def test_a_node_refuses_a_nic_that_is_not_its_side(
        parameters: dict[str, Any], error: type[Exception], text: str,
        monkeypatch: pytest.MonkeyPatch) -> None:
    description = describe("AmaranthWords")
    monkeypatch.setattr(Description, "design", Wrong(**parameters))
    with pytest.raises(error, match=text):
        Node(description=description)


def test_a_node_refuses_events_of_a_block_that_nobody_declared(
        monkeypatch: pytest.MonkeyPatch) -> None:
    class Unknown(AmaranthWords):
        def event_blocks(self, nic: Any) -> Any:
            return (99,)

    description = describe("AmaranthWords")
    monkeypatch.setattr(Description, "design", Unknown())
    with pytest.raises(DoorError, match=r"event_blocks\(\) of NIC design 'words' must give numbers "
                                        "of its blocks, .* not 99"):
        Node(description=description)
