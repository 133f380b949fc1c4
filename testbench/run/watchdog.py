"""Reports, and in the end stops, a host program that never lets target time advance."""

import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

from ...host.runtime import Runtime, Stuck
from ...host.serving import Server

__all__ = ["PATIENCE", "TOLD", "Watchdog", "watching"]

TOLD = 30.0
"""CPU seconds without an operation of any host port after which a line names the program."""
PATIENCE = 300.0
"""CPU seconds after which the program is stopped; NICBED_PATIENCE in the environment overrides it.
Neither affects a cycle."""

_ROOT = Path(__file__).resolve().parents[2]
_OURS = (f"{_ROOT / 'host'}{os.sep}", f"{_ROOT / 'testbench'}{os.sep}")


class Watchdog:
    """Checks a running program from time to time. Checks at the same attention and cycle see the
    same activation of the program. Checks take little time.

    Parameters
    ----------
    say
        Called once with a line about a program that has run for ``told`` seconds.
    told, patience
        Seconds of ``clock``. After ``patience`` a check raises :class:`Stuck`.
    """

    def __init__(self, runtime: Runtime, mailbox: Any, say: Callable[[str], None], *,
                 told: float = TOLD, patience: float = PATIENCE,
                 clock: Callable[[], float] = time.process_time) -> None:
        self._runtime, self._mailbox, self._say, self._clock = runtime, mailbox, say, clock
        self._told, self._patience = told, patience
        self._seen: tuple[int, int] | None = None
        self._since = 0.0
        self._silent = True

    def look(self, frame: FrameType | None) -> None:
        """Check the program; ``frame`` is the frame that runs now."""
        now = (self._runtime.wakes, self._mailbox.cycle())
        index = _port(frame)
        if now != self._seen or index is None:
            self._seen, self._since, self._silent = now, self._clock(), True
            return
        spent = self._clock() - self._since
        name = self._runtime.name(index)
        if spent >= self._patience:
            raise Stuck(f"{name}'s program spends no target time: at cycle {now[1]} it has "
                        f"run for {self._patience:g} CPU seconds, now at {_place(frame)}, without "
                        "awaiting an operation of its host port")
        if spent >= self._told and self._silent:
            self._silent = False
            self._say(f"{name}'s program has been computing in Python for {spent:.0f} CPU "
                      f"seconds since cycle {now[1]}, now at {_place(frame)}; target time stands "
                      "still until it awaits an operation")


@contextmanager
def watching(runtime: Runtime, mailbox: Any, say: Callable[[str], None]) -> Iterator[None]:
    """In this context, a program that runs without awaiting an operation is reported by ``say``,
    and gets :class:`Stuck` in the end.

    Target time stands still while a program runs, so no cycle limit can stop it. A timer of CPU
    time checks it instead.
    """
    patience = float(os.environ.get("NICBED_PATIENCE", PATIENCE))
    dog = Watchdog(runtime, mailbox, say, patience=patience)
    every = min(TOLD, patience) / 3
    before = signal.signal(signal.SIGVTALRM, lambda _, frame: dog.look(frame))
    signal.setitimer(signal.ITIMER_VIRTUAL, every, every)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def _port(frame: FrameType | None) -> int | None:
    """Port of the program that runs in ``frame``: the one that the runtime serves in one of its
    callers."""
    while frame is not None:
        if frame.f_code is Server.serve.__code__:
            return frame.f_locals["self"].index
        frame = frame.f_back
    return None


def _place(frame: FrameType | None) -> str:
    """File and line in the user's own code, if there is any."""
    inner = frame
    while frame is not None and frame.f_code.co_filename.startswith(_OURS):
        frame = frame.f_back
    chosen = frame or inner
    return f"{chosen.f_code.co_filename}:{chosen.f_lineno}" if chosen else "an unknown place"
