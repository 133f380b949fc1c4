"""Nobody uses what a BlockRam reads of a word that is being written.

Tests of blocks run with memories that give such a word inverted
(:func:`tests.labs.bench.run_bench`), and so do the random programs of rtl/vi/test_random; here are
the memories, and Active Messages on such a target.
"""

from typing import Any

import pytest
from amaranth.sim import Simulator
from nicbed.layouts.description import Description
from nicbed.rtl.parts.block_ram import BlockRam
from nicbed.testbench.backends.job import Job
from nicbed.testbench.backends.session import perform
from nicbed.testbench.simulators.verilog import rtlil

from tests.labs.rows import more
from tests.models.unkind_target import UnkindTarget, unkindly
from tests.programs.am import describe

FAULTS = {"faults.drop": 0.02, "faults.corrupt": 0.02, "faults.duplicate": 0.05,
          "faults.delay": 0.05, "am.retry_timeout": 3000}


def test_refuses_other_ports() -> None:
    ram = BlockRam(shape=8, depth=4)
    for wrong in ({"domain": "comb"}, {"transparent_for": ()}):
        with pytest.raises(TypeError):
            ram.read_port(**wrong)
    with pytest.raises(TypeError):
        ram.write_port(granularity=4)


@pytest.mark.parametrize("kind", [True, False])
def test_a_read_beside_a_write_of_the_same_word(kind: bool) -> None:
    ram = BlockRam(shape=8, depth=4)
    write, read = ram.write_port(), ram.read_port()

    async def play(ctx: Any) -> None:
        for cycle, (value, wanted) in enumerate([(3, None), (5, 3), (9, 5)]):
            ctx.set(write.en, 1)
            ctx.set(write.data, value)
            await ctx.tick()
            if cycle:
                assert ctx.get(read.data) == (wanted if kind else wanted ^ 0xFF)
        ctx.set(write.addr, 1)
        await ctx.tick()
        assert ctx.get(read.data) == 9

    simulator = Simulator(ram if kind else unkindly(ram))
    simulator.add_clock(1e-6)
    simulator.add_testbench(play)
    simulator.run()


def test_the_target_has_such_memories() -> None:
    """In the nodes, and in what joins them."""
    made = UnkindTarget(description=Description(), memory="dpi")
    for name, component in made.modules:
        assert "met_0" in rtlil(component, name)


@pytest.mark.parametrize("changes", [
    more({}), more({"nic.send_fifo": 128, "nic.mtu": 64, "nic.receive_fifo": 128,
                    "link.buffer": 64}),
    more({"nic.processor": "picorv32", "nic.send_ring": 0})], ids=str)
def test_active_messages_are_the_same(changes: dict[str, Any]) -> None:
    """Every event of a run with faults."""
    kind, unkind = (perform(Job(
        describe(FAULTS | changes), function="tests.programs.target_jobs:exchanges", target=target,
        arguments={"requests": 60, "words": 4, "step": 0, "trace": True}))
        for target in ("nicbed.rtl.target:Target", "tests.models.unkind_target:UnkindTarget"))
    assert kind == unkind
