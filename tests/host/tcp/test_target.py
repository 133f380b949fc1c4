"""TCP on the real target: the tests of the functional model, in simulators; the same bytes on
Icarus."""

import hashlib
import importlib
import shutil
from typing import Any

import pytest
from nicbed.testbench.backends.session import run_job

from tests.labs.on_simulator import cases, run_cases, structure_of
from tests.programs.tcp import FAULTS, content, describe, pair, read_all

MODULE = "tests.host.tcp.test_sockets"
SMOKE = ("test_every_length", "test_streams_under_faults", "test_one_server_and_many_callers",
         "test_a_reset_is_told_once_in_one_line")


def check(nodes: int, names: Any = None) -> None:
    base = describe(nodes)
    which = [case for case in cases(importlib.import_module(MODULE), names)
             if structure_of(case, base) == {}]
    found = run_cases(base, which)
    bad = {name: text for name, text in found.items() if text}
    assert len(found) == len(which) > 0 and not bad, "\n".join(f"{name}: {text}"
                                                               for name, text in bad.items())


def test_some():
    check(2, SMOKE)


@pytest.mark.full
@pytest.mark.parametrize("nodes", [2, 4])
def test_all(nodes):
    check(nodes)


async def exchange(lab: Any, size: int) -> list[Any]:
    """In the simulator's process: data there and back under faults; cycles, and a digest of what
    the CPUs did and when."""
    async def caller(tcp: Any, socket: Any) -> bool:
        await socket.sendall(content(size, 1))
        return await read_all(socket, size) == content(size, 1)[::-1]

    async def answerer(tcp: Any, socket: Any) -> bool:
        await socket.sendall((await read_all(socket, size))[::-1])
        return True

    run = await lab.run(pair(caller, answerer), settings=FAULTS)
    assert run.results == [True, True]
    return [run.cycles, hashlib.sha256(repr(run.marks).encode()).hexdigest()]


def ran(sim: str, size: int, **knobs: Any) -> Any:
    return run_job(describe(**knobs), sim, function=f"{__name__}:exchange",
                   arguments={"size": size})


@pytest.mark.full
@pytest.mark.skipif(not shutil.which("iverilog"), reason="no Icarus: apt install iverilog")
def test_the_same_on_icarus():
    assert ran("verilator", 4000) == ran("icarus", 4000)


@pytest.mark.full
@pytest.mark.parametrize("knobs", [
    {"nic__mtu": 1500, "nic__receive_fifo": 2048},
    {"nic__mtu": 9000, "nic__send_fifo": 16384, "nic__receive_fifo": 16384}],
    ids=lambda knobs: str(knobs["nic__mtu"]))
def test_long_packets(knobs):
    assert ran("verilator", 100_000, **knobs)
