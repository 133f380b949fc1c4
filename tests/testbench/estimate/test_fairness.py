"""Shares of what several wanted at once, and what stages that are shared predict."""

from fractions import Fraction

import pytest
from nicbed.layouts.topologies.chain import chain
from nicbed.layouts.trace import TICKS, Activity, Block, Event, Kind
from nicbed.rtl.nic.design import DESIGN
from nicbed.testbench.estimate.fairness import fairness, progress
from nicbed.testbench.truth.service import (
    Service,
    from_many,
    plain_services,
    service_times,
    to_many,
)
from nicbed.testbench.truth.spans import Span


def test_progress_is_interpolated():
    times = [100, 200, 400]
    assert [progress(times, Fraction(at), 50) for at in (0, 50, 75, 100, 150, 300, 400, 999)] == [
        0, 0, Fraction(1, 2), 1, Fraction(3, 2), Fraction(5, 2), 3, 3]


def test_equal_shares():
    found = fairness({1: 0, 2: 50}, {1: range(100, 10_000, 100), 2: range(150, 10_050, 100)})
    assert found.shares == {1: 1, 2: 1} and found.jain == 1 and not found.starves
    assert found.gap == 100


def test_one_that_waits_for_the_other_starves():
    first, second = list(range(100, 10_100, 100)), list(range(10_200, 20_200, 100))
    found = fairness({1: 0, 2: 0}, {1: first, 2: second})
    assert found.starves and found.least < Fraction(1, 50) and found.most > Fraction(19, 10)
    assert found.jain == pytest.approx(0.5, abs=0.02)
    assert found.gap == pytest.approx(200, rel=0.02)


def test_one_that_begins_after_the_other_has_ended():
    found = fairness({1: 0, 2: 20_000}, {1: [100, 200, 300], 2: [20_100, 20_200, 20_300]})
    assert found.starves


@pytest.mark.parametrize("share, starves", [(0.91, False), (0.85, True)])
def test_starving_is_below_nine_tenths_of_a_fair_share(share, starves):
    slow = 1000 / share
    got = fairness({1: 0, 2: 0}, {1: [int(slow * n) for n in range(1, 200)],
                                  2: [int(1000 / (2 - share) * n) for n in range(1, 200)]})
    assert got.starves == starves


def events(*found):
    return [Event(cycle, node, block, kind, number, arg)
            for block, node, number, begin, end, arg in found
            for cycle, kind in ((begin, Kind.BEGIN), (end, Kind.END))]


def test_services_of_a_run():
    """Two messages in 100 cycles, node 1 to node 0."""
    spans = [Span(0, 0, Activity.REQUEST_HANDLE, n, TICKS * at, TICKS * (at + 20))
             for n, at in ((1, 10), (2, 60))]
    found = {(one.stage, one.node, one.port): one.time / TICKS for one in service_times(
        events((Block.SEND_LINK, 1, 1, 0, 6, 0), (Block.SEND_LINK, 1, 2, 50, 56, 0),
               (Block.SWITCH, 0, 1, 5, 9, 3), (Block.SWITCH, 0, 2, 55, 59, 3),
               (Block.RECEIVE_DMA, 0, 1, 8, 38, 0), (Block.RECEIVE_DMA, 0, 2, 88, 130, 0),
               (Block.RECEIVE_DMA, 2, 7, 0, 100, 0)),
        spans, 0, 100 * TICKS, Fraction(2), (1, 0), DESIGN)}
    assert found == {("CPU", 0, None): 20, ("CPU", 1, None): 0, ("uplink", 1, None): 6,
                     ("switch port", 0, (0, 3)): 4, ("receive DMA", 0, None): 21}


def service(stage, node, time, port=None):
    return Service(stage, node, Fraction(time), port)


def test_the_stage_that_all_share_sets_the_pace():
    fabric = chain(4, 1, 16)
    found = [service("CPU", 1, 90), service("CPU", 0, 40), service("bus", 0, 60),
             service("switch port", 0, 70, (0, fabric.places[0][1])),
             service("switch port", 0, 80, (0, fabric.places[1][1]))]
    made = [from_many(found, Fraction(100), 0, range(1, count + 1), fabric) for count in (1, 2, 3)]
    assert [one.gap for one in made] == [100, 140, 210]
    assert [one.stage for one in made] == ["its own", "switch port", "switch port"]
    made = from_many(found[:3], Fraction(100), 0, range(1, 4), fabric)
    assert (made.gap, made.stage) == (180, "receiver's bus")


def test_a_trunk_is_shared_by_those_behind_it():
    fabric = chain(4, 2, 8)  # two nodes on each switch
    found = [service("switch port", 0, 50, fabric.trunks[0][1])]
    made = [from_many(found, Fraction(60), 0, range(1, count + 1), fabric).gap for count in (1, 3)]
    assert made == [60, 100]


def test_a_sender_to_many_has_its_own_stages():
    found = [service("CPU", 0, 70), service("CPU", 1, 100), service("bus", 0, 30)]
    assert [to_many(found, Fraction(100), 0, count).gap for count in (1, 2, 3)] == [100, 70, 70]
    assert to_many(found, Fraction(100), 0, 2).stage == "sender's CPU"
    assert [one["stage"] for one in plain_services(found)] == ["CPU", "CPU", "bus"]
