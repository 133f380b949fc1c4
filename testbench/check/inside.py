"""In the simulator's process: runs the scenarios of a check and stores what they found."""

import os
import pickle
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import cocotb
from cocotb.triggers import Timer

from .bench import Bench
from .pair import NICS, Pair

__all__ = ["WORK", "check"]

WORK = "NICBED_CHECK"
"""The environment's variable with the job's file. Its results are put beside it."""


@cocotb.test()
async def check(dut: Any) -> None:
    """Run the job's scenarios."""
    job = Path(os.environ[WORK])
    description, scenarios = pickle.loads(job.read_bytes())
    pair = Pair(description)
    half = Timer(5, "ns")
    given = [dut.i0, dut.i1]
    taken = [dut.o0, dut.o1]
    now = [-1] * NICS
    every = (1 << NICS) - 1
    dut.rst.value = 0
    dut.clk.value = 0
    dut.rest.value = 0

    async def step(words: Sequence[int]) -> list[int]:
        for number, (port, word) in enumerate(zip(given, words, strict=True)):
            if word != now[number]:
                port.value = now[number] = word
        await half
        return [_number(port.value) for port in taken]

    async def clock(edges: Sequence[bool], reset: bool) -> None:
        if reset:
            dut.rst.value = 1
            await half
        dut.rest.value = every if reset else sum(edge << at for at, edge in enumerate(edges))
        dut.clk.value = 1
        await half
        dut.clk.value = 0
        dut.rest.value = 0
        if reset:
            await half
            dut.rst.value = 0
            await half

    def configure(changes: Mapping[str, int]) -> None:
        if pair.side.own is not None:
            dut.own.value = pair.own_values(changes)

    bench = Bench(description, pair, step, clock, configure)
    progress = job.with_suffix(".progress")
    found = []
    for at, scenario in enumerate(scenarios):
        progress.write_text(f"{at} {len(scenarios)} {scenario.title}")
        found.append(await bench.run(scenario.programs(description), scenario.how))
    job.with_suffix(".results").write_bytes(pickle.dumps(found))


def _number(value: Any) -> int:
    """Bits of a vector; those that are unknown count as 0."""
    try:
        return int(value)
    except ValueError:
        return int(str(value).translate(_UNKNOWN), 2)


_UNKNOWN = str.maketrans("XZUW-xzuw", "000000000")
