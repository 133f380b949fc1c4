"""What a message on a VI costs in Python: calls of the host's functions, and wake-ups."""

import pytest

from tests.models.calls import of_a_message
from tests.programs.am import describe

ENGINE = {"via.design": "engine", "via.spin": 1 << 24}


@pytest.mark.parametrize("name, calls, wakes", [("ping-pong", 62, 2.1), ("stream", 62, 2.1)])
def test_calls_of_a_message(name: str, calls: float, wakes: float) -> None:
    """At most so many: one more coroutine around a wait is two or more."""
    found = of_a_message(describe(ENGINE), "via", name, 20_000)
    assert 0.95 * calls < found[0] <= calls
    assert 0.95 * wakes < found[1] <= wakes
