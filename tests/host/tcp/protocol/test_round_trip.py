"""The time-out of a retransmission: what Jacobson's estimator asks for, and the rules around it."""

from nicbed.host.tcp.protocol.round_trip import RoundTrip


def test_it_is_thrice_the_least_before_the_first_round_trip():
    trip = RoundTrip(10)
    assert trip.wait == 30
    trip.measured(800)
    assert trip.wait == 800 + 4 * 400


def test_round_trips_that_are_all_the_same_leave_a_cycle():
    trip = RoundTrip(10)
    for _ in range(100):
        trip.measured(800)
    trip.estimate.deviation = 0
    trip.measured(800)
    assert trip.wait == 801


def test_the_least_time_out_holds():
    trip = RoundTrip(1000)
    trip.measured(100)
    assert trip.wait == 1000
    trip.measured(400)
    assert (trip.estimate.mean / 8, trip.wait) == (137.5, 1000)


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
