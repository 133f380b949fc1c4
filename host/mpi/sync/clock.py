"""The CPU time that a rank's program takes between its calls."""

import time

__all__ = ["Clock"]


class Clock:
    """Counts the thread's CPU time while the program of a rank runs. It stands when it is made."""

    def __init__(self) -> None:
        self._stops = 1
        self._since = 0
        self._taken = 0

    def stop(self) -> None:
        """The program calls. Stops nest."""
        if not self._stops:
            self._taken += time.thread_time_ns() - self._since
        self._stops += 1

    def go_on(self) -> None:
        """The call has ended."""
        self._stops -= 1
        if not self._stops:
            self._since = time.thread_time_ns()

    def take(self) -> int:
        """Nanoseconds that the program has taken since this was asked for last."""
        taken, self._taken = self._taken, 0
        return taken
