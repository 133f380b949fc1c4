"""A job: a function, the description that it runs on, and the options of the run."""

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path
from typing import Any

from ...layouts.board import BAUD
from ...layouts.description import Description
from ..simulators.simulator import Simulator

__all__ = ["Job"]


@dataclass(frozen=True)
class Job:
    """A run of ``async def f(lab, **arguments)`` on ``description``.

    Attributes
    ----------
    sim
        One of ``backends.SIMS``.
    function
        "module:name" or "FILE.py:name". Arguments and result are pickled.
    limit
        Cycles after which a run without a limit of its own is stopped (default ``lab.LIMIT``).
    wave
        Record a waveform into this file (this builds a separate simulator).
    timeline
        Write the time line of all runs into this file (:mod:`nicbed.testbench.timeline`), also of
        those before a run that fails, and of that one. Simulators only.
    port, baud
        Serial port of the board, for ``sim`` = "board".
    target
        The target's class, "module:name".
    built
        The simulator of ``description``, if it is known; otherwise it is built, or looked up by the
        hash of all sources.
    modules
        Modules of nicbed that the function imports. A kept simulator imports them once.
    reads
        Whether the function reads this process's standard input: it finds it as its own. Else its
        own is empty.
    """

    description: Description
    sim: str = "verilator"
    _: KW_ONLY
    function: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    limit: int | None = None
    wave: Path | None = None
    timeline: Path | None = None
    port: str | None = None
    baud: int = BAUD
    target: str = "nicbed.rtl.target:Target"
    built: Simulator | None = None
    modules: Sequence[str] = ()
    reads: bool = False
