"""Simulators that are kept between jobs: a second job on one starts in milliseconds.

A simulator takes half a second to start, nearly all of it Python's imports. So its process stays
(:mod:`.forked`), for the next job of this process with the same simulator and environment.
"""

import atexit
import os
import pickle
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Container, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from . import forked

__all__ = ["MOST", "KeptSimulator", "end", "give_back", "possible", "take"]

MOST = 6
"""Simulators without a job that are kept, each with about 60 MB of memory."""
OF_ONE_JOB = frozenset(("PYTEST_CURRENT_TEST",))
"""Variables of the environment that say nothing about how a simulator starts."""

Key = tuple[tuple[str, ...], frozenset[tuple[str, str]]]


def possible() -> bool:
    """Tells whether simulators can be kept on this system: it needs Linux's ways with processes."""
    return sys.platform.startswith("linux")


class KeptSimulator:
    """The process of ``command``, which waits for jobs or carries one out."""

    def __init__(self, command: tuple[str, ...], environment: Mapping[str, str], key: Key) -> None:
        self.key = key
        self.starter = threading.current_thread()
        self._log = tempfile.TemporaryFile()
        self._jobs, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(
                command, cwd=tempfile.gettempdir(),
                env={**environment, forked.JOBS: str(theirs.fileno()),
                     "COCOTB_RESULTS_FILE": os.devnull},
                stdout=self._log, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()], start_new_session=True,
                preexec_fn=forked.dies_with_parent)

    @property
    def alive(self) -> bool:
        """Tells whether the process can take a job. To a fork of this process it is dead, as it is
        no child."""
        return self._process.poll() is None

    def start(self, place: Path, environment: Mapping[str, str], *descriptors: int,
              modules: Sequence[str] = ()) -> None:
        """Start the job in folder ``place``, with ``environment``, and with descriptors for its
        standard input, its log and, if it reports, its reports. The simulator itself imports
        ``modules`` first, so that later jobs find them."""
        (place / forked.SET_UP).write_bytes(pickle.dumps((dict(environment), tuple(modules))))
        with suppress(ConnectionError):  # it has ended: wait() tells how
            socket.send_fds(self._jobs, [os.fsencode(place)], descriptors)

    def wait(self, limit: float | None = None) -> tuple[int, str]:
        """Wait for the job's end: its exit status, negative for a signal, and what the simulator
        itself has printed, if it could not even start.

        Raises
        ------
        TimeoutError
            The job has not ended after ``limit`` seconds.
        """
        status = b""
        self._jobs.settimeout(limit)
        with suppress(ConnectionError):
            status = self._jobs.recv(forked.STATUS.size)
        if status:
            return forked.STATUS.unpack(status)[0], ""
        self._process.wait()
        self._log.seek(0)
        return self._process.returncode, self._log.read().decode(errors="replace")

    def kill(self) -> None:
        """End the process, and with it a job's."""
        self._process.kill()
        self._process.wait()
        self._jobs.close()
        self._log.close()


_idle: list[KeptSimulator] = []
_lock = threading.Lock()


def take(command: Sequence[str], environment: Mapping[str, str],
         of_one_job: Container[str] = ()) -> KeptSimulator:
    """A simulator of ``command`` and ``environment``, but for variables ``of_one_job``, that has no
    job: kept, or started now. A thread gets its own ones, because Linux ends a process with the
    thread that has started it."""
    key = tuple(command), frozenset((name, value) for name, value in environment.items()
                                    if name not in OF_ONE_JOB and name not in of_one_job)
    with _lock:
        for index in reversed(range(len(_idle))):
            if _idle[index].key == key and _idle[index].starter is threading.current_thread():
                found = _idle.pop(index)
                if found.alive:
                    return found
                found.kill()
    return KeptSimulator(key[0], environment, key)


def give_back(simulator: KeptSimulator) -> None:
    """Keep a simulator whose job has ended, unless it has ended, too; the one that has waited
    longest may have to go."""
    if not simulator.alive:
        simulator.kill()
        return
    with _lock:
        _idle.append(simulator)
        surplus = _idle[:-MOST]
        del _idle[:-MOST]
    for one in surplus:
        one.kill()


def end(commands: Container[tuple[str, ...]] | None = None) -> None:
    """End those without a job; or those of ``commands`` that this thread has started."""
    with _lock:
        ending = [one for one in _idle if commands is None or (
            one.key[0] in commands and one.starter is threading.current_thread())]
        _idle[:] = [one for one in _idle if one not in ending]
    for one in ending:
        one.kill()


atexit.register(end)
