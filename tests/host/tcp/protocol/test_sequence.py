"""Sequence numbers on their circle."""

import pytest
from nicbed.host.tcp.protocol.sequence import HALF, MASK, after, distance, plus

STARTS = [0, 1, 5, HALF - 1, HALF, HALF + 1, MASK - 1, MASK]


@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize("far", [0, 1, 2, 1000, HALF - 1])
def test_ahead_and_behind(start, far):
    """Within half of the circle there is an order, wherever it begins."""
    other = plus(start, far)
    assert 0 <= other <= MASK and plus(other, -far) == start
    assert distance(start, other) == far and distance(other, start) == -far
    assert after(other, start) == (far > 0) and not after(start, other)


@pytest.mark.parametrize("start", STARTS)
def test_the_other_side_of_the_circle_is_behind(start):
    other = plus(start, HALF)
    assert distance(start, other) == -HALF
    assert not after(other, start)
