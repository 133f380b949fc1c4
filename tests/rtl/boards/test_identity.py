"""The same cycles, results, events and marks on a board's top as in a simulator of the target."""

import asyncio
import errno
import os
import random
import socket
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from nicbed.layouts.description import Description
from nicbed.layouts.trace import Block
from nicbed.rtl.boards.core import BoardCore
from nicbed.testbench.backends.board.backend import BoardBackend
from nicbed.testbench.backends.board.line import Line, LineError
from nicbed.testbench.backends.board.ports import SocketPort, open_port, simulated_port
from nicbed.testbench.backends.job import Job
from nicbed.testbench.backends.session import RunError, perform, run_job
from nicbed.testbench.descriptions import load as descriptions
from nicbed.testbench.lab import Lab
from nicbed.testbench.simulators import cache
from nicbed.testbench.simulators.board import DIVISOR, board_key, build_board, compile_board
from nicbed.testbench.simulators.verilog import convert
from nicbed.testbench.synth.identity import identity
from nicbed.testbench.synth.plan import FRAMES

from tests.host.am.test_target import RATES, run
from tests.labs.board.lab import Cable, NoisyPort, Traffic, board_at_a_port, lab, loads_counted
from tests.labs.board.ports import seed_nonces
from tests.labs.rows import more
from tests.programs import board_jobs, target_jobs
from tests.programs.am import FAULTY, describe, run_many
from tests.programs.board_jobs import content, digest

pytest.importorskip("serial")
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
SMALL = describe({"nic.mtu": 64, "nic.send_fifo": 128, "nic.receive_fifo": 128,
                  "nic.send_ring": 4, "nic.receive_ring": 4, "link.buffer": 64,
                  "bus.posted_writes": 2, "cpu.cache_lines": 4})
STRUCTURES = {"memory bus": descriptions.load("memory-bus"), "small": SMALL,
              "two levels": describe({"cpu.cache_lines": 4, "cpu.l2_lines": 32}),
              "board-picorv32": descriptions.for_layer(descriptions.load("board-picorv32"), "am")}
EXPERIMENT = str(Path(__file__).parents[2] / "programs" / "board_experiment.py")
VIA = descriptions.for_layer(descriptions.load("board-via"), "via")


def exchanges(sim: str, description: Description | None = None, **arguments: Any) -> Any:
    return run_job(description or Description(), sim,
                   function="tests.programs.target_jobs:exchanges",
                   arguments={"requests": 8, "trace": True, **arguments})


@pytest.mark.parametrize("timing", TIMINGS.values(), ids=TIMINGS)
def test_a_run_on_a_board_equals_the_simulators(timing: dict[str, Any]) -> None:
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


@pytest.mark.full
def test_more_memory_than_there_is_on_the_board(monkeypatch: pytest.MonkeyPatch) -> None:
    loads = loads_counted(monkeypatch)
    assert asyncio.run(run_many(lab()[0], JOBS)) == run(Description(), JOBS)
    assert min(loads[0], loads[1]) > FRAMES, "no page gave way to another"


@pytest.mark.full
@pytest.mark.parametrize("kind", ["store", "get"])
def test_a_megabyte(kind: str, monkeypatch: pytest.MonkeyPatch,
                    capsys: pytest.CaptureFixture[str]) -> None:
    """Sixteen times what of a node's memory is on the board. Printed, for docs/how-to/board.md."""
    size = 1 << 20
    traffic = Traffic(monkeypatch)
    found = asyncio.run(board_jobs.transfer(traffic.lab, kind, size))
    with capsys.disabled():
        print(f"\n{kind} of 1 MB: {traffic}")
    assert found == run_job(Description(), function="tests.programs.board_jobs:transfer",
                            arguments={"kind": kind, "size": size})
    source, target = (0, 1) if kind == "store" else (1, 0)
    assert found["results"][target] == digest(content(source, size))
    assert traffic.loads[source] > 1024 > FRAMES, "every page of the data came to the board"
    assert traffic.loads[target] > FRAMES


def shared_board(description: Description) -> Path:
    """A board's top whose two nodes share one copy of a node's logic."""
    def make(work: Path) -> None:
        core = BoardCore(description=description, divisor=DIVISOR, frames=FRAMES,
                         identity=identity(description), shared=True)
        compile_board(convert(core, "top", processes=True), work)

    return cache.entry("bench", ["shared", *board_key(description)], make) / "simulator"


@pytest.mark.full
@pytest.mark.parametrize("arguments", [
    {"runs": 2, "settings": TIMINGS["slow memory"]}, {"settings": {**FAULTY, **RATES["all"]}}])
def test_two_nodes_on_one_copy(arguments: dict[str, Any]) -> None:
    """(With a VI engine they always are: test_via_is_the_same.)"""
    found, _ = lab(description=SMALL, board=shared_board)
    rows = asyncio.run(target_jobs.exchanges(found, requests=8, trace=True, **arguments))
    assert rows == exchanges("verilator", SMALL, **arguments)
    assert len(rows[0]["events"]) > 500


@pytest.mark.full
@pytest.mark.parametrize("name", STRUCTURES)
def test_other_nics(name: str) -> None:
    description = STRUCTURES[name]
    for settings in {}, {**FAULTY, **RATES["all"]}:
        one = exchanges("verilator", description, settings=settings)
        assert len(one[0]["events"]) > 500
        assert exchanges("uart", description, settings=settings) == one
    jobs = JOBS[:2] + JOBS[3:]
    assert run(description, jobs, "uart") == run(description, jobs)


def messages(sim: str, *sizes: int, **settings: Any) -> Any:
    return run_job(VIA, sim, function="tests.programs.board_jobs:messages",
                   arguments={"sizes": sizes, "settings": settings})


@pytest.mark.full
@pytest.mark.parametrize("faults", [{}, {**RATES["all"], "via.retry_timeout": 3000}],
                         ids=["plain", "faulty"])
def test_via_is_the_same(faults: dict[str, Any]) -> None:
    """Reliable delivery, of packets that are lost too, by two nodes on one copy of their logic."""
    sizes = 0, 4, 700, 1500, 512, 33
    one = messages("verilator", *sizes, **faults)
    assert one["results"] == [[True] * len(sizes)] * 2
    assert len(one["events"]) > 1000
    injected = [event for event in one["events"] if event.block == Block.FAULT]
    assert bool(injected) == bool(faults)
    assert messages("uart", *sizes, **faults) == one


@pytest.mark.full
def test_the_netlist_is_the_same() -> None:
    """What synthesis makes of all that is behind a board's pins."""
    assert exchanges("gates", requests=3) == exchanges("verilator", requests=3)


@pytest.mark.full
def test_the_netlist_of_two_nodes_on_one_copy_is_the_same() -> None:
    assert messages("gates", 4, 700) == messages("verilator", 4, 700)


def test_errors_are_the_same() -> None:
    """A limit that is reached, and a program that raises."""
    texts = []
    for sim in ("verilator", "uart"):
        with pytest.raises(RunError, match="stopped at cycle 300") as error:
            exchanges(sim, limit=300)
        texts.append(str(error.value))
    assert texts[0] == texts[1]


@pytest.mark.full
@pytest.mark.parametrize("seed, least", [
    (1, 200), more(2, 2000)])
def test_a_line_that_damages_frames(seed: int, least: int,
                                           monkeypatch: pytest.MonkeyPatch) -> None:
    """The same run, or an error that says that the board could not be talked to: never another
    run, though ``least`` bytes and more are dropped, flipped, doubled or joined by others.
    (tests/testbench/backends/board/test_line.py does so thousands of times with a model of the
    board.)"""
    seed_nonces(monkeypatch, seed)
    want = exchanges("verilator", requests=6)
    hurt = same = 0
    rng = random.Random(seed)
    while hurt < least:
        rate = rng.choice([0.001, 0.003, 0.006])
        noisy, rows = through_noise(rate, rng.randrange(1 << 30), requests=6)
        if rows is not None:
            assert rows == want
            same += 1
        hurt += sum(noise.hurt for noise in noisy.noise)
    assert same


def through_noise(rate: float, seed: int, **arguments: Any) -> tuple[NoisyPort, Any]:
    """What exchanges gave on a line that hurts bytes, None if that was too much for it."""
    ports: list[NoisyPort] = []

    def line(port: NoisyPort) -> Line:
        ports.append(port)
        return Line(port, 10.0, resend=0.02, clock=lambda: port.now)

    try:
        found, _ = lab(partial(NoisyPort, rate=rate, seed=seed), line=line)
        return ports[0], asyncio.run(target_jobs.exchanges(found, trace=True, **arguments))
    except LineError:
        return ports[0], None


def test_noise_is_seeded(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is sent, what of it is hurt, how often a frame goes again: the same each time."""
    times = []
    for _ in range(2):
        seed_nonces(monkeypatch, 5)
        port, rows = through_noise(0.003, 6, requests=1)
        assert rows is not None
        times.append((port.sent, port.now, [noise.hurt for noise in port.noise]))
    assert times[0] == times[1] and times[0][1] > 0, times


def test_another_configurations_board() -> None:
    description = Description()
    line = Line(simulated_port(build_board(description)), 60.0)
    with pytest.raises(LineError, match="carries another configuration .*program it"):
        BoardBackend(line, memory_bytes=description.memory.bytes, identity=bytes(32),
                     advice="; program it")


def test_a_session_after_another() -> None:
    """A board knows nothing of the session before, wherever that ended."""
    found, port = lab()
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


def test_a_board_at_a_serial_port() -> None:
    """Twice: one session after the other."""
    want = exchanges("verilator")
    with board_at_a_port() as (port, _):
        for _ in range(2):
            assert run_job(Description(), "board", function="tests.programs.target_jobs:exchanges",
                           port=port,
                           arguments={"requests": 8, "trace": True}) == want


def test_a_machine_without_terminals(monkeypatch: pytest.MonkeyPatch) -> None:
    def none() -> None:
        raise OSError(19, "No such device")

    monkeypatch.setattr(os, "openpty", none)
    found, port = lab()
    assert isinstance(port, SocketPort)
    rows = asyncio.run(target_jobs.exchanges(found, requests=8, trace=True))
    assert rows == exchanges("verilator")
    port._socket.shutdown(socket.SHUT_RDWR)
    with pytest.raises(LineError):
        asyncio.run(target_jobs.exchanges(found, requests=8))


def test_where_time_is_gets_told() -> None:
    """To the progress bar, of a board that is asked while it runs; and that changes nothing."""
    arguments = {"requests": 2, "step": 5000, "skip": False, "trace": True}
    told: list[str] = []
    with board_at_a_port(doubled=True) as (port, _):
        rows = perform(Job(Description(), "board", function="tests.programs.target_jobs:exchanges",
                           port=port, arguments=arguments),
                       progress=lambda what, done, total: told.append(what))
    cycles = [int(what.removeprefix("cycle ").replace(",", "")) for what in told
              if what.startswith("cycle ")]
    assert cycles and cycles == sorted(cycles), told
    assert 1000 < cycles[-1] < rows[0]["cycles"]
    assert rows == exchanges("verilator", **arguments)


def nicbed(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "nicbed.testbench.cli", *arguments],
                          capture_output=True, text=True, timeout=300)


def test_a_cable_that_is_pulled(tmp_path: Path) -> None:
    """One line, and no result, not even half of one."""
    with board_at_a_port(pulled_after=30) as (port, cable):
        done = nicbed("run", EXPERIMENT, "--sim", "board", "--port", port, "--out",
                      str(tmp_path / "out"))
        assert isinstance(cable, Cable) and cable.pulled, "the run did not come that far"
    assert done.returncode == 1 and done.stdout == ""
    line, = done.stderr.splitlines()
    assert line.startswith(f"nicbed: {port}: the serial port failed: ")
    assert list(tmp_path.rglob("*")) == []


def test_result_files_are_the_same(tmp_path: Path) -> None:
    """By the command that docs/how-to/board.md gives: a simulator's, a board's top's, and a
    board's."""
    page = (Path(__file__).parents[3] / "docs" / "how-to" / "board.md").read_text()
    command, = (line for line in page.splitlines() if line.startswith("    sed "))

    def shown(path: Path) -> bytes:
        return subprocess.run(command.replace("FILE", str(path)), shell=True, check=True,
                              capture_output=True).stdout

    with board_at_a_port() as (port, _):
        for sim, *where in ["verilator"], ["uart"], ["board", "--port", port]:
            done = nicbed("run", EXPERIMENT, "--sim", sim, *where, "--out", str(tmp_path))
            assert done.returncode == 0, done.stderr
    files = sorted(tmp_path.glob("*.json"))
    texts = [path.read_text() for path in files]
    assert len(set(texts)) == 3, "each says what it ran in"
    same = {shown(path) for path in files}
    assert len(same) == 1
    files[0].write_text(texts[0].replace('"cycles": ', '"cycles": 1'))
    assert shown(files[0]) not in same, "the command leaves more out than it says"


def test_what_a_board_cannot_await() -> None:
    with pytest.raises(RunError, match="on a board can await operations and lab.run alone"):
        run_job(Description(), "uart", function="tests.programs.target_jobs:foreign")


def test_no_such_port() -> None:
    with pytest.raises(LineError, match="/dev/ttyNone: the serial port cannot be opened: No such"):
        open_port("/dev/ttyNone")
    with pytest.raises(RunError, match="cannot be opened") as error:
        run_job(Description(), "board", function="tests.programs.target_jobs:exchanges",
                port="/dev/ttyNone")
    assert error.value.kind == "LineError"


def test_a_port_in_use(monkeypatch: pytest.MonkeyPatch) -> None:
    """By a program that locks it, as this one does, or that has it for itself."""
    with board_at_a_port() as (port, _):
        held = open_port(port)
        with pytest.raises(LineError, match=f"^{port}: another program has the serial port open"):
            open_port(port)
        held.close()
        open_port(port).close()

    def taken(*arguments: Any, **more: Any) -> None:
        raise OSError(errno.EBUSY, "could not open port")

    monkeypatch.setattr("serial.Serial", taken)
    with pytest.raises(LineError, match="another program has the serial port open"):
        open_port("/dev/ttyUSB0")
