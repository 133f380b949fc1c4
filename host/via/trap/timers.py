"""Kernel-trap design point: deadlines of connections."""

from ...kernel.timers import FAR
from ...port.port import Port
from .ends import End

__all__ = ["Timers"]


class Timers:
    """The deadlines of connections. ``due``: no deadline of ``ends`` is before this cycle; FAR if
    there is none."""

    def __init__(self, port: Port, ends: dict[int, End]) -> None:
        self.due = FAR
        self._port = port
        self._ends = ends

    def late(self) -> bool:
        """Tells whether a deadline has passed. Deadlines moved by acknowledgements cost nothing."""
        cycle = self._port.cycle
        if cycle < self.due:
            return False
        self.look()
        return cycle >= self.due

    def look(self) -> None:
        """Find the first deadline."""
        self.due = min((end.deadline for end in self._ends.values()), default=FAR)

    def watch(self, end: End) -> None:
        """Restart the timer, or stop it if nothing is open. An RDMA read is open until its data has
        arrived, because its peer may die after it has taken the request."""
        if not end.slots and end.reading is None:
            end.deadline = FAR
            return
        end.deadline = self._port.cycle + end.trip.wait
        if end.deadline < self.due:
            self.due = end.deadline
