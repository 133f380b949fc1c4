"""Jobs for the toy target, which has neither memory nor NIC."""

import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

from nicbed.testbench.lab import Lab


class NoMemory:
    """Stands in for the memory the toy does not have."""

    size = 1 << 16

    def clear(self) -> None:
        pass


def plan(count: int, step: int) -> Any:
    async def program(node: Any) -> list[int]:
        times = []
        for n in range(count):
            await node.port.delay(1 + (n * step + node.number) % 7)
            times.append(await node.port.flush())
        return times
    return program


async def delays(lab: Lab, count: int, trace: bool = False, runs: int = 1) -> Any:
    """Each node delays; the cycle each delay ended at."""
    lab._backend.memories = [NoMemory()] * lab.description.fabric.nodes
    programs = [plan(count, 3 + n) for n in range(_prepare(lab))]
    found = [await lab.run(programs, trace=trace) for _ in range(runs)]
    assert all(run == found[0] for run in found)
    return found[0].cycles, found[0].results, found[0].events, found[0].wakes


def _prepare(lab: Lab) -> int:
    nodes = lab.description.fabric.nodes
    lab._backend.memories = [NoMemory()] * nodes
    return nodes


async def failing(lab: Lab) -> None:
    """Node 1 raises at cycle 7."""
    async def program(node: Any) -> None:
        await node.port.delay(7)
        await node.port.flush()
        if node.number == 1:
            raise ZeroDivisionError("as it was told to")
    await lab.run([program] * _prepare(lab))


async def complaining(lab: Lab) -> None:
    """Writes to standard error."""
    print("a complaint", file=sys.stderr)


async def copying(lab: Lab, source: str, to: str) -> str:
    """Copies a file; what standard input has."""
    Path(to).write_bytes(Path(source).read_bytes())
    with open(0, closefd=False) as given:
        return given.read()


async def crashing(lab: Lab) -> None:
    """The simulator dies."""
    os.kill(os.getpid(), signal.SIGKILL)


async def full(lab: Lab) -> None:
    """The disk of the job's folder is full: neither a log nor an answer can be written."""
    for descriptor in (1, 2):
        os.dup2(os.open("/dev/full", os.O_WRONLY), descriptor)
    os.symlink("/dev/full", Path(os.environ["NICBED_JOB"]).with_name("answer.part"))


async def process(lab: Lab, kill: int = 0) -> dict[str, Any]:
    """Which process this is, and what a job before it in the same process would have left.
    ``kill``: end this process (1) or the one that it was forked from (2)."""
    left = [os.environ.get("TOY_LEFT"), getattr(lab.run, "left", None)]
    os.environ["TOY_LEFT"] = "something"
    Lab.run.left = "something"  # type: ignore[attr-defined]
    if kill:
        os.kill([os.getpid(), os.getppid()][kill - 1], signal.SIGKILL)
        time.sleep(60)
    return {"process": os.getpid(), "simulator": os.getppid(), "left": left,
            "toy": os.environ.get("TOY")}


async def meeting(lab: Lab, here: str, there: str) -> bool:
    """Whether a job is there at the same time."""
    Path(here).touch()
    for _ in range(3000):
        if Path(there).exists():
            return True
        time.sleep(0.01)
    return False


async def silent(lab: Lab) -> None:
    """Nobody answers attention."""
    _prepare(lab)
    lab._backend.mailbox.give = lambda *_: None
    await lab.run([plan(1, 1)] * lab.description.fabric.nodes)


async def talking(lab: Lab) -> None:
    """Prints and reports."""
    print("half way")
    lab.progress("measuring", 1, 2)


async def endless(lab: Lab, mark: str) -> None:
    """Runs for ever."""
    async def program(node: Any) -> None:
        while True:
            await node.port.delay(5)
            await node.port.flush()
    Path(mark).write_text(str(os.getpid()))
    await lab.run([program] * _prepare(lab), limit=0)
