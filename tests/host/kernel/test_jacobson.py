"""What round trips ask for: Jacobson's estimator, step by step."""

import random

import pytest
from nicbed.host.kernel.jacobson import Jacobson


def test_the_first_round_trip_is_the_estimate():
    """The mean is it, the deviation half of it, and the time-out both with four deviations."""
    path = Jacobson()
    assert path.measured(800) == 800 + 4 * 400
    assert (path.mean / 8, path.deviation / 4) == (800, 400)


def test_the_next_ones_move_it_by_an_eighth_and_a_quarter():
    path = Jacobson()
    path.measured(800)
    # 160 more: an eighth of it, and a quarter of what it is off the deviation
    assert path.measured(960) == 820 + 4 * 340
    assert (path.mean / 8, path.deviation / 4) == (820, 340)
    assert path.measured(500) == 780 + 4 * 335  # 320 less
    assert (path.mean / 8, path.deviation / 4) == (780, 335)


@pytest.mark.parametrize("granularity", [0, 1])
def test_it_follows_the_rule_in_real_numbers(granularity):
    rng = random.Random(5)
    path = Jacobson(granularity)
    mean = deviation = 0.0
    for place in range(200):
        cycles = rng.randrange(5_000, 20_000)
        timeout = path.measured(cycles)
        if place:
            error = cycles - mean
            mean += error / 8
            deviation += (abs(error) - deviation) / 4
        else:
            mean, deviation = cycles, cycles / 2
        assert abs(path.mean / 8 - mean) < 2 and abs(path.deviation / 4 - deviation) < 3
        assert abs(timeout - (mean + 4 * deviation)) < 12


@pytest.mark.parametrize("granularity", [0, 1, 5])
def test_round_trips_that_are_all_the_same_leave_the_granularity(granularity):
    path = Jacobson(granularity)
    for _ in range(100):
        path.measured(800)
    assert path.mean == 800 << 3 and path.deviation <= 3
    path.deviation = 0
    assert path.measured(800) == 800 + granularity


def test_what_is_forgotten_does_not_count():
    path = Jacobson()
    for cycles in (800, 960, 500):
        path.measured(cycles)
    path.forget()
    assert path.measured(100) == 100 + 4 * 50
