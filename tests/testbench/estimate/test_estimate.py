"""The estimators recover the parameters of a machine that has known ones."""

from fractions import Fraction

import pytest
from nicbed.layouts.trace import TICKS, Activity, Block, Event, Kind
from nicbed.rtl.nic.design import DESIGN
from nicbed.testbench.estimate.bulk import bandwidth, gap_per_byte, prtt_gap, prtt_send
from nicbed.testbench.estimate.fits import fit
from nicbed.testbench.estimate.logp import (
    Curve,
    estimate,
    gap,
    lots,
    receive_overheads,
    regimes,
)
from nicbed.testbench.truth.budget import put_off
from nicbed.testbench.truth.exchange import exchanges, mean_legs
from nicbed.testbench.truth.spans import Span, spans
from nicbed.testbench.truth.steady import departures, mean_own, true_gap

from tests.models.logp_machine import Machine


def curve(machine: Machine, delay: int = 0, count: int = 512) -> Curve:
    issued, handled = machine.run(count, delay)
    return Curve(delay * TICKS, tuple(issued), tuple(handled))


def measured(machine: Machine, count: int = 512):
    rtt = machine.round_trip()
    delays = [0, rtt // 16, rtt // 8, rtt // 4, rtt // 2, rtt, rtt * 3 // 2, rtt * 2]
    return estimate([curve(machine, delay, count) for delay in delays], Fraction(rtt * TICKS))


def test_fit_is_exact():
    line = fit([1, 2, 3, 4], [5, 8, 11, 14])
    assert (line.slope, line.intercept, line.residual) == (3, 2, 0)
    assert fit([0, 1, 2], [0, 1, 0]).residual == Fraction(2, 3)
    with pytest.raises(ValueError, match="two different points"):
        fit([1, 1], [2, 3])


@pytest.mark.parametrize("machine", [
    Machine(), Machine(service=90), Machine(handle=120), Machine(send=3, finish=5),
    Machine(flight=2000), Machine(window=8), Machine(period=7), Machine(poll=0),
    Machine(flight=2000, service=500, room=32), Machine(flight=2000, room=20, keep=10)])
def test_parameters_are_recovered(machine):
    found = measured(machine)
    assert found.o_s == (machine.send + machine.poll) * TICKS
    assert abs(found.o_r - machine.finish * TICKS) <= TICKS / 8
    assert found.spread <= TICKS / 8


@pytest.mark.parametrize(("machine", "expected"), [
    (Machine(service=90), 90),                 # the link
    (Machine(handle=120), 132),                # the receiver: its o_r and o_s
    (Machine(send=30, finish=25), 59),         # the sender itself
    (Machine(flight=2000, window=8), None),    # the window: RTT / W
])
def test_gap_and_what_bounds_it(machine, expected):
    found = measured(machine)
    if expected is None:
        expected = Fraction(machine.round_trip(), machine.window)
    assert abs(found.g / TICKS - expected) <= expected * Fraction(3, 100)
    assert found.g * Fraction(101, 100) >= found.o_s + found.o_r
    assert found.visible == (expected > machine.send + machine.finish + machine.poll)


def test_gap_is_the_slope_not_the_average():
    base = curve(Machine(service=90))
    assert abs(gap(base).slope / TICKS - 90) < 1
    assert base.cost(512) / TICKS < 80  # the last average is far below


def test_regimes():
    machine = Machine(service=60)
    where = regimes(curve(machine))
    rtt = machine.round_trip()
    assert abs(where.send_only - rtt // (machine.send + machine.poll)) <= 2
    assert machine.window <= where.steady <= 3 * machine.window
    assert regimes(curve(machine, count=40)).steady == 0 or where.steady > 0
    assert regimes(curve(Machine(), count=8)).steady == 0


def test_latency_bias_is_what_was_named():
    machine = Machine(period=5)
    found = measured(machine)
    machine.round_trip()
    legs = mean_legs(exchanges(spans(machine.marks), machine.events, DESIGN))
    assert legs.total == found.rtt
    flight = (legs.flight_out + legs.flight_back) / 2
    waiting = (legs.seen_out + legs.seen_back) / 2
    sends = (legs.o_s_reply - legs.o_s_request) / 2
    handles = (legs.o_r_request - legs.o_r_reply) / 2
    assert flight == machine.flight * TICKS
    checks = machine.poll * TICKS  # in o_s, but off the round trip's path
    assert abs(found.L - flight - waiting - sends - handles + checks) <= TICKS / 8


def test_truth_of_the_steady_state():
    machine = Machine(service=90)
    machine.run(512, 0)
    found = spans(machine.marks)
    requests = [span.number for span in found if span.activity == Activity.REQUEST_SEND]
    assert true_gap(departures(machine.events, 0, requests)) == 90 * TICKS
    assert mean_own(found, Activity.REQUEST_SEND, 0) == machine.send * TICKS
    assert mean_own(found, Activity.REQUEST_HANDLE, 1) == machine.handle * TICKS


def test_postponed_packets_are_told_from_repeated_ones():
    """Packet 1 goes in its call; 2 as well, and once more; 3 later; 4 never."""
    found = [Span(0, 0, activity, number, begin * TICKS, (begin + 5) * TICKS)
             for activity, number, begin in (
                 (Activity.REQUEST_SEND, 1, 0), (Activity.REQUEST_SEND, 2, 10),
                 (Activity.REQUEST_SEND, 3, 20), (Activity.REQUEST_SEND, 4, 30),
                 (Activity.CONTROL, 0, 40), (Activity.CONTROL, 3, 50), (Activity.CONTROL, 2, 60))]
    events = [Event(cycle, 0, Block.SEND_LINK, Kind.BEGIN, number, 0)
              for number, cycle in ((2, 62), (1, 3), (2, 13), (3, 52), (0, 41))]
    assert put_off(found, events, 0) == {3}
    assert put_off(found, events, 1) == set()


def test_a_run_is_the_beginning_of_a_longer_one():
    machine = Machine(service=60)
    whole = curve(machine)
    for count in (1, 5, 75, 100):
        assert curve(machine, count=count).issued == whole.issued[:count]


def test_estimate_needs_the_right_curves():
    machine = Machine()
    with pytest.raises(ValueError, match="D = 0"):
        estimate([curve(machine, 5)], Fraction(1))
    with pytest.raises(ValueError, match="beyond the round trip"):
        estimate([curve(machine)], Fraction(1000 * TICKS))


def test_bandwidth_of_a_straight_line():
    sizes = [2**k for k in range(2, 21)]
    found = bandwidth(sizes, [Fraction(300) + Fraction(n, 2) for n in sizes])
    assert (found.r_inf, found.T0, found.residual) == (2, 300, 0)
    assert found.n_half == 600  # half the rate where n / 2 equals T0
    assert gap_per_byte([64, 128, 256], [Fraction(50), Fraction(82), Fraction(146)]).slope == \
        Fraction(1, 2)


def test_prtt():
    # n messages with delay d: (n - 1) (o_s + d) more than one message.
    assert prtt_send(Fraction(1000 + 9 * 520), Fraction(1000), 10, 500) == 20
    assert prtt_gap(Fraction(1000 + 9 * 35), Fraction(1000), 10) == 35


def test_replies_that_are_handled_in_lots() -> None:
    """Every tenth issue handles ten, for 30 each: that is o_r, wherever the run ends."""
    for count in (64, 69, 73):
        issued, handled, time = [], [], 0
        for index in range(count):
            time += 100 + 1000 + (300 if index % 10 == 9 else 0)
            issued.append(time)
            handled.append((index + 1) // 10 * 10)
        assert receive_overheads([Curve(1000, tuple(issued), tuple(handled))], Fraction(100),
                                 Fraction(1)) == [(1000, 30)]
    assert lots(range(64)) is None and lots([0] * 64) is None
