"""What a message of MPI costs in Python: calls of the host's functions, and wake-ups."""

from typing import Any

import pytest

from tests.models.calls import of_a_kilobyte, of_a_message
from tests.programs.mpi import describe, one_way, ranks

CYCLES = {"via": 30_000, "gm": 200_000}


@pytest.mark.parametrize("channel, name, calls, wakes", [
    ("via", "ping-pong", 202, 5.1), ("via", "stream", 225, 6.1),
    ("gm", "ping-pong", 191, 3.1), ("gm", "stream", 226, 3.7)])
def test_calls_of_a_message(channel: str, name: str, calls: float, wakes: float) -> None:
    """At most so many: one more coroutine around a wait is three or more."""
    found = of_a_message(describe(channel), "mpi", name, CYCLES[channel])
    assert 0.95 * calls < found[0] <= calls
    assert 0.95 * wakes < found[1] <= wakes


BOUNCE = {"mpi__rendezvous": "bounce"}


@pytest.mark.parametrize("channel, knobs, large, calls, wakes", [
    ("via", {}, 256, 0.1, 0.01), ("via", {"mpi__rendezvous": "read"}, 256, 0.1, 0.01),
    ("via", BOUNCE, 32, 47, 1.2), ("shm", {}, 32, 27.1, 1.1),
    ("tcp", {"nic__mtu": 1500}, 32, 204, 5),
    pytest.param("via in the kernel", {}, 32, 184, 6.5, marks=pytest.mark.full),
    pytest.param("gm", {}, 256, 0.1, 0.01, marks=pytest.mark.full),
    pytest.param("gm", BOUNCE, 32, 30, 0.6, marks=pytest.mark.full)])
def test_calls_of_a_kilobyte(channel: str, knobs: dict[str, Any], large: int, calls: float,
                             wakes: float) -> None:
    """At most so many for each KB by which messages are longer than 16. What the NIC writes or
    reads takes none: whole pages are copied at once. Where the CPU has each packet, they are those
    of the packets."""
    found = of_a_kilobyte(describe(channel, **knobs, memory__bytes=1 << 22),
                          lambda size, count: ranks(one_way(size, count), channel=channel),
                          16 << 10, large << 10)
    assert found[0] <= calls and found[1] <= wakes
