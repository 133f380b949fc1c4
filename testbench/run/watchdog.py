"""Ends a host program that never lets target time advance."""

import os
import signal
import sys
import sysconfig
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

from ...host.port.serving import Server
from ...host.port.watch import PATIENCE, SIGNAL, Stuck
from ...host.runtime import Runtime

__all__ = ["Watchdog", "unwatched", "watching"]

WAITS = 10
"""A program that took less than 1/WAITS of the time since it began is not computing: it waits."""

_ROOT = Path(__file__).resolve().parents[2]
_OURS = (f"{_ROOT / 'host'}{os.sep}", f"{_ROOT / 'testbench'}{os.sep}")
_LIBRARIES = tuple(f"{sysconfig.get_path(name)}{os.sep}" for name in
                   ("stdlib", "platstdlib", "purelib", "platlib")) + ("<",)
_SERVE = (Server.serve.__code__, Server.close.__code__)

Clock = Callable[[], tuple[float, float]]


def _clock() -> tuple[float, float]:
    """Seconds of CPU time, and of wall time."""
    return time.process_time(), time.monotonic()


class Watchdog:
    """Checks a running program from time to time, as the handler of a signal. Checks at the same
    attention and cycle see the same activation of the program. Checks take little time.

    A program gets :class:`~nicbed.host.port.watch.Stuck` once it has computed for
    ``runtime.watch.patience`` seconds of CPU time, so that a busy machine ends none; or once it has
    waited for as long, in wall time, for something outside the target.

    Parameters
    ----------
    say
        Called once with a line about a program that has run for ``PATIENCE`` seconds, if it may run
        longer.
    give_up
        Called with the error if the program goes on after it, as it catches everything.
    """

    def __init__(self, runtime: Runtime, mailbox: Any, say: Callable[[str], None],
                 give_up: Callable[[Stuck], None] = lambda _: None, *,
                 clock: Clock = _clock) -> None:
        self._runtime, self._mailbox, self._clock = runtime, mailbox, clock
        self._say, self._give_up = say, give_up
        self._seen: tuple[int, int] | None = None
        self._since = (0.0, 0.0)
        self._silent = True
        self._raised: Stuck | None = None

    def __call__(self, number: int, frame: FrameType | None) -> None:
        """The signal has come."""
        self.look(frame)

    def begin(self) -> None:
        """The program's time begins anew."""
        self._seen = None

    def look(self, frame: FrameType | None) -> None:
        """Check the program; ``frame`` is the frame that runs now."""
        now = (self._runtime.wakes, self._mailbox.cycle())
        port = _port(frame)
        if now != self._seen or port is None or self._runtime.watch.excused:
            self._seen, self._since, self._silent = now, self._clock(), True
            self._raised = None
            return
        computed, passed = (to - since for to, since in
                            zip(self._clock(), self._since, strict=True))
        waits = computed * WAITS < passed
        spent = passed if waits else computed
        watch = self._runtime.watch
        if spent >= watch.patience:
            if self._raised is not None:
                self._give_up(self._raised)
            self._raised = watch.stuck(port, now[1], f"in {_place(frame)}", waits=waits)
            raise self._raised
        if spent >= PATIENCE and self._silent:
            self._silent = False
            self._say(watch.told(port, now[1], f"in {_place(frame)}", spent, waits=waits))


@contextmanager
def watching(runtime: Runtime, mailbox: Any, say: Callable[[str], None],
             give_up: Callable[[Stuck], None]) -> Iterator[None]:
    """In this context, a program that runs for too long without an operation of its host port is
    ended; parameters as of :class:`Watchdog`.

    Target time stands still while a program runs, so no cycle limit can stop it. A timer's signal
    checks it instead.
    """
    before = signal.signal(SIGNAL, Watchdog(runtime, mailbox, say, give_up))
    period = runtime.watch.period
    signal.setitimer(signal.ITIMER_REAL, period, period)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(SIGNAL, before)


@contextmanager
def unwatched() -> Iterator[None]:
    """No program is checked in this context, and the time of the one that runs begins anew behind
    it; in a fork that leaves the context, too."""
    timer = signal.setitimer(signal.ITIMER_REAL, 0)
    try:
        yield
    finally:
        watchdog = signal.getsignal(SIGNAL)
        if isinstance(watchdog, Watchdog):
            watchdog.begin()
            signal.setitimer(signal.ITIMER_REAL, *timer)


def _callers(frame: FrameType | None) -> Iterator[FrameType]:
    """``frame`` and its callers. The program of a rank has a stack of its own (a greenlet): its
    callers are followed by those of who switched to it."""
    greenlet = sys.modules.get("greenlet")
    stack: Any = None if greenlet is None else greenlet.getcurrent()
    while frame is not None:
        while frame is not None:
            yield frame
            frame = frame.f_back
        stack = None if stack is None else stack.parent
        frame = None if stack is None else stack.gr_frame


def _port(frame: FrameType | None) -> int | None:
    """Port of the program that runs in ``frame``: the one that is served in one of its callers."""
    for caller in _callers(frame):
        if caller.f_code in _SERVE:
            return caller.f_locals["self"].index
    return None


def _place(frame: FrameType | None) -> str:
    """File and line in the user's own code, if there is any."""
    callers = [*_callers(frame)]
    others = [one for one in callers if not one.f_code.co_filename.startswith(_OURS)]
    users = [one for one in others if not one.f_code.co_filename.startswith(_LIBRARIES)]
    for found in (users, others, callers):
        if found:
            return f"{found[0].f_code.co_filename}:{found[0].f_lineno}"
    return "an unknown place"
