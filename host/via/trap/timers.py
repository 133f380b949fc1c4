"""Kernel-trap design point: when something is late."""

from ...port.port import Port
from .ends import FAR, End

__all__ = ["Timers"]


class Timers:
    """The deadlines of connections. ``due``: no deadline of ``ends`` is before this cycle; FAR if
    there is none."""

    def __init__(self, port: Port, ends: dict[int, End]) -> None:
        self.due = FAR
        self._port = port
        self._ends = ends

    def late(self) -> bool:
        """Whether a deadline has passed. Those that acknowledgements have put off cost nothing."""
        cycle = self._port.cycle
        if cycle < self.due:
            return False
        self.look()
        return cycle >= self.due

    def look(self) -> None:
        """Note the first deadline."""
        self.due = min((end.deadline for end in self._ends.values()), default=FAR)

    def watch(self, end: End) -> None:
        """Start the timer anew; stop it if nothing is open. An RDMA read is, until its data have
        come: its peer may have gone when it had taken the request."""
        if not end.slots and end.reading is None:
            end.deadline = FAR
            return
        end.deadline = self._port.cycle + end.trip.wait
        if end.deadline < self.due:
            self.due = end.deadline
