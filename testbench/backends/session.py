"""Carries a job from the command line's process to the simulator's, and its result back."""

import json
import os
import pickle
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ...layouts.description import Description
from ..errors import UserError
from ..simulators import simulator
from ..simulators.cache import CacheError
from ..simulators.icarus import TOP
from ..simulators.verilog import BuildError
from ..synth.flow.tools import ToolError
from . import BOARDS, MODEL, kept
from .environment import cocotb_environment
from .forked import dies_with_parent
from .job import Job

__all__ = ["RunError", "built_simulator", "perform", "run_job"]

Progress = Callable[[str, int, int], None]

WAVE = "waves.fst"
"""File of the waveform in the run's own folder until the simulator has ended. (Icarus appends .fst
to a name without it.) Without lz4's headers Verilator writes VCD."""

NEEDED = 1 << 20
"""With fewer bytes left on its disk, a job that gave no result could not write it."""


class RunError(UserError):
    """A job failed: one line. ``kind`` is the name of the exception behind it ("Stuck", …),
    "BuildError" or "Crash"; ``details`` has traceback, diagnosis or a tool's own messages."""

    def __init__(self, text: str, *, kind: str, details: str = "", status: int = 1) -> None:
        super().__init__(text, status=status)
        self.kind = kind
        self.details = details


def run_job(description: Description, sim: str = "verilator", *, function: str,
            arguments: Mapping[str, Any] | None = None, limit: int | None = None,
            port: str | None = None, wave: Path | None = None, timeline: Path | None = None
            ) -> Any:
    """Run ``async def f(lab, **arguments)`` on ``description``; return its result. The parameters
    are those of :class:`~.job.Job`, which :func:`perform` runs and which has others."""
    return perform(Job(description, sim, function=function, arguments=arguments or {}, limit=limit,
                       port=port, wave=wave, timeline=timeline))


def perform(job: Job, *, progress: Progress = lambda *_: None,
            output: Callable[[str], None] = lambda text: print(text, end="")) -> Any:
    """Run ``job``; return the result of its function, whose current directory is this process's.

    Parameters
    ----------
    progress
        Called with the current step ("converting", "verilating", "compiling", or the text that the
        function reports through ``lab.progress``), how much of it is done, and the total.
    output
        Called with the text that the function prints; by default it is printed here.

    Raises
    ------
    RunError
        The build or the run failed. KeyboardInterrupt passes; either way no process is left.
    """
    sim, wave, timeline = job.sim, job.wave, job.timeline
    if timeline is not None and sim in BOARDS:
        raise UserError(f"--sim {sim} draws no time line: use a simulator, whose cycles are the "
                        "same")
    if timeline is not None and sim == MODEL:
        raise UserError("--sim model draws no time line: it has no events; use a simulator")
    start = _on_board if sim in BOARDS else _modelled if sim == MODEL else _simulated
    with _build_errors():
        launch = start(job, progress)
    with tempfile.TemporaryDirectory(prefix="nicbed-") as place:
        work = Path(place)
        answer = work / "answer"
        wanted = {"description": job.description, "sim": sim,
                  "function": _absolute(job.function), "arguments": dict(job.arguments),
                  "answer": str(answer), "limit": job.limit,
                  "folder": _folder(), "wave": wave is not None,
                  "timeline": None if timeline is None else str(timeline.resolve()),
                  **launch.wanted}
        (work / "job").write_bytes(pickle.dumps(wanted))
        environment = {**launch.environment, "NICBED_JOB": str(work / "job"),
                       "COCOTB_RESULTS_FILE": str(work / "results.xml"),
                       "NICBED_TRACE_FILE": str(work / "trace") if sim == "icarus" else ""}
        reading, writing = os.pipe()
        with open(work / "log", "wb") as log, _standard_input(job.reads) as input:
            process: _OwnProcess | _KeptProcess
            try:
                if launch.keep:
                    process = _KeptProcess(launch, environment, work, input, log.fileno(),
                                           writing, job.modules)
                else:
                    process = _OwnProcess(launch.command + _options(sim, work, wave is not None),
                                          environment, work, input, log.fileno(), writing)
            except BaseException:
                os.close(reading)
                raise
            finally:
                os.close(writing)
            try:
                _follow(reading, progress, output)
                status, said = process.wait()
            except BaseException:
                process.kill()
                raise
            finally:
                if wave is not None and (work / WAVE).exists():
                    wave.parent.mkdir(parents=True, exist_ok=True)
                    shutil.move(work / WAVE, wave)
        return _answer(work / "answer", status, said + (work / "log").read_text(errors="replace"))


def built_simulator(description: Description, sim: str = "verilator", *,
                    progress: Progress = lambda *_: None) -> simulator.Simulator:
    """The simulator of ``description``, built if it is not in the cache.

    Raises
    ------
    RunError
        The build failed.
    """
    with _build_errors():
        return simulator.build(description, sim, progress=progress)


@contextmanager
def _build_errors() -> Iterator[None]:
    try:
        yield
    except (BuildError, CacheError, ToolError) as error:
        raise RunError(str(error), kind="BuildError", details=error.log) from error


@dataclass(frozen=True)
class _Launch:
    """The command that starts a job's process, and further data for its job."""

    command: list[str]
    environment: dict[str, str]
    wanted: dict[str, Any] = field(default_factory=dict)
    keep: bool = False
    """Whether the process may stay for further jobs."""


class _OwnProcess:
    """A process for one job."""

    def __init__(self, command: list[str], environment: Mapping[str, str], work: Path, input: int,
                 log: int, reports: int) -> None:
        self._process = subprocess.Popen(
            command, cwd=work, env={**environment, "NICBED_REPORTS": str(reports)}, stdout=log,
            stderr=subprocess.STDOUT, stdin=input, pass_fds=[reports], start_new_session=True,
            preexec_fn=dies_with_parent if sys.platform.startswith("linux") else None)

    def wait(self) -> tuple[int, str]:
        """Exit status, negative for a signal, and what is not in the log."""
        return self._process.wait(), ""

    def kill(self) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()


class _KeptProcess:
    """A kept simulator for one job."""

    def __init__(self, launch: _Launch, environment: dict[str, str], work: Path, input: int,
                 log: int, reports: int, modules: Sequence[str]) -> None:
        self._simulator = kept.take(launch.command, launch.environment)
        try:
            self._simulator.start(work, environment, input, log, reports, modules=modules)
        except BaseException:
            self.kill()
            raise

    def wait(self) -> tuple[int, str]:
        """As of :class:`_OwnProcess`."""
        ended = self._simulator.wait()
        kept.give_back(self._simulator)
        return ended

    def kill(self) -> None:
        self._simulator.kill()


def _simulated(job: Job, progress: Progress) -> _Launch:
    sim, wave = job.sim, job.wave is not None
    built = job.built or simulator.build(job.description, sim, wave=wave, target=job.target,
                                         progress=progress)
    environment = cocotb_environment(
        top=TOP if sim == "icarus" else "target", modules="nicbed.testbench.backends.simulated",
        results="results.xml",
        extra={"COCOTB_LOG_LEVEL": "ERROR", "GPI_LOG_LEVEL": "ERROR",
               "COCOTB_REWRITE_ASSERTION_FILES": "",
               **({} if sim == "icarus" else {"COCOTB_TRUST_INERTIAL_WRITES": "1"})})
    return _Launch(built.command, environment,
                   keep=sim != "icarus" and not wave and kept.possible())


def _modelled(job: Job, _: Progress) -> _Launch:
    if job.wave is not None:
        raise UserError("--sim model records no waveform: it has no netlist; use a simulator")
    return _Launch([sys.executable, "-m", "nicbed.testbench.backends.model.entry"],
                   {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))})


def _on_board(job: Job, progress: Progress) -> _Launch:
    from ..simulators.board import build_board
    from ..synth.identity import identity

    description, sim = job.description, job.sim
    if job.wave is not None:
        raise UserError(f"--sim {sim} records no waveform")
    if description.node.cpus > 1:
        raise UserError(f"--sim {sim}: a board's nodes have one CPU: node.cpus = "
                        f"{description.node.cpus}")
    if description.node.nics > 1:
        raise UserError(f"--sim {sim}: a board's nodes have one NIC: node.nics = "
                        f"{description.node.nics}")
    if sim == "board":
        if job.port is None:
            raise UserError("--sim board needs the board's serial port: --port /dev/ttyUSB0")
        place = job.port
    else:
        place = str(build_board(description, progress, gates=sim == "gates"))
    return _Launch([sys.executable, "-m", "nicbed.testbench.backends.board.entry"],
                   {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
                   {"place": place, "baud": job.baud, "identity": identity(description)})


def _folder() -> str | None:
    """This process's current directory; None if it has been removed."""
    try:
        return os.getcwd()
    except OSError:
        return None


@contextmanager
def _standard_input(wanted: bool) -> Iterator[int]:
    """A descriptor of this process's standard input if that is ``wanted``, and there is one; else
    of an empty file."""
    found = os.open(os.devnull, os.O_RDONLY)
    try:
        if wanted:
            with suppress(OSError):  # it has been closed
                os.dup2(0, found)
        yield found
    finally:
        os.close(found)


def _absolute(function: str) -> str:
    place, _, name = function.rpartition(":")
    return f"{Path(place).resolve()}:{name}" if place.endswith(".py") else function


def _options(sim: str, work: Path, wave: bool) -> list[str]:
    if sim == "icarus":
        return [f"+nicbed_trace={work / 'trace'}",
                *([f"+nicbed_wave={work / WAVE}"] if wave else [])]
    return ["--trace-file", str(work / WAVE)] if wave else []


def _follow(reading: int, progress: Progress, output: Callable[[str], None]) -> None:
    with os.fdopen(reading, encoding="utf-8") as lines:
        for line in lines:
            report = json.loads(line)
            if "print" in report:
                output(report["print"])
            elif "error" in report:
                sys.stderr.write(report["error"])
                sys.stderr.flush()
            elif "say" in report:
                print(f"nicbed: {report['say']}", file=sys.stderr, flush=True)
            else:
                progress(*report["progress"])


def _told(line: str) -> str:
    """A line of a process that has crashed, with the line of a C program's source if it has one's
    address."""
    from ...host.mpi.c.lines import told

    return told(line)


def _answer(path: Path, status: int, log: str) -> Any:
    if not path.is_file():
        if shutil.disk_usage(path.parent).free < NEEDED:
            raise RunError(f"the disk of {path.parent.parent} is full: TMPDIR=FOLDER chooses "
                           "another folder for the files of a run", kind="Crash", details=log)
        said = [line for line in log.splitlines() if "nicbed:" in line]
        why = _told(said[-1].split("nicbed:", 1)[1].strip()) if said else (
            f"it was killed by {signal.Signals(-status).name}" if status < 0
            else f"it ended with status {status}")
        raise RunError(f"the simulator gave no result: {why}", kind="Crash", details=log)
    answer = pickle.loads(path.read_bytes())
    if "error" in answer:
        kind, text, notes, details = answer["error"]
        line = text if kind == "Stuck" else f"{kind}: {text}" if text else kind
        raise RunError("; ".join([line, *notes]), kind=kind, details=details,
                       status=answer["status"])
    return answer["result"]
