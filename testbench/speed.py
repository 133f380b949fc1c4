"""How fast the simulation runs, against its limit: the bare loop over the same netlist.

Two fixed Active Messages workloads, skipping off: *dense*, all pairs ping-pong one-word requests;
*busy*, one requester a pair computes BUSY_CYCLES target cycles between its requests. *idle* beside
them only computes, BUSY_CYCLES at a time: what the target costs when nothing moves. Each is timed
in CPU seconds, and so is the netlist in a plain C++ loop that is given the same blocks and memory
writes from a recording: the same cycles with the same activity. They take turns, so that whatever
else the machine does hits both alike.
"""

import json
import os
import resource
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from ..layouts.description import Description
from ..layouts.timing import TIMING_REGISTERS, timing_values
from .build import simulator
from .errors import UserError
from .session import run_job

__all__ = ["BUSY_CYCLES", "NODES", "measure", "workload"]

NODES = (2, 4, 8, 16)
BUSY_CYCLES = 2000
"""Target cycles of computation between two requests of the busy workload."""

CYCLES = {2: 1_500_000, 4: 600_000, 8: 300_000, 16: 150_000}
"""Target cycles of one run."""

TURNS = 3
"""How often each workload and the bare loop take turns; the sums count."""


WORKLOADS = {"dense": 0, "busy": BUSY_CYCLES, "idle": None}
"""Cycles of computation between two requests; None: no requests at all."""


def _idle(until: int) -> Callable[[Any], Any]:
    """Compute until a cycle."""
    async def program(node: Any) -> int:
        while node.port.cycle < until:
            await node.port.delay(BUSY_CYCLES)
            await node.port.flush()
        return 0
    return program


def _program(until: int, compute: int | None) -> Callable[[Any], Any]:
    """Even nodes request of the odd one beside them until a cycle; returns how many requests."""
    if compute is None:
        return _idle(until)

    async def program(node: Any) -> int:
        from ..host.am import Gam
        replies = requests = 0

        def on_request(am: Any, source: int, word: int) -> Any:
            return am.reply(1, word)

        def on_reply(am: Any, source: int, word: int) -> None:
            nonlocal replies
            replies += 1

        def answered() -> bool:
            return replies == requests

        gam = Gam(node, [on_request, on_reply])
        await gam.enable()
        port = node.port
        if node.number % 2 == 0 and node.number + 1 < node.nodes:
            peer = node.number + 1
            while port.cycle < until:
                await gam.request(peer, 0, requests & 0xFFFF_FFFF)
                requests += 1
                if compute:
                    await port.delay(compute)
                await gam.wait(answered)
        await gam.disable()
        return requests
    return program


async def workload(lab: Any, until: int, compute: int | None, turns: int, record: str
                   ) -> dict[str, Any]:
    """Inside the simulator: run a workload, timed; then record it."""
    nodes = lab.description.fabric.nodes
    await lab.run([_program(2000, compute)] * nodes, skip=False, marks=False)
    before = os.times()
    cycles = wakes = messages = 0
    for _ in range(turns):
        run = await lab.run([_program(until, compute)] * nodes, skip=False, marks=False)
        cycles += run.cycles
        wakes += run.wakes
        messages += 2 * sum(run.results)
    after = os.times()
    lab.timed(True)
    timed = await lab.run([_program(until // 4, compute)] * nodes, skip=False, marks=False)
    python = lab.timed(False)
    await lab.run([_program(until, compute)] * nodes, skip=False, marks=False,
                  record=Path(record))
    return {"python": python, "timed_messages": 2 * sum(timed.results),
            "seconds": after.user + after.system - before.user - before.system,
            "cycles": cycles, "wakes": wakes, "messages": messages,
            "memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}


def _bare(built: simulator.Simulator, description: Description, record: str, cycles: int
          ) -> float:
    """CPU seconds of the bare loop for the recorded run of ``cycles``."""
    settings = [f"{register.index}={value}" for register, value
                in zip(TIMING_REGISTERS, timing_values(description), strict=True)]
    done = subprocess.run([*built.command, record, str(description.memory.bytes // 8), *settings],
                          capture_output=True, text=True)
    if done.returncode:
        raise UserError(f"the bare loop fails: {done.stderr.strip()[-200:]}", status=1)
    found = json.loads(done.stdout)
    if found["cycles"] != cycles:
        raise UserError(f"the bare loop took {found['cycles']} cycles for a run of {cycles}: "
                        "the recording does not repeat it", status=1)
    return float(found["seconds"])


def _row(description: Description, bare: simulator.Simulator, sim: str, cycles: int,
         compute: int | None) -> dict[str, Any]:
    total: dict[str, float] = {}
    limit = 0.0
    with tempfile.TemporaryDirectory(prefix="nicbed-") as place:
        record = str(Path(place) / "recording")
        for _ in range(TURNS):
            ran = run_job(description, sim, function="nicbed.testbench.speed:workload",
                          arguments={"until": cycles, "compute": compute, "turns": 1,
                                     "record": record})
            limit += _bare(bare, description, record, ran["cycles"])
            for name, value in ran.items():
                total[name] = max(total.get(name, 0), value) if name == "memory" \
                    else total.get(name, 0) + value
    speed = total["cycles"] / total["seconds"]
    bound = total["cycles"] / limit
    messages = total["messages"]
    return {"cycles_per_cpu_second": round(speed), "limit_cycles_per_cpu_second": round(bound),
            "ratio": round(speed / bound, 3),
            "python_us_per_message": round(1e6 * total["python"] / total["timed_messages"], 2)
            if messages else None,
            "wakeups_per_message": round(total["wakes"] / messages, 2) if messages else None,
            "messages": int(messages), "cycles": int(total["cycles"]),
            "peak_memory_mb": round(total["memory"])}


def measure(description: Description, *, sim: str = "verilator",
            nodes: Sequence[int] | None = None,
            progress: Callable[[str, int, int], None] = lambda *_: None) -> dict[str, Any]:
    """Speed of each workload for each number of nodes, as a result file's document has it.

    Figures: target cycles a CPU second of the whole simulator process, the same of the bare loop
    (the limit) and their ratio; the CPU time of all that happens at attentions, a one-way message
    (microseconds; in runs of their own, as measuring it costs); wake-ups of host programs a
    message; peak memory in MB.
    """
    if sim != "verilator":
        raise UserError("speed has a limit to compare with under Verilator only: leave out --sim")
    counts = list(nodes or NODES)
    results: dict[str, dict[str, Any]] = {name: {} for name in WORKLOADS}
    for done, count in enumerate(counts):
        table = description.model_dump()
        table["fabric"]["nodes"] = count
        sized = Description.model_validate(table)
        simulator.build(sized, sim, progress=progress)
        bare = simulator.build(sized, sim, bare=True, progress=progress)
        cycles = CYCLES[max(size for size in CYCLES if size <= count)]
        for name, compute in WORKLOADS.items():
            progress(f"{name}, {count} nodes", done, len(counts))
            results[name][str(count)] = _row(sized, bare, sim, cycles, compute)
    progress("measured", len(counts), len(counts))
    return {"results": results}
