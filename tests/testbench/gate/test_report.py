"""The reports of what moved, word by word."""

from xml.etree import ElementTree

import pytest
from nicbed.testbench.gate.checking import Finding, Row
from nicbed.testbench.gate.report import junit, lines, markdown, said, summary, text
from nicbed.testbench.results.tables import console

SAME = Row("logp", "o_s", 20.5, 20.5)
MORE = Row("logp", "g", 50, 60)
LESS = Row("rtt", "RTT|1", 200.0, 199.999999)
NEW = Row("rtt", "L", None, 7)
GONE = Row("rtt", "o_r", 5, "none")
ZERO = Row("rtt", "lost", 0, 3)

WHOLE = Finding("near", (MORE, LESS, NEW, GONE, ZERO, SAME), (100, 101.5),
                parts=(("out: uplink", 7, 6), ("out: receive DMA", 18, 20.5)),
                blocks=(("link, node 0", 25, 26),), bound=("host", "link"),
                knobs=(("link.latency", 4, None), ("bus.coherent", False, True)),
                area=(("merge: lut", 3, 1),), measured_area=True)
HOLDS = Finding("far", (SAME,), (100, 100), bound=("host", "host"))


@pytest.mark.parametrize("value, found", [
    (20.5, "20.5"), (0.1 + 0.2, "0.3"), (60, "60"), (1e-6, "0.000001"), (True, "True"),
    (None, "-"), ("none", "none")])
def test_a_value_to_its_last_digit(value, found):
    assert said(value) == found


def test_a_line_for_everything_that_moved():
    assert text(WHOLE).splitlines() == [
        "logp: g: 50 → 60 (+10)",
        "rtt: RTT|1: 200 → 199.999999 (-0.000001)",
        "rtt: L = 7: no value was accepted yet",
        "rtt: o_r: 5 → none (-)",
        "rtt: lost: 0 → 3 (+3)",
        "description: link.latency was 4, is -",
        "description: bus.coherent was False, is True",
        "g is bound by the host no more: by the link",
        "Where a round trip of the smallest message moved (cycles):",
        "  out: uplink: 7 → 6 (-1)",
        "  out: receive DMA: 18 → 20.5 (+2.5)",
        "  a round trip: 100 → 101.5 (+1.5)",
        "Cycles in which a block is busy for a message, in steady state:",
        "  link, node 0: 25 → 26 (+1)",
        "Cells of the NIC's blocks, each with what is inside:",
        "  merge: lut: 3 → 1 (-2)"]
    assert text(HOLDS).splitlines() == ["g is bound by the host"]


def test_no_part_moved_is_said_where_a_figure_did_alone():
    told = "no part of the round trip of the smallest message moved"
    for more, there in (({}, True), ({"parts": (("a", 1, 2),)}, False),
                        ({"blocks": (("a", 1, 2),)}, False)):
        found = Finding("near", (MORE,), (100, 100), bound=("host", "host"), **more)
        assert (told in text(found)) == there
    assert told not in text(HOLDS)
    assert text(Finding("near", (SAME,), unknown="why")) == "why"


def test_one_line_counts_and_names_what_moved_most():
    assert summary([HOLDS]) == "1 figure of far is as it was accepted"
    two = Finding("near", (SAME, SAME))
    assert summary([HOLDS, two]) == "3 figures of far, near are as they were accepted"
    assert summary([WHOLE, HOLDS]) == (
        "5 of 7 figures are not as they were accepted, in near; "
        "moved most: out: receive DMA +2.5; out: uplink -1; area: merge: lut -2")
    assert summary([Finding("a", (MORE,))]) == "1 of 1 figure is not as it was accepted, in a"


@pytest.mark.parametrize("count, more", [
    (4, ""), (5, " and 1 part more"), (7, " and 3 parts more")])
def test_one_line_names_four_parts(count, more):
    parts = tuple((f"p{place}", 10, 10 + place) for place in range(1, count + 1))
    found = summary([Finding("a", (MORE,), (1, 2), parts=parts, area=parts)])
    most = "; ".join(f"p{place} +{place}" for place in range(count, count - 4, -1))
    assert found.endswith(f"; moved most: {most}{more}; area: {most}")


def test_a_page_for_review():
    assert markdown([WHOLE, HOLDS], "gate").splitlines() == [
        "## gate", "", f"{summary([WHOLE, HOLDS])}.", "", "### near: **moved**", "",
        "- description: link.latency was 4, is -",
        "- description: bus.coherent was False, is True",
        "- g is bound by the host no more: by the link", "",
        "| benchmark | figure | accepted | now | more |  |",
        "| --- | ---: | ---: | ---: | ---: | ---: |",
        "| logp | g | 50 | 60 | +10 | +20.00 % |",
        "| rtt | RTT\\|1 | 200 | 199.999999 | -0.000001 | -0.00 % |",
        "| rtt | L | - | 7 | - |  |",
        "| rtt | o_r | 5 | none | - |  |",
        "| rtt | lost | 0 | 3 | +3 |  |", "",
        "Where a round trip of the smallest message moved (cycles):", "",
        "|  | accepted | now | more |", "| --- | ---: | ---: | ---: |",
        "| out: uplink | 7 | 6 | -1 |", "| out: receive DMA | 18 | 20.5 | +2.5 |",
        "| a round trip | 100 | 101.5 | +1.5 |", "",
        "Cycles in which a block is busy for a message, in steady state:", "",
        "|  | accepted | now | more |", "| --- | ---: | ---: | ---: |",
        "| link, node 0 | 25 | 26 | +1 |", "",
        "Cells of the NIC's blocks, each with what is inside:", "",
        "|  | accepted | now | more |", "| --- | ---: | ---: | ---: |",
        "| merge: lut | 3 | 1 | -2 |", "", "### far: as accepted"]


def test_no_heading_stands_without_what_it_heads():
    found = Finding("near", (SAME,), (100, 101), parts=(("a", 1, 2),), bound=None)
    page = markdown([found], "gate")
    assert "benchmark" not in page and "Cells" not in page and "steady state" not in page
    assert "### near: **moved**\n\na round trip" not in page and "\n\n\n" not in page


def test_tables_on_a_terminal(capsys):
    for item in lines(WHOLE):
        console().print(item)
    shown = capsys.readouterr().out
    for told in ("near:", "description: link.latency was 4, is -", "What moved", "+20.00 %",
                 "out: uplink", "a round trip", "link, node 0", "merge: lut",
                 "g is bound by the host no more: by the link"):
        assert told in shown
    assert lines(HOLDS) == ["far: 1 figure as accepted"]
    found = Finding("near", (SAME,), unknown="accept again")
    assert lines(found) == ["near:", "accept again"]


def test_cases_for_ci_are_counted():
    suite, other = ElementTree.fromstring(junit([WHOLE, HOLDS], "gate")).findall("testsuite")
    assert [case.get("name") for case in suite] == [
        "logp: g", "rtt: RTT|1", "rtt: L", "rtt: o_r", "rtt: lost", "logp: o_s",
        "area by block", "a round trip in parts"]
    assert (suite.get("tests"), suite.get("failures")) == ("8", "7")
    assert (other.get("tests"), other.get("failures")) == ("2", "0")
    assert {case.get("classname") for case in suite} == {"gate.near"}
    area = suite.find("testcase[@name='area by block']/failure")
    assert area is not None and area.text == "merge: lut: 3 → 1"
    assert len(list(suite.iter("failure"))) == 7 and not list(other.iter("failure"))


@pytest.mark.parametrize("more, failures", [
    ({}, 0), ({"parts": (("a", 1, 2),)}, 1), ({"blocks": (("a", 1, 2),)}, 1),
    ({"unknown": "accept again"}, 1)])
def test_a_case_for_the_round_trip_fails_with_what_moved_in_it(more, failures):
    found = Finding("near", (SAME,), (1, 1), **more)
    document = junit([found], "gate")
    assert document.startswith(b"<?xml version='1.0' encoding='utf-8'?>\n<testsuites")
    [suite] = ElementTree.fromstring(document).findall("testsuite")
    assert (suite.get("tests"), suite.get("failures")) == ("2", str(failures))
    assert len(list(suite.iter("failure"))) == failures
    [alone] = ElementTree.fromstring(junit([Finding("a", (SAME,))], "gate")).findall("testsuite")
    assert alone.get("tests") == "1"
