"""Inside a simulator that is kept: each job runs in a fork of its process.

The process has started, with Python and all that a job imports, and its target has not been reset.
It waits at a socket. For each job it forks, and the child carries the job out; the process itself
stays as it was, so a job finds what it would find in a simulator of its own.
"""

import ctypes
import gc
import importlib
import os
import pickle
import signal
import socket
import struct
import sys
import traceback
import warnings
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

__all__ = ["JOBS", "SET_UP", "STATUS", "dies_with_parent", "end", "fork", "job_has_come"]

JOBS = "NICBED_JOBS"
"""Variable of the environment: descriptor of the socket from which jobs come."""
LONGEST = 4096
"""Bytes of the longest path of a job's folder."""
SET_UP = "environment"
"""File in a job's folder: the job's environment, and the modules that it needs, pickled."""
STATUS = struct.Struct("<i")
"""What is sent back of a job's process: its exit status, negative for a signal."""
PR_SET_PDEATHSIG = 1
_LIBC = ctypes.CDLL(None)  # a process that is about to start must not load it


def dies_with_parent() -> None:
    """Have this process killed when its parent ends, in whatever way. For Linux."""
    _LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def fork() -> int:
    """Fork: 0 in the new process, which is killed when this one ends; its number in this one."""
    sys.stdout.flush()
    _LIBC.fflush(None)
    parent = os.getpid()
    with warnings.catch_warnings():
        # numpy's threads do nothing meanwhile.
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        dies_with_parent()
        if os.getppid() != parent:
            os._exit(1)
    return child


def job_has_come(modules: Iterable[str]) -> bool:
    """Import ``modules``, which every job needs. Then return True in a process for each job, set up
    for it, and False when no more jobs will come. The modules of nicbed that a job asks for are
    imported before its process begins, so that the next job finds them."""
    jobs = socket.socket(fileno=int(os.environ[JOBS]))
    found: set[str] = set()
    _import(modules, found)
    while True:
        path, descriptors, _, _ = socket.recv_fds(jobs, LONGEST, 3)
        if not path:
            return False
        place = Path(os.fsdecode(path))
        environment, needed = pickle.loads((place / SET_UP).read_bytes())
        with suppress(Exception):  # the job itself will say what is wrong with a module
            _import(needed, found)
        child = fork()
        if child == 0:
            jobs.close()
            _set_up(place, environment, *descriptors)
            return True
        for descriptor in descriptors:
            os.close(descriptor)
        _, status = os.waitpid(child, 0)
        jobs.send(STATUS.pack(os.waitstatus_to_exitcode(status)))


def _import(modules: Iterable[str], found: set[str]) -> None:
    """Import those of ``modules`` that have not been ``found``."""
    new = [module for module in modules if module not in found]
    for module in new:
        importlib.import_module(module)
        found.add(module)
    if new:
        gc.freeze()


def _set_up(place: Path, environment: dict[str, str], input: int, log: int,
            reports: int | None = None) -> None:
    os.setsid()
    os.chdir(place)
    for descriptor, standard in ((input, 0), (log, 1), (log, 2)):
        os.dup2(descriptor, standard)
    os.close(input)
    os.close(log)
    os.environ.clear()
    os.environ.update(environment)
    if reports is not None:
        os.environ["NICBED_REPORTS"] = str(reports)


def end(error: BaseException | None) -> NoReturn:
    """End a job's process, also where the disk is full on which its log lies: whatever is raised
    here would have the simulator go on."""
    try:
        if error is not None:
            traceback.print_exception(error)
        sys.stderr.flush()
        _LIBC.fflush(None)
    finally:
        os._exit(error is not None)
