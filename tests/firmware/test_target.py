"""Firmware on the real target: the example on every core, queues, crashes with their places."""

import re
from typing import Any

import pytest
from nicbed.layouts.processor import CrashReason
from nicbed.testbench.backends.session import run_job

from tests.labs.rows import more
from tests.programs.firmware import describe, lengths

JOBS = "tests.programs.firmware"
CORES = ("picorv32", more("vexriscv"), more("serv"))


def job(core: str, name: str, nic: dict[str, Any] | None = None, **arguments: Any) -> Any:
    description = describe(core, nic=nic or {})
    return run_job(description, function=f"{JOBS}:{name}", arguments=arguments)


@pytest.mark.parametrize("core", CORES)
def test_the_example_turns_a_hundred_packets_around(core: str) -> None:
    count = 100
    (back, turned), _ = job(core, "turned", count=count, seed=1)
    sent = lengths(count, 1024, 1)
    assert turned == count
    assert back == [(header(len(data)), data) for data in sent]


def header(length: int) -> dict[str, int]:
    """The wire header of what node 1 sends to node 0: the same from every core. The switch has
    shifted the route off."""
    return {"route": 0, "length": length, "source": 1, "destination": 0, "protocol": 0, "detail": 0}


@pytest.mark.parametrize("core", CORES)
@pytest.mark.parametrize("attachment, doorbells", [
    ("io_bus", "queue"), ("io_bus", "words"),
    more("memory_bus", "queue")])
def test_queues(core: str, attachment: str, doorbells: str) -> None:
    for sent, found in job(core, "echoed", nic={"attachment": attachment}, count=80, seeds=[1, 2],
                           settings={"processor.doorbells": doorbells}):
        assert found == sent


TRAPS = {CrashReason.TRAP, CrashReason.EXCEPTION}
CRASHES = {
    1: (TRAPS, "illegal"),
    2: ({CrashReason.PANIC}, "gives_up"),
    3: ({CrashReason.WATCHDOG}, "spins"),
    4: ({CrashReason.BUS}, "nowhere"),
    5: ({CrashReason.BUS}, "reads_nowhere"),
    6: (TRAPS, "misaligned"),
    7: (TRAPS | {CrashReason.BUS}, "jumps_away|outside NIC memory"),
    8: ({CrashReason.PANIC}, "calls_null"),
    9: ({CrashReason.PANIC}, "fails"),
    100: ({CrashReason.PANIC}, "_start"),
    101: ({CrashReason.PANIC}, "take_memory"),
}
"""By the number of the way: how it may be reported, and which function is named."""


@pytest.mark.parametrize("core", CORES)
def test_crashes_say_where(core: str) -> None:
    ways = [way for way in CRASHES if (core, way) != ("serv", 1)]    # it sees no illegal ones
    for way, (text, error) in zip(ways, job(core, "crashed", ways=ways), strict=True):
        reasons, function = CRASHES[way]
        assert error.get("node") == 1 and error["reason"] in reasons, (way, text)
        assert re.search(rf"at ({function})\b", text), (way, text)
