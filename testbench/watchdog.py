"""Ends a run whose host program never lets target time go on."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

from ..host.runtime import Runtime, Stuck

__all__ = ["PATIENCE", "watching"]

PATIENCE = 20.0
"""CPU seconds without an operation of any host port after which a program is given up; the
environment's NICBED_PATIENCE overrides it. No cycle depends on it."""

_ROOT = Path(__file__).resolve().parent.parent
_OURS = (f"{_ROOT / 'host'}{os.sep}", f"{_ROOT / 'testbench'}{os.sep}")


@contextmanager
def watching(runtime: Runtime, mailbox: Any) -> Iterator[None]:
    """While it lasts, a program that runs on without awaiting an operation gets :class:`Stuck`.

    Time stands still while a program runs, so that no cycle limit can end it. A timer of CPU time
    looks in now and then instead: two looks at the same attention and the same cycle are enough.
    """
    seen: tuple[int, int] | None = None

    def look(_: int, frame: FrameType | None) -> None:
        nonlocal seen
        now = (runtime.wakes, mailbox.cycle())
        if now == seen and _serving(frame):
            raise Stuck(f"a program spends no target time: at cycle {now[1]} it has run for "
                        f"{patience:g} CPU seconds, now at {_place(frame)}, without awaiting an "
                        "operation of its host port")
        seen = now

    patience = float(os.environ.get("NICBED_PATIENCE", PATIENCE))
    before = signal.signal(signal.SIGVTALRM, look)
    signal.setitimer(signal.ITIMER_VIRTUAL, patience, patience)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def _serving(frame: FrameType | None) -> bool:
    """Whether the runtime serves an attention in ``frame`` or one of its callers."""
    while frame is not None:
        if frame.f_code is Runtime.attention.__code__:
            return True
        frame = frame.f_back
    return False


def _place(frame: FrameType | None) -> str:
    """File and line of the user's own code, where there is some."""
    inner = frame
    while frame is not None and frame.f_code.co_filename.startswith(_OURS):
        frame = frame.f_back
    chosen = frame or inner
    return f"{chosen.f_code.co_filename}:{chosen.f_lineno}" if chosen else "an unknown place"
