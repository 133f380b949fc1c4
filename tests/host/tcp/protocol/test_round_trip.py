"""The time-out of a retransmission: Jacobson's estimator, step by step."""

import random

from nicbed.host.tcp.protocol.round_trip import RoundTrip


def test_the_first_round_trip_is_the_estimate():
    """Smoothed is it, the deviation half of it, and the time-out both with four deviations."""
    trip = RoundTrip(10)
    assert (trip.smoothed, trip.deviation, trip.wait) == (0, 0, 30)
    trip.measured(800)
    assert (trip.smoothed / 8, trip.deviation / 4, trip.wait) == (800, 400, 800 + 4 * 400)


def test_the_next_ones_move_it_by_an_eighth_and_a_quarter():
    trip = RoundTrip(10)
    trip.measured(800)
    trip.measured(960)  # 160 more: an eighth of it, and a quarter of what it is off the deviation
    assert (trip.smoothed / 8, trip.deviation / 4, trip.wait) == (820, 340, 820 + 4 * 340)
    trip.measured(500)  # 320 less
    assert (trip.smoothed / 8, trip.deviation / 4, trip.wait) == (780, 335, 780 + 4 * 335)


def test_it_follows_the_rule_in_real_numbers():
    rng = random.Random(5)
    trip = RoundTrip(1)
    smoothed = deviation = 0.0
    for place in range(200):
        cycles = rng.randrange(5_000, 20_000)
        trip.measured(cycles)
        if place:
            error = cycles - smoothed
            smoothed += error / 8
            deviation += (abs(error) - deviation) / 4
        else:
            smoothed, deviation = cycles, cycles / 2
        assert abs(trip.smoothed / 8 - smoothed) < 2 and abs(trip.deviation / 4 - deviation) < 3
        assert abs(trip.wait - (smoothed + 4 * deviation)) < 12


def test_round_trips_that_are_all_the_same_leave_a_cycle():
    trip = RoundTrip(10)
    for _ in range(100):
        trip.measured(800)
    assert trip.smoothed == 800 << 3 and trip.deviation <= 3
    trip.deviation = 0
    trip.measured(800)
    assert trip.wait == 801


def test_the_least_time_out_holds():
    trip = RoundTrip(1000)
    trip.measured(100)
    assert trip.wait == 1000
    trip.measured(400)
    assert (trip.smoothed / 8, trip.wait) == (137.5, 1000)


def test_a_time_out_doubles_up_to_its_bound():
    trip = RoundTrip(10)
    trip.measured(2)
    waits = []
    for _ in range(9):
        trip.late()
        waits.append(trip.wait)
    assert waits == [20, 40, 80, 160, 320, 640, 640, 640, 640]
    trip.measured(2000)
    longer = trip.wait
    assert longer > 640
    trip.late()
    assert trip.wait == longer
