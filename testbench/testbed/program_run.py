"""A run of a host program: results, and events, marks and counters as frames."""

import warnings
from functools import cached_property
from pathlib import Path
from typing import Any

from ...layouts.description import Description
from ..errors import UserError
from ..lab import Run
from .frames import counter_frame, event_frame, mark_frame

__all__ = ["ProgramRun"]


class ProgramRun:
    """The result of :meth:`.bed.Testbed.run`.

    Attributes
    ----------
    description
        The description on which the program ran.
    run
        The run itself, with events and marks as they are recorded (:class:`~nicbed.testbench.lab.
        Run`).
    """

    def __init__(self, description: Description, run: Run) -> None:
        self.description = description
        self.run = run

    @property
    def cycles(self) -> int:
        """Target cycles from reset to the end of the last program."""
        return self.run.cycles

    @property
    def microseconds(self) -> float:
        """The same in microseconds of the target's clock."""
        return float(self.run.cycles / self.description.nic.clock_mhz)

    @property
    def results(self) -> list[Any]:
        """Return value of each node's program; a list for a node with a program a CPU."""
        return self.run.results

    @cached_property
    def events(self) -> Any:
        """The target's events as a frame (:func:`.frames.event_frame`); empty unless traced."""
        return event_frame(self.run.events)

    @cached_property
    def marks(self) -> Any:
        """The programs' marks as a frame (:func:`.frames.mark_frame`)."""
        return mark_frame(self.run.marks)

    @cached_property
    def counters(self) -> Any:
        """Cost items of each CPU as a frame (:func:`.frames.counter_frame`)."""
        return counter_frame(self.run.counters, self.description.node.cpus)

    def timeline(self, path: str | Path) -> None:
        """Write the run's time line into ``path``, for ui.perfetto.dev.

        Raises
        ------
        UserError
            The file cannot be written.
        """
        from ..timeline import Timeline

        path = Path(path)
        try:
            drawn = Timeline(path)
        except OSError as error:
            raise UserError(f"{path}: cannot be written: {error.strerror}", status=1) from None
        drawn.add(self.description, self.run.cycles, self.run.events, self.run.marks)
        for line in drawn.close():
            warnings.warn(line, stacklevel=2)

    def __repr__(self) -> str:
        return (f"<run of {self.cycles} cycles on {self.description.fabric.nodes} nodes: "
                f"{len(self.run.events)} events, {len(self.run.marks)} marks>")
