"""The difference of two sides in parts, from observations."""

import dataclasses
import json
from fractions import Fraction

import pytest
from nicbed.layouts.trace import Block, Event, Kind
from nicbed.testbench.results import plots
from nicbed.testbench.results.tables import console
from nicbed.testbench.why.difference import difference, parting
from nicbed.testbench.why.observation import Observation
from nicbed.testbench.why.report import draw, lines
from nicbed.testbench.why.round_trip import OPERATIONS, split

EVENTS = [Event(cycle, 0, Block.BUS, Kind.BEGIN, cycle, 0) for cycle in (5, 9, 12)]
A = Observation(
    figures={"o_s": 20.0, "g": 50.0}, total=Fraction(100), cpus=(Fraction(30), Fraction(20)),
    flights=([("uplink", Fraction(7)), ("switch", Fraction(18))], [("uplink", Fraction(25))]),
    work=({"load": (Fraction(10), Fraction(1, 3))}, {"store": (Fraction(4), Fraction(2))}),
    blocks={"host, node 0": 1.0, "link, node 0": 0.5}, bound="host", events=EVENTS,
    clock_mhz=Fraction(66))
B = dataclasses.replace(
    A, figures={"o_s": 21.0, "g": 60.0}, total=Fraction(118),
    cpus=(Fraction(31), Fraction(20)), bound="link",
    flights=([("DMA", Fraction(17)), ("uplink", Fraction(7)), ("switch", Fraction(18))],
             [("uplink", Fraction(25))]),
    work=({"load": (Fraction(13), Fraction(1, 3))}, A.work[1]),
    blocks={"host, node 0": 0.9, "link, node 0": 1.0})


def test_the_parts_add_up_exactly() -> None:
    assert sum(cycles for _, cycles in split(A)) == A.total
    assert dict(split(A))[f"requester: {OPERATIONS}"] == 30 - Fraction(10, 3)
    found = difference(A, B)
    assert all(one["ok"] for one in found["checks"])
    assert sum(b - a for _, a, b in found["parts"]) == pytest.approx(18)


def test_parts_that_do_not_add_up_fail_the_check() -> None:
    found = difference(A, dataclasses.replace(B, total=Fraction(119)))
    assert [one["ok"] for one in found["checks"]] == [True, False]
    assert "118 of 119 cycles" in found["checks"][1]["detail"]


def test_parts_stand_in_the_order_of_the_way() -> None:
    names = [name for name, *_ in difference(A, B)["parts"]]
    assert names == ["requester: load", f"requester: {OPERATIONS}", "out: DMA", "out: uplink",
                     "out: switch", "echo: store", f"echo: {OPERATIONS}", "back: uplink"]
    rows = {name: (a, b) for name, a, b in difference(A, B)["parts"]}
    assert rows["out: DMA"] == (0, 17)
    assert rows["requester: load"] == (pytest.approx(10 / 3, abs=1e-6),
                                       pytest.approx(13 / 3, abs=1e-6))


def test_a_block_is_busy_for_its_share_of_g() -> None:
    assert difference(A, B)["blocks"] == [["host, node 0", 50, 54], ["link, node 0", 25, 60]]
    assert difference(A, B)["bound"] == ["host", "link"]


def test_the_busier_bus_is_one_row_whichever_nodes_it_is(
        capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """With the mark of the bound."""
    one = dataclasses.replace(A, blocks={"host, node 0": 1.0, "bus, node 1": 0.5}, bound="host")
    other = dataclasses.replace(A, blocks={"host, node 0": 0.5, "bus, node 0": 1.0,
                                           "memory, node 1": 0.5}, bound="bus")
    assert difference(one, other)["blocks"] == [
        ["host, node 0", 50, 25], ["bus, node 1 in A, node 0 in B", 25, 50],
        ["memory, node 1", None, 25]]
    assert difference(one, one)["blocks"][1] == ["bus, node 1", 25, 25]
    document = {"results": difference(one, other), "clock_mhz": [66, 66], "sides": ["a", "b"],
                "layer": "am", "checks": []}
    monkeypatch.delenv("COLUMNS", raising=False)
    out = console()
    for item in lines(document):
        out.print(item)
    assert "→ bus, node 1 in A, node 0 in B (bounds g of B)" in capsys.readouterr().out


def test_work_is_counted_by_item() -> None:
    assert difference(A, B)["work"] == [[["load", 10, 13]], [["store", 4, 4]]]


def test_runs_part_at_their_first_different_event() -> None:
    later = [EVENTS[0], EVENTS[1]._replace(cycle=10), EVENTS[2]]
    assert parting(EVENTS, EVENTS) is None
    assert parting(EVENTS, later) == {"place": 1, "events": [
        "cycle 9: node 0, BUS BEGIN, message 9", "cycle 10: node 0, BUS BEGIN, message 9"]}
    assert parting(EVENTS, EVENTS[:2]) == {"place": 2, "events": [
        "cycle 12: node 0, BUS BEGIN, message 12", "no further event"]}


def test_an_observation_survives_json() -> None:
    assert Observation.of(json.loads(json.dumps(B.plain()))) == B


def test_tables_and_plot(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
                         ) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    found = difference(A, B)
    document = {"checks": found.pop("checks"), "results": found, "clock_mhz": [66, 66],
                "layer": "am", "sides": ["one", "two"]}
    out = console()
    for item in lines(document):
        out.print(item)
    text = capsys.readouterr().out
    for told in ("A: one; B: two", "+17", "g is bound by the host in A and by the link in B",
                 "the runs of the round trips are the same", "checks: all 2 hold"):
        assert told in text
    assert plots.render(draw, document)[".png"].startswith(b"\x89PNG")
