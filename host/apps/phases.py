"""Phases of a program, each computation or communication, marked in the trace."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from ...layouts.trace import BEGIN, END, Activity
from ..port.port import Port

__all__ = ["Phase", "Phases", "communication", "computation"]



class Phase(NamedTuple):
    """A phase: its name, and whether it is COMPUTE or COMMUNICATE."""

    name: str
    activity: Activity


def computation(name: str) -> Phase:
    """A phase of computation."""
    return Phase(name, Activity.COMPUTE)


def communication(name: str) -> Phase:
    """A phase of communication."""
    return Phase(name, Activity.COMMUNICATE)


class Phases:
    """The phases ``which`` of the program on ``port``. A phase may come several times; phases do
    not nest. ``begins`` is told the name of each one that begins."""

    def __init__(self, port: Port, which: Sequence[Phase],
                 begins: Callable[[str], None] = lambda name: None) -> None:
        self._port = port
        self._begins = begins
        self._number = {phase.name: (int(phase.activity), number)
                        for number, phase in enumerate(which)}

    @contextmanager
    def __call__(self, name: str) -> Iterator[None]:
        """Mark the time in this context as phase ``name``. It takes no time."""
        activity, number = self._number[name]
        self._begins(name)
        self._port.mark(activity, BEGIN, number)
        yield
        self._port.mark(activity, END, number)
