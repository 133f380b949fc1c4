"""What moved, from observations; and the reports of it."""

import dataclasses
from fractions import Fraction
from xml.etree import ElementTree

import pytest
from nicbed.testbench.benches.common.headline import Headline
from nicbed.testbench.gate.checking import check, compare
from nicbed.testbench.gate.file import Entry, Value
from nicbed.testbench.gate.record import Kept
from nicbed.testbench.gate.report import junit, lines, markdown, summary, text
from nicbed.testbench.results.tables import console

from tests.testbench.gate.fakes import CONFIG, KEPT, MOVED, SPLIT, now


def entry(o_s: Value = 20.5) -> Entry:
    return Entry("near", "default", ("logp",), accepted={"logp": {"o_s": o_s, "g": "none"}})


def test_unchanged_figures_hold() -> None:
    found = check(entry(), KEPT, now())
    assert found.holds and not found.moved and not found.parts
    assert summary([found]) == "2 figures of near are as they were accepted"


@pytest.mark.parametrize("accepted, value", [(20.500001, 20.5), ("none", 20.5), (20.5, None)])
def test_the_last_digit_counts(accepted: Value, value: float | None) -> None:
    found = check(entry(accepted), KEPT, now(value))
    assert not found.holds and [row.figure for row in found.moved] == ["o_s"]


def test_a_figure_that_was_never_accepted_does_not_hold() -> None:
    found = check(Entry("near", "default", ("logp",)), KEPT, now())
    assert len(found.moved) == 2
    assert "logp: o_s = 20.5: no value was accepted yet" in text(found)


def test_a_part_that_moved_is_named_though_no_figure_did() -> None:
    found = check(entry(), KEPT, now(kept=Kept(CONFIG, MOVED)))
    assert not found.holds and not found.moved
    assert found.parts == (("out: receive DMA", 18, 19),) and found.trip == (100, 101)
    assert "out: receive DMA +1" in summary([found])


def test_a_block_that_is_busy_longer_is_named() -> None:
    busy = dataclasses.replace(SPLIT, blocks={"host, node 0": 1.0, "link, node 0": 0.52},
                               bound="link")
    found = check(entry(), KEPT, now(kept=Kept(CONFIG, busy)))
    assert found.blocks == (("link, node 0", 25, 26),) and not found.holds
    assert "g is bound by the host no more: by the link" in text(found)


@pytest.mark.parametrize("more", [Fraction(1, 10**6), Fraction(-1, 10**6), Fraction(1, 64)])
def test_the_smallest_move_of_a_part_counts(more: Fraction) -> None:
    """There is no tolerance: what is not the same has moved, whichever way."""
    moved = dataclasses.replace(
        SPLIT, total=100 + more,
        flights=([("uplink", 7 + more), ("receive DMA", Fraction(18))], SPLIT.flights[1]))
    found = check(entry(), KEPT, now(kept=Kept(CONFIG, moved)))
    assert not found.holds and not found.moved and not found.blocks
    assert found.parts == (("out: uplink", 7, float(7 + more)),)
    assert found.trip == (100, float(100 + more))


@pytest.mark.parametrize("more", [2e-8, -2e-8, 1e-4])
def test_the_smallest_move_of_a_block_counts(more: float) -> None:
    busy = dataclasses.replace(SPLIT, blocks={"host, node 0": 1.0, "link, node 0": 0.5 + more})
    found = check(entry(), KEPT, now(kept=Kept(CONFIG, busy)))
    [(name, one, other)] = found.blocks
    assert not found.holds and not found.parts and name == "link, node 0"
    assert (one, other) == (25, pytest.approx(25 + 50 * more, abs=1e-9))


@pytest.mark.parametrize("accepted, value, more", [
    (20.5, 20.500001, 1e-6), (20.5, 20.499999, -1e-6), (60, 61, 1), (60, 60.0, 0),
    ("none", 20.5, None)])
def test_a_figure_says_by_how_much_it_moved(accepted: Value, value: float, more: float | None
                                            ) -> None:
    [row] = compare("logp", {"o_s": accepted}, [Headline("o_s", value)])
    assert row.holds == (more == 0)
    assert row.more == (None if more is None else pytest.approx(more, abs=1e-12))


def test_a_block_that_comes_or_goes_is_named() -> None:
    few, many = ({"merge": {"lut": 3}}, {"merge": {"lut": 3, "ram": 1}, "send_dma": {"lut": 1}})
    for before, after, moved in ((few, many, (("merge: ram", 0, 1), ("send_dma: lut", 0, 1))),
                                 (many, few, (("merge: ram", 1, 0), ("send_dma: lut", 1, 0)))):
        found = check(entry(), dataclasses.replace(KEPT, area=before),
                      now(kept=dataclasses.replace(KEPT, area=after)))
        assert not found.holds and found.area == moved and found.measured_area


def test_a_block_with_another_area_is_named() -> None:
    area = {"send_dma": {"lut": 20, "ram": 1}, "merge": {"lut": 3, "ram": 0}}
    before = dataclasses.replace(KEPT, area=area)
    after = dataclasses.replace(KEPT, area={**area, "send_dma": {"lut": 25, "ram": 1}})
    assert check(entry(), before, now(kept=before)).holds
    found = check(entry(), before, now(kept=after))
    assert not found.holds and found.area == (("send_dma: lut", 20, 25),)
    assert summary([found]).endswith("area: send_dma: lut +5")
    assert "send_dma: lut: 20 → 25 (+5)" in text(found)
    assert found.plain()["area"] == (("send_dma: lut", 20, 25),)
    assert "| send_dma: lut | 20 | 25 | +5 |" in markdown([found], "gate")
    for after_it, fails in ((after, True), (before, False)):
        one = check(entry(), before, now(kept=after_it))
        suite = ElementTree.fromstring(junit([one], "gate")).find("testsuite")
        assert suite is not None and suite.get("tests") == str(len(suite)) == "4"
        case = suite.find("testcase[@name='area by block']")
        assert case is not None and (case.find("failure") is not None) == fails
    for accepted, other in ((KEPT, after), (before, KEPT)):
        found = check(entry(), accepted, now(kept=other))
        assert not found.holds and found.unknown.startswith("no area of blocks was accepted")


def test_another_description_is_told_and_fails_nothing() -> None:
    config = {**CONFIG, "link": {**CONFIG["link"], "latency": 5}}
    found = check(entry(), KEPT, now(kept=Kept(config, SPLIT)))
    assert found.holds and found.knobs == (("link.latency", CONFIG["link"]["latency"], 5),)


def test_a_split_that_is_not_kept_does_not_hold() -> None:
    for kept, after in ((None, KEPT), (KEPT, Kept(CONFIG, None)), (Kept(CONFIG, None), KEPT)):
        found = check(entry(), kept, now(kept=after))
        assert not found.holds and "accept again" in text(found)
    assert check(entry(), Kept(CONFIG, None), now(kept=Kept(CONFIG, None))).holds
    assert check(entry(), None, now(kept=Kept(CONFIG, None))).holds
    area = Kept(CONFIG, None, {"merge": {"lut": 3}})
    assert not check(entry(), None, now(kept=area)).holds
    found = check(entry(), area, now(kept=Kept(CONFIG, None, {"merge": {"lut": 4}})))
    assert found.area == (("merge: lut", 3, 4),) and found.trip is None and not found.unknown


def test_reports_say_what_moved(capsys: pytest.CaptureFixture[str]) -> None:
    moved = check(entry(20.25), KEPT, now(kept=Kept(CONFIG, MOVED)))
    same = check(entry(), KEPT, now())
    for item in (*lines(moved), *lines(same)):
        console().print(item)
    shown = capsys.readouterr().out
    page = markdown([moved, same], "title")
    for told in ("20.25", "+0.25", "+1.23 %", "out: receive DMA", "a round trip", "+1"):
        assert told in shown and told in page
    assert "near: 2 figures as accepted" in shown
    assert "| logp | o_s | 20.25 | 20.5 | +0.25 | +1.23 % |" in page and "title" in page


def test_junit_has_a_case_for_each_figure_and_the_round_trip() -> None:
    moved = check(entry(20.25), KEPT, now(kept=Kept(CONFIG, MOVED)))
    same = check(entry(), KEPT, now())
    root = ElementTree.fromstring(junit([moved, same], "gate"))
    one, other = root.findall("testsuite")
    assert (one.get("tests"), one.get("failures")) == ("3", "2")
    assert (other.get("tests"), other.get("failures")) == ("3", "0")
    assert [case.get("name") for case in one.iter("testcase")] == [
        "logp: o_s", "logp: g", "a round trip in parts"]
    told = [failure.get("message") for failure in one.iter("failure")]
    assert told == ["logp: o_s: 20.25 → 20.5 (+0.25)", "parts moved"]
    assert "out: receive DMA: 18 → 19 (+1)" in (list(one.iter("failure"))[1].text or "")
