"""The same cycles, results, events and marks on a board's top as in a simulator of the target."""

import asyncio
import os
import random
import socket
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from threading import Timer
from typing import Any

import pytest
import target_jobs
from am_scenarios import FAULTY, describe
from board_ports import Noise
from nicbed.layouts.description import Description
from nicbed.rtl.boards.core import BoardCore
from nicbed.testbench import descriptions
from nicbed.testbench.backends.board.backend import BoardBackend
from nicbed.testbench.backends.board.line import Line, LineError
from nicbed.testbench.backends.board.ports import SocketPort, open_port, simulated_port
from nicbed.testbench.build import cache
from nicbed.testbench.build.board import DIVISOR, build_board, compile_board
from nicbed.testbench.build.simulator import sources_key, structure
from nicbed.testbench.build.verilog import convert
from nicbed.testbench.lab import Lab
from nicbed.testbench.session import RunError, run_job
from nicbed.testbench.synth.identity import identity
from nicbed.testbench.synth.plan import FRAMES
from rows import more
from test_am_target import RATES, run

pytest.importorskip("serial")
pytestmark = pytest.mark.xdist_group("board")
TIMINGS: dict[str, dict[str, Any]] = {
    "default": {},
    "slow link": {"link.bytes_per_cycle": "2/3", "link.latency": 40, "bus.pio_write": 9},
    "slow memory": {"memory.latency": 30, "bus.max_burst": 64, "bus.dma_setup": 1},
}
# A ring of a page or two of host memory at a time, beside 64 pages on the board.
JOBS: list[tuple[str, dict[str, Any]]] = [
    ("echo_words", {}), ("bulk", {"sizes": (0, 1, 1027, 9000)}),
    ("in_order", {"count": 75}),
    ("in_order", {"count": 30, "settings": {**FAULTY, **RATES["all"]}}),
]
STRUCTURES: dict[str, tuple[Description, str]] = {
    "memory bus": (descriptions.load("memory-bus"), "am"),
    "small": (describe({"nic.mtu": 64, "nic.send_fifo": 128, "nic.receive_fifo": 128,
                        "nic.send_ring": 4, "nic.receive_ring": 4, "link.buffer": 64,
                        "bus.posted_writes": 2, "cpu.cache_lines": 4}), "am"),
    "picorv32": (describe({"nic.processor": "picorv32"}), "am"),
    "via": (descriptions.for_layer(descriptions.load("default"), "via"), "via"),
}


def exchanges(sim: str, description: Description | None = None, **arguments: Any) -> Any:
    return run_job(description or Description(), sim, function="target_jobs:exchanges",
                   arguments={"requests": 8, "trace": True, **arguments})


@pytest.mark.parametrize("timing", TIMINGS.values(), ids=TIMINGS)
def test_everything_of_a_run_is_the_same(timing: dict[str, Any]) -> None:
    """Wakes among it: a program is woken as often."""
    arguments: dict[str, Any] = {"settings": timing, "runs": 2}
    one = exchanges("verilator", **arguments)
    assert one[0] == one[1] and len(one[0]["events"]) > 500
    assert exchanges("uart", **arguments) == one


def test_faults_are_the_same() -> None:
    settings = {"settings": {**FAULTY, **RATES["all"]}}
    assert exchanges("uart", **settings) == exchanges("verilator", **settings)


def test_skipping_is_the_same() -> None:
    """Of time in which nothing happens, and of none."""
    one = exchanges("verilator", requests=3, step=3000)
    assert one[0]["cycles"] > 9000
    for skip in (True, False):
        assert exchanges("uart", requests=3, step=3000, skip=skip) == one


def test_more_memory_than_there_is_on_the_board() -> None:
    assert run(Description(), JOBS, "uart") == run(Description(), JOBS)


def shared_board(description: Description) -> Path:
    """A board's top whose two nodes share one copy of a node's logic."""
    def make(work: Path) -> None:
        core = BoardCore(description=description, divisor=DIVISOR, frames=FRAMES,
                         identity=identity(description), shared=True)
        compile_board(convert(core, "top", processes=True), work)

    parts = [sources_key(boards=True), repr(structure(description)), cache.machine()]
    return cache.entry("bench", ["shared", *parts], make) / "simulator"


@pytest.mark.parametrize("arguments", [
    {"runs": 2, "settings": TIMINGS["slow memory"]}, {"settings": {**FAULTY, **RATES["all"]}}])
def test_two_nodes_on_one_copy(arguments: dict[str, Any]) -> None:
    """(With a VI engine they always are: test_other_nics.)"""
    description = STRUCTURES["small"][0]
    found, _ = lab(lambda port: port, description=description, board=shared_board)
    rows = asyncio.run(target_jobs.exchanges(found, requests=8, trace=True, **arguments))
    assert rows == exchanges("verilator", description, **arguments)
    assert len(rows[0]["events"]) > 500


def latencies(sim: str, description: Description, *sizes: int) -> Any:
    return run_job(description, sim, function="nicbed.testbench.benches:run", arguments={
        "name": "latency", "layer": "via",
        "parameters": {"sizes": sizes, "trips": 2, "warm": 1}})


@pytest.mark.full
@pytest.mark.parametrize("name", STRUCTURES)
def test_other_nics(name: str) -> None:
    description, layer = STRUCTURES[name]
    if layer == "via":
        sizes = 4, 1024, 5000
        assert latencies("uart", description, *sizes) == latencies("verilator", description,
                                                                   *sizes)
        return
    assert exchanges("uart", description) == exchanges("verilator", description)
    jobs = JOBS[:2] + JOBS[3:]
    assert run(description, jobs, "uart") == run(description, jobs)


@pytest.mark.full
def test_the_netlist_is_the_same() -> None:
    """What synthesis makes of all that is behind a board's pins."""
    assert exchanges("gates", requests=3) == exchanges("verilator", requests=3)


@pytest.mark.full
def test_the_netlist_of_two_nodes_on_one_copy_is_the_same() -> None:
    description = descriptions.for_layer(descriptions.load("board-via"), "via")
    assert latencies("gates", description, 4, 700) == latencies("verilator", description, 4, 700)


def test_errors_are_the_same() -> None:
    """A limit that is reached, and a program that raises."""
    texts = []
    for sim in ("verilator", "uart"):
        with pytest.raises(RunError, match="stopped at cycle 300") as error:
            exchanges(sim, limit=300)
        texts.append(str(error.value))
    assert texts[0] == texts[1]


class NoisyPort:
    """A port both of whose ways are hurt."""

    def __init__(self, port: Any, rate: float, seed: int) -> None:
        self._port = port
        self.noise = [Noise(rate, seed), Noise(rate, seed + 1)]
        self._held = b""

    timeout = property(lambda self: self._port.timeout,
                       lambda self, value: setattr(self._port, "timeout", value))

    @property
    def in_waiting(self) -> int:
        return len(self._held) or self._port.in_waiting

    def read(self, size: int) -> bytes:
        if not self._held:
            self._held = self.noise[0].through(self._port.read(max(1, self._port.in_waiting)))
        found, self._held = self._held[:size], self._held[size:]
        return found

    def write(self, data: bytes) -> int:
        self._port.write(self.noise[1].through(data))
        return len(data)

    def reset_input_buffer(self) -> None:
        self._held = b""
        self._port.reset_input_buffer()


def lab(change: Callable[[Any], Any], *, patient: bool = True,
        description: Description | None = None,
        board: Callable[[Description], Path] = build_board) -> tuple[Lab, Any]:
    """A lab of this process's own on a board, and its port as ``change`` makes it. Unless
    ``patient``, what may have been lost is soon sent again."""
    description = description or Description()
    port = change(simulated_port(board(description)))
    line = Line(port, 60.0, resend=30.0) if patient else Line(port, 10.0, resend=0.02)
    backend = BoardBackend(line, memory_bytes=description.memory.bytes,
                           identity=identity(description))
    return Lab(description, "uart", backend), port


@pytest.mark.parametrize("seed, least", [
    (1, 200), more(2, 2000)])
def test_a_line_that_hurts_what_it_carries(seed: int, least: int) -> None:
    """The same run, or an error that says that the board could not be talked to: never another
    run, though ``least`` bytes and more are dropped, flipped, doubled or joined by others.
    (tests/test_board_line.py does so thousands of times with a model of the board.)"""
    want = exchanges("verilator", requests=6)
    hurt = same = 0
    rng = random.Random(seed)
    while hurt < least:
        rate = rng.choice([0.001, 0.003, 0.006])
        try:
            found, port = lab(partial(NoisyPort, rate=rate, seed=rng.randrange(1 << 30)),
                              patient=False)
        except LineError:
            continue
        try:
            rows = asyncio.run(target_jobs.exchanges(found, requests=6, trace=True))
        except LineError:
            pass
        else:
            assert rows == want
            same += 1
        hurt += sum(noise.hurt for noise in port.noise)
    assert same


def test_another_configurations_board() -> None:
    description = Description()
    line = Line(simulated_port(build_board(description)), 60.0)
    with pytest.raises(LineError, match="carries another configuration .*program it"):
        BoardBackend(line, memory_bytes=description.memory.bytes, identity=bytes(32),
                     advice="; program it")


def test_a_session_after_another() -> None:
    """A board knows nothing of the session before, wherever that ended."""
    found, port = lab(lambda port: port)
    want = exchanges("verilator", requests=4)
    job = target_jobs.exchanges(found, requests=40, trace=True)
    calls = 0
    transact = found._backend._line.transact

    def interrupted(*arguments: Any, **more: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == 60:
            raise KeyboardInterrupt
        return transact(*arguments, **more)

    found._backend._line.transact = interrupted
    with pytest.raises(KeyboardInterrupt):
        job.send(None)
    again = BoardBackend(Line(port, 60.0), memory_bytes=found.description.memory.bytes,
                         identity=identity(found.description))
    rows = asyncio.run(target_jobs.exchanges(Lab(found.description, "uart", again), requests=4,
                                             trace=True))
    assert rows == want


@contextmanager
def board_at_a_port() -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """The path of a serial port with the default NIC's board at its other end, and that."""
    try:
        master, slave = os.openpty()
    except OSError:
        pytest.skip("no pseudo-terminals on this machine")
    board = subprocess.Popen([build_board(Description())], pass_fds=[master],
                             env={**os.environ, "NICBED_UART_FD": str(master)})
    os.close(master)
    try:
        yield os.ttyname(slave), board
    finally:
        board.kill()
        board.wait()
        os.close(slave)


def test_a_board_at_a_serial_port() -> None:
    """Twice: one session after the other."""
    want = exchanges("verilator")
    with board_at_a_port() as (port, _):
        for _ in range(2):
            assert run_job(Description(), "board", function="target_jobs:exchanges", port=port,
                           arguments={"requests": 8, "trace": True}) == want


def test_a_machine_without_terminals(monkeypatch: pytest.MonkeyPatch) -> None:
    def none() -> None:
        raise OSError(19, "No such device")

    monkeypatch.setattr(os, "openpty", none)
    found, port = lab(lambda port: port)
    assert isinstance(port, SocketPort)
    rows = asyncio.run(target_jobs.exchanges(found, requests=8, trace=True))
    assert rows == exchanges("verilator")
    port._socket.shutdown(socket.SHUT_RDWR)
    with pytest.raises(LineError):
        asyncio.run(target_jobs.exchanges(found, requests=8))


def test_a_cable_that_is_pulled() -> None:
    with board_at_a_port() as (port, board):
        pull = Timer(3.0, board.kill)
        pull.start()
        with pytest.raises(RunError) as error:
            run_job(Description(), "board", function="target_jobs:exchanges", port=port,
                    arguments={"requests": 100_000})
    assert error.value.kind == "LineError" and "\n" not in str(error.value), str(error.value)


def test_what_a_board_cannot_await() -> None:
    with pytest.raises(RunError, match="on a board can await operations and lab.run alone"):
        run_job(Description(), "uart", function="target_jobs:foreign")


def test_no_such_port() -> None:
    with pytest.raises(LineError, match="/dev/ttyNone: the serial port cannot be opened: No such"):
        open_port("/dev/ttyNone")
    with pytest.raises(RunError, match="cannot be opened") as error:
        run_job(Description(), "board", function="target_jobs:exchanges", port="/dev/ttyNone")
    assert error.value.kind == "LineError"
