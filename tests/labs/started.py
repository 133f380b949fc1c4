"""Simulators that are started once and forked for each case.

Starting a simulator with Python, cocotb, Amaranth and a bench in it takes longer than most cases
run. :class:`Started` starts one, which has imported all that and stands at time 0; for each case
it forks, and the child runs that case alone, from that same state. No case sees another.
"""

import atexit
import importlib
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

__all__ = ["run_case", "serve"]

KEPT = 6
"""Simulators that wait for their next case, at most: 60 MB each."""

CHANNEL = "NICBED_BENCH_CASES"
"""The environment's variable with the number of the simulator's end of the socket."""


class Started:
    """A simulator that waits for cases of the bench ``module``."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str]) -> None:
        self._log = tempfile.TemporaryFile()
        self._socket, there = socket.socketpair()
        with there:
            self._process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=self._log, stderr=subprocess.STDOUT,
                pass_fds=(there.fileno(),), start_new_session=True,
                env={**environment, "PYGPI_USERS": f"{__name__}:serve",
                     CHANNEL: str(there.fileno())})

    def run(self, place: Path, environment: Mapping[str, str], limit: float) -> bool:
        """Run a case in directory ``place``, its log there, too; whether the simulator is still
        there to take another."""
        case = {"place": str(place), "environment": dict(environment)}
        self._socket.settimeout(limit)
        with suppress(BrokenPipeError, ConnectionResetError):
            self._socket.sendall(f"{json.dumps(case)}\n".encode())
            return bool(self._socket.recv(1))
        return False

    def log(self) -> str:
        """What it wrote outside any case."""
        self._log.seek(0)
        return self._log.read().decode(errors="replace")

    def stop(self) -> None:
        """End it, and the case that it still runs."""
        self._socket.close()
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._log.close()


_started: dict[tuple[str, ...], Started] = {}


def run_case(command: Sequence[str], place: Path, environment: Mapping[str, str], limit: float
             ) -> str:
    """Run a case in directory ``place`` on the simulator that ``command`` starts; its log.

    Raises
    ------
    TimeoutError
        It had not ended after ``limit`` seconds.
    """
    key = (*command, environment["COCOTB_TEST_MODULES"])
    one = _started.pop(key, None) or Started(command, environment)
    stays = False
    try:
        stays = one.run(place, environment, limit)
        log = place / "log"
        return log.read_text(errors="replace") if log.exists() else one.log()
    finally:
        if stays:
            _started[key] = one
        else:
            one.stop()
        while len(_started) > KEPT:
            _started.pop(next(iter(_started))).stop()


@atexit.register
def _stop_all() -> None:
    while _started:
        _started.popitem()[1].stop()


# What follows runs inside the simulator.


def serve() -> None:
    """Fork for each case that comes, until there are no more; in the children, go on as cocotb
    would have."""
    import cocotb.regression  # noqa: F401
    from pygpi.entry import load_entry
    importlib.import_module(os.environ["COCOTB_TEST_MODULES"])
    with socket.socket(fileno=int(os.environ[CHANNEL])) as channel:
        cases = channel.makefile("r")
        while (line := cases.readline()) and (child := os.fork()):
            os.waitpid(child, 0)
            channel.sendall(b".")
        if not line:
            os._exit(0)
    case = json.loads(line)
    os.chdir(case["place"])
    log = os.open("log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    for output in (1, 2):
        os.dup2(log, output)
    os.close(log)
    os.environ.clear()
    os.environ.update(case["environment"])
    atexit.register(_leave)
    load_entry()


def _leave() -> None:
    """End the process, its files written: Verilator's end would wait for threads that the fork did
    not take along."""
    import ctypes
    sys.stdout.flush()
    ctypes.CDLL(None).fflush(None)
    os._exit(0)
