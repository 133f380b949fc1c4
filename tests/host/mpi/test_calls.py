"""What a message of MPI costs in Python: calls of the host's functions, and wake-ups."""

import pytest

from tests.models.calls import of_a_message
from tests.programs.mpi import describe

CYCLES = {"via": 30_000, "gm": 200_000}


@pytest.mark.parametrize("channel, name, calls, wakes", [
    ("via", "ping-pong", 217, 5.1), ("via", "stream", 254, 6.1),
    ("gm", "ping-pong", 205, 3.1), ("gm", "stream", 246, 4.6)])
def test_calls_of_a_message(channel: str, name: str, calls: float, wakes: float) -> None:
    """At most so many: one more coroutine around a wait is three or more."""
    found = of_a_message(describe(channel), "mpi", name, CYCLES[channel])
    assert 0.95 * calls < found[0] <= calls
    assert 0.95 * wakes < found[1] <= wakes
