"""Kernel-trap design point: when something is late."""

from ..port import Port
from .trap_ends import FAR, End

__all__ = ["Timers"]


class Timers:
    """The deadlines of connections. ``due``: the next cycle in which something is late; FAR if
    nothing can be."""

    def __init__(self, port: Port) -> None:
        self.due = FAR
        self._port = port

    def watch(self, end: End) -> None:
        """Start the timer anew; stop it if nothing is open. An RDMA read is, until its data have
        come: its peer may have gone when it had taken the request."""
        if not end.slots and end.reading is None:
            end.deadline = FAR
            return
        end.deadline = self._port.cycle + end.trip.wait
        if end.deadline < self.due:
            self.due = end.deadline
