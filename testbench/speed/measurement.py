"""Measures how fast the simulation runs, compared with its limit: the bare loop over the same
netlist.

Fixed workloads. Active Messages: *dense*, all pairs ping-pong one-word requests; *busy*, one
requester a pair computes BUSY_CYCLES target cycles between its requests; *sparse*, of 16 nodes and
more, as *dense* with one pair in SPARSE active, the other nodes without a program. VIA:
*ping-pong* and *stream*, of 8-byte messages, one VI of Reliable Delivery a pair. MPI: *ping-pong*
and *stream* of 8 bytes, and *bulk*, a stream of 64 KB, between the ranks of a pair; Python is timed
with 256 KB, too, so that what a message takes is told from what a KB takes. *idle* only computes,
BUSY_CYCLES at a time: the cost of the target without traffic. Each workload is timed in CPU
seconds, and so is the netlist in a plain C++ loop that replays the same blocks and memory writes
from a recording: the same cycles with the same activity. They take turns, so that other work on the
machine affects both alike.
"""

import json
import resource
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from ...layouts.description import Description
from ...layouts.timing import packed_timing, timing_registers, timing_values
from ..backends.session import run_job
from ..defaults import LAYER as DEFAULT_LAYER
from ..errors import UserError
from ..run.sent_again import Account
from ..simulators import simulator
from ..wording import counted
from .workloads import LARGER, SETTINGS, SPARSE, WORKLOADS, programs

__all__ = ["NODES", "measure", "workload"]

NODES = (2, 4, 8, 16, 64)
CROSSBAR = 16
"""More nodes than that are on a fat tree."""
CYCLES = {2: 1_500_000, 4: 600_000, 8: 300_000, 16: 150_000, 64: 40_000}
"""Target cycles of one run; for VIA and MPI a quarter, which takes as long."""

RANKS = 16
"""Most ranks of MPI unless another number is asked for: each has a VI to all others."""

TIMED = 40_000
"""Fewest cycles over which Python is timed: with many nodes, opening and closing the layer takes as
long as many messages, and their difference is what counts."""
LONG = {"bulk": 2_400_000}
"""Fewest cycles over all nodes over which Python is timed, of workloads with few messages: over VIA
they are eight of 256 KB in a turn at 2 nodes, and 34 of 64 KB."""
FEWEST, DOUBLED = 4, 4
"""With fewer messages Python is timed over twice as many cycles, so often at most: a channel may be
slow."""
WARM = {"bulk": 150_000}
"""Cycles after which messages count, where the first ones take longer: they register memory."""

TURNS = 3
"""How many turns each workload and the bare loop take; the sums count."""

REPEATS = {"busy": 8, "sparse": 4, "idle": 8}
"""Runs of a workload in a turn, where one is short: its nodes sleep most of the time."""


async def workload(lab: Any, layer: str, name: str, until: int, short: int, turns: int, record: str
                   ) -> dict[str, Any]:
    """Inside the simulator: run a workload, timed. Time Python separately over ``short`` cycles,
    less the cost of the beginning and the end; also of larger messages, if there are such. Then
    record the run."""
    nodes = lab.description.fabric.nodes

    async def run(until: int, record: Path | None = None, larger: bool = False) -> Any:
        return await lab.run(programs(layer, name, until, nodes, larger), settings=SETTINGS,
                             marks=False, record=record)

    async def timed(until: int, larger: bool) -> tuple[float, int]:
        """CPU seconds of Python, and messages."""
        lab.timed(True)
        done = await run(until, larger=larger)
        return lab.timed(False), sum(filter(None, done.results))

    async def python(larger: bool = False) -> tuple[float, int]:
        """The same between the beginning and the end."""
        warm = begin + WARM[name] if name in WARM else 0
        around, few = await timed(warm, larger)
        doubled = 0
        whole, many = await timed(max(warm, begin) + short, larger)
        while many and many - few < FEWEST and doubled < DOUBLED:
            doubled += 1
            whole, many = await timed(max(warm, begin) + (short << doubled), larger)
        return whole - around, many - few

    begin = (await run(0)).cycles
    until += begin
    before = time.process_time()
    cycles = wakes = messages = 0
    for _ in range(turns):
        done = await run(until)
        cycles += done.cycles
        wakes += done.wakes
        messages += sum(filter(None, done.results))
    seconds = time.process_time() - before
    spent, timed_messages = await python()
    larger_spent, larger_messages = await python(True) if name in LARGER else (0.0, 0)
    await run(until, Path(record))
    return {"python": spent, "timed_messages": timed_messages,
            "larger_python": larger_spent, "larger_messages": larger_messages,
            "seconds": seconds,
            "cycles": cycles, "wakes": wakes, "messages": messages,
            "memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
            "account": lab.account}


def _bare(built: simulator.Simulator, description: Description, record: str, cycles: int
          ) -> float:
    """CPU seconds of the bare loop for the recorded run of ``cycles``."""
    timing = ",".join(f"{word:x}" for word in packed_timing(timing_values(description),
                                                           timing_registers(description)))
    program, *topology = built.command
    done = subprocess.run([program, record, str(description.memory.bytes // 8), timing, *topology],
                          capture_output=True, text=True)
    if done.returncode:
        raise UserError(f"the bare loop fails: {done.stderr.strip()[-200:]}", status=1)
    found = json.loads(done.stdout)
    if found["cycles"] != cycles:
        raise UserError(f"the bare loop took {found['cycles']} cycles for a run of {cycles}: "
                        "the recording does not repeat it", status=1)
    return float(found["seconds"])


def _each(seconds: float, count: float) -> float | None:
    """Microseconds for each of ``count``; None if there are none, as on a link so slow that no
    message ended while Python was timed."""
    return 1e6 * seconds / count if count > 0 else None


def _row(description: Description, bare: simulator.Simulator, sim: str, layer: str, name: str,
         account: Account) -> dict[str, Any]:
    count = description.fabric.nodes
    cycles = CYCLES[max(size for size in CYCLES if size <= count)]
    repeats = REPEATS.get(name, 1)
    short = max(max(cycles // 4, TIMED) * repeats, LONG.get(name, 0) // count)
    if layer != "am":
        cycles //= 4
    total: dict[str, float] = {}
    limit = 0.0
    with tempfile.TemporaryDirectory(prefix="nicbed-") as place:
        record = str(Path(place) / "recording")
        for _ in range(TURNS):
            ran = run_job(description, sim, function="nicbed.testbench.speed.measurement:workload",
                          arguments={"layer": layer, "name": name, "until": cycles,
                                     "short": short, "turns": repeats, "record": record})
            limit += repeats * _bare(bare, description, record, ran["cycles"] // repeats)
            account.join(ran.pop("account"))
            for key, value in ran.items():
                total[key] = max(total.get(key, 0), value) if key == "memory" \
                    else total.get(key, 0) + value
    speed = total["cycles"] / total["seconds"]
    bound = total["cycles"] / limit
    messages = total["messages"]
    python = _each(total["python"], total["timed_messages"])
    larger = _each(total["larger_python"], total["larger_messages"])
    kilobyte = None
    if name in LARGER and python is not None and larger is not None:
        kilobyte = round((larger - python) / LARGER[name].more, 3)
    return {"cycles_per_cpu_second": round(speed), "limit_cycles_per_cpu_second": round(bound),
            "ratio": round(speed / bound, 3),
            "python_us_per_message": None if python is None else round(python, 2),
            "python_us_per_kb": kilobyte,
            "timed_messages": int(total["timed_messages"]),
            "wakeups_per_message": round(total["wakes"] / messages, 2) if messages else None,
            "messages": int(messages), "cycles": int(total["cycles"]),
            "peak_memory_mb": round(total["memory"])}


def measure(description: Description, *, layer: str = DEFAULT_LAYER, sim: str = "verilator",
            nodes: Sequence[int] | None = None,
            progress: Callable[[str, int, int], None] = lambda *_: None) -> dict[str, Any]:
    """Speed of each workload of ``layer`` for each number of nodes, in the form of a result file's
    document.

    Figures: target cycles for each CPU second of the whole simulator process, the same for the bare
    loop (the limit), and their ratio; the CPU time of attentions for each one-way message
    (microseconds; in separate runs, because the measurement costs time, without what a reading of
    the clock takes, and without opening the layer, which may load firmware), and for how many it
    was measured; of *bulk* for each KB, too, by which larger messages are longer; wake-ups of host
    programs for each message; peak memory in MB.
    """
    if sim != "verilator":
        raise UserError("speed has a limit to compare with under Verilator only: leave out --sim")
    if layer not in WORKLOADS:
        raise UserError(f"speed has no workloads for layer {layer}: there are "
                        f"{' and '.join(WORKLOADS)}")
    counts = list(nodes or [count for count in NODES if layer != "mpi" or count <= RANKS])
    results: dict[str, dict[str, Any]] = {name: {} for name in WORKLOADS[layer]}
    account = Account()
    for done, count in enumerate(counts):
        sized = description.with_({"fabric.nodes": count} | (
            {"fabric.topology": "fat_tree"} if count > CROSSBAR else {}))
        simulator.build(sized, sim, progress=progress)
        bare = simulator.build(sized, sim, bare=True, progress=progress)
        for name in WORKLOADS[layer]:
            if name == "sparse" and count < 2 * SPARSE:
                continue
            progress(f"{name}, {counted(count, 'node')}", done, len(counts))
            results[name][str(count)] = _row(sized, bare, sim, layer, name, account)
    progress("measured", len(counts), len(counts))
    return {"results": results, "checks": account.checks()}
