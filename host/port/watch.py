"""Tells of a program that runs without letting target time advance, and ends it after a while."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["PATIENCE", "SIGNAL", "Stuck", "Watch"]

PATIENCE = 30.0
"""Seconds for which a program may compute without an operation of its host port;
NICBED_PATIENCE in the environment overrides it. No cycle depends on it."""
SIGNAL = signal.SIGALRM
"""Comes to the process every :attr:`Watch.period` seconds during a run."""


class Stuck(Exception):
    """A run does not end by itself. At the cycle limit the text says which node, and which CPU
    where it has several, waits for what, since when; before it, whose program computes, and
    where."""


class Watch:
    """Knows whose programs run. One for a run; a layer gets it by ``node.run_service(Watch)``.

    Whoever drives the target has Python look at each :data:`SIGNAL`
    (:mod:`nicbed.testbench.run.watchdog`) and raises :meth:`stuck` in a program that has run in
    Python for :attr:`patience` seconds. Python cannot look while C code runs that was called with
    Python's lock. A layer that runs programs in C therefore

    - puts a handler in C for :data:`SIGNAL` in front of Python's while such a program runs, and
      calls Python's from it;
    - leaves the program from there, once it has been in C for ``patience`` seconds of the process's
      CPU time without a call to the layer;
    - and then raises ``stuck(port.number, port.given_at, "in C")``, with file and line if it knows
      them.

    Attributes
    ----------
    patience
        Seconds of CPU time.
    names
        By port, who runs there: ``node 1``. A layer whose programs have names of their own puts
        them here: ``rank 1``.
    excused
        What runs now is no program's: see :meth:`excuse`.
    """

    def __init__(self) -> None:
        self.patience = _patience(os.environ.get("NICBED_PATIENCE", PATIENCE))
        self.names: dict[int, str] = {}
        self.excused = False

    @contextmanager
    def excuse(self) -> Iterator[None]:
        """In this context a layer works for a program that it has left, such as to find the line
        where it was: that is no time of the program's."""
        self.excused = True
        try:
            yield
        finally:
            self.excused = False

    @property
    def period(self) -> float:
        """Seconds between two signals."""
        return min(self.patience, PATIENCE) / 6

    def told(self, port: int, since: int, where: str, seconds: float, *, waits: bool = False
             ) -> str:
        """A line about the program of ``port``: it has run for ``seconds`` since cycle ``since``
        and is now ``where``, such as ``in FILE:LINE``. ``waits``: it waited all that time for
        something outside the target."""
        verb = "waited for something outside the target" if waits else "computed"
        return (f"{self.names.get(port, f'port {port}')}'s program has {verb} for {seconds:.3g} s "
                f"since cycle {since}, {where}")

    def stuck(self, port: int, since: int, where: str, *, waits: bool = False) -> Stuck:
        """The error that ends the run, after :attr:`patience`; parameters as of :meth:`told`."""
        return Stuck(f"{self.told(port, since, where, self.patience, waits=waits)}; target time "
                     "stands still meanwhile (NICBED_PATIENCE=SECONDS in the environment allows "
                     "longer)")


def _patience(given: str | float) -> float:
    try:
        seconds = float(given)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < float("inf"):
        raise ValueError(f"NICBED_PATIENCE must be a number of seconds above 0, not {given!r}")
    return seconds
