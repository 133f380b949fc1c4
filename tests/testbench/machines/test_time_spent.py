"""Where a machine's time goes: parts that add up, beside those of other machines."""

import tomllib
from dataclasses import replace
from fractions import Fraction

import pytest
from nicbed.testbench.benches.common.gap_bound import BusyBlock, GapBound
from nicbed.testbench.benches.fields import plain
from nicbed.testbench.machines import studies
from nicbed.testbench.machines.measured import ROUND_TRIP
from nicbed.testbench.machines.page import markdown
from nicbed.testbench.machines.reproduction import Measured, measured
from nicbed.testbench.machines.time_spent import spent
from nicbed.testbench.why.round_trip import RoundTrip

from tests.models.signatures import logp_results
from tests.testbench.machines.test_studies import TABLE

TRIP = RoundTrip(
    total=Fraction(100), cpus=(Fraction(30), Fraction(20)),
    flights=([("uplink", Fraction(7)), ("switch", Fraction(18))], [("uplink", Fraction(25))]),
    work=({"load": (Fraction(10), Fraction(1, 2))}, {}))
SHARES = [BusyBlock("host", 0, 0.25), BusyBlock("link", 0, 1), BusyBlock("send DMA", 0, 0)]
LOGP = plain(logp_results(o_s=5, o_r=5, g=40, L=40, rtt=100, idle=30, g_visible=True, knee=40,
                          bound=GapBound("link", 1, SHARES)))


def outcomes(**machines):
    """Of each machine by its clock: a round trip, and where g goes."""
    return {(name, run): {"results": results, "clock_mhz": clock, "checks": []}
            for name, clock in machines.items()
            for run, results in ((ROUND_TRIP, TRIP.plain()), ("logp", LOGP))}


def test_parts_are_microseconds_of_the_machine():
    trip, gap = spent(outcomes(slow=10.0, fast=20.0))
    assert trip.machines == gap.machines == ("slow", "fast")
    found = dict(trip.rows)
    assert found["requester: load"] == (Fraction(1, 2), Fraction(1, 4))
    assert found["out: switch"] == (Fraction(9, 5), Fraction(9, 10))
    assert dict(gap.rows) == {"host": (1, Fraction(1, 2)), "link": (4, 2), "g": (4, 2)}


def test_the_parts_of_a_round_trip_add_up_to_its_last_row():
    trip, _ = spent(outcomes(m=8.0))
    *parts, (name, total) = trip.rows
    assert name == "a round trip" and total == (Fraction(100, 8),)
    assert sum(one for _, (one,) in parts) == total[0]


def test_a_part_of_one_machine_alone_is_a_dash_for_others():
    other = replace(TRIP, flights=([("DMA", Fraction(7)), ("switch", Fraction(18))],
                                   TRIP.flights[1]))
    both = outcomes(a=10.0, b=10.0)
    both["b", ROUND_TRIP]["results"] = other.plain()
    rows = list(spent(both)[0].cells())
    assert rows.index(("out: uplink", "0.70", "–")) < rows.index(("out: switch", "1.80", "1.80"))
    assert ("out: DMA", "–", "0.70") in rows and rows[-1] == ("a round trip", "10.00", "10.00")


def test_a_traced_table_shows_them():
    study = studies.read("mine", tomllib.loads(TABLE))
    [table] = study.tables
    found = outcomes(m=10.0)
    assert not table.traced and Measured(table, (), (), found).time == []
    traced = Measured(replace(table, traced=True), (), (), found)
    page = markdown([(study, [traced])])
    assert "| part | m |\n| --- | --- |\n| requester: load | 0.50 |" in page
    assert "| a round trip | 10.00 |" in page and "| link | 4.00 |\n| g | 4.00 |" in page
    assert set(traced.plain()["time"]) == {one.title for one in traced.time}


@pytest.mark.full
def test_a_machine_s_round_trip_is_the_one_of_its_table(tmp_path):
    """The traced parts add up to the round trip that the benchmark measures, but for what lies
    between two round trips."""
    [(_, [table])] = studies.chosen("sp2/round-trip")
    found = measured(replace(table, figures=tuple(
        one for one in table.figures if (one.machine, one.name) == ("sp2-thin", "rtt_1"))))
    [trip] = found.time
    assert float(dict(trip.rows)["a round trip"][0]) == pytest.approx(found.rows[0].ours, rel=0.01)
