"""LogGP's prediction of patterns of messages, against its closed forms."""

from fractions import Fraction

import pytest
from nicbed.testbench.benches.mpi.patterns import pattern
from nicbed.testbench.estimate.loggp import LogGP, Step, ends

ONE = LogGP(*map(Fraction, (30, 50, 100, 400, 2, Fraction(1, 2))), least=8, eager=1000)
SHORT = 30 + 400 + 50


@pytest.mark.parametrize("call, ranks, messages", [
    ("barrier", 2, 1), ("barrier", 5, 3), ("barrier", 8, 3), ("bcast", 2, 1),
    ("allreduce", 4, 2), ("alltoall", 4, 3), ("alltoall", 5, 4)])
def test_messages_in_a_row(call, ranks, messages):
    """Where every step waits for a message, the steps add up."""
    assert max(ends(pattern(call, ranks), ONE, 8)) == messages * SHORT
    assert max(ends(pattern(call, ranks), ONE, 108)) == messages * (SHORT + 200)


def test_a_tree_is_as_late_as_its_latest_way():
    # Rank 0 sends to 4, 2 and 1, a gap apart.
    found = ends(pattern("bcast", 8), ONE, 8)
    assert found[4] == SHORT + 100 + 30  # receives, and sends to 6 and 5
    assert found[1] == 2 * 100 + SHORT
    assert found[7] == max(SHORT + 2 * SHORT, 100 + 2 * SHORT)
    assert found[0] == 2 * 100 + 30


def test_an_early_message_waits_for_its_receiver():
    # Ranks 4 and 5 begin with each other, while 1 and 3 wait for 0 and 2: what 4 sends to 1 is
    # there before 1 asks for it.
    found = ends(pattern("allreduce", 6), ONE, 8)
    assert found[1] == 2 * SHORT + 100 + 30  # a gap behind what it sends to 4
    assert found[0] == 2 * SHORT + 100 + SHORT
    assert found[4] == 3 * SHORT


def test_the_gap_of_bytes():
    steps = [[Step(to=1), Step(to=1)], [Step(source=0), Step(source=0)]]
    assert ends(steps, ONE, 8)[1] == 100 + SHORT
    assert ends(steps, ONE, 508)[1] == 1000 + SHORT + 1000  # 500 bytes more at 2 cycles


def test_long_messages_are_asked_for():
    long = 2 * SHORT + SHORT + 1000
    [sender, receiver] = ends([[Step(to=1)], [Step(source=0)]], ONE, 2008)
    assert receiver == long
    assert sender == 2 * SHORT + 30 + 1000


def test_nobody_sends():
    with pytest.raises(ValueError, match="nobody sends: 0"):
        ends([[Step(source=1)], []], ONE, 8)
