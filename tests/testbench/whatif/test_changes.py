"""Which knobs are changed, to which values, and what that should do."""

from fractions import Fraction
from typing import Any

import pytest
from nicbed.layouts.description import Description
from nicbed.testbench.descriptions import load
from nicbed.testbench.errors import UserError
from nicbed.testbench.whatif import Question
from nicbed.testbench.whatif.changes import Change, Refused, changed, matter
from nicbed.testbench.whatif.prediction import predicted, work_of
from nicbed.testbench.why.round_trip import traced_layers


def values(*overrides: str, knob: str) -> dict[str, Any]:
    description = load.load("default", overrides)
    return {one.how: one.after if isinstance(one, Change) else one.line
            for one in changed(description, "am", matter(description, "am", [knob]))}


@pytest.mark.parametrize("knob, overrides, found", [
    ("link.latency", (), {"halved": 2, "doubled": 8, "free": 0}),
    ("link.latency", ("link.latency=5",), {"halved": 2, "doubled": 10, "free": 0}),
    ("link.latency", ("link.latency=0",), {}),
    ("cpu.alu", (), {"doubled": 2, "free": 0}),
    ("bus.pio_read", (), {"halved": 6, "doubled": 24, "free": 2}),
    ("link.bytes_per_cycle", (), {"halved": 1, "doubled": 4, "free": 8}),
    ("cpu.clock_mhz", (), {"halved": 100, "doubled": 400}),
    ("cpu.path_scale", (), {"halved": Fraction(1, 2), "doubled": 2, "free": 0}),
    ("am.retries", (), {"halved": 6, "doubled": 24}),
    ("am.retry_timeout", (), {"halved": 10_000, "doubled": 40_000}),
])
def test_values(knob: str, overrides: tuple[str, ...], found: dict[str, Any]) -> None:
    assert values(*overrides, knob=knob) == found


def test_what_the_description_refuses_is_a_line() -> None:
    found = values(knob="am.reply_window")
    assert found["halved"].startswith("am.reply_window = 38: must be larger")
    assert "\n" not in found["doubled"] and "121" in found["doubled"]


@pytest.mark.parametrize("layer, inside, outside", [
    ("am", {"am.chunks", "cpu.load"}, {"via.retries", "nic.overflow", "nic.mtu", "bus.posted",
                                       "faults.drop", "processor.clock_divider"}),
    ("via", {"via.retries"}, {"am.chunks", "via.vis"}),
    ("mpl", {"am.chunks", "mpl.eager_bytes"}, {"via.retries"})])
def test_knobs_that_matter(layer: str, inside: set[str], outside: set[str]) -> None:
    found = {knob.name for knob in matter(Description(), layer)}
    assert inside <= found and not outside & found


def test_a_processor_has_knobs_too() -> None:
    description = load.load("default", ["nic.processor=picorv32"])
    assert "processor.clock_divider" in {knob.name for knob in matter(description, "gm")}


@pytest.mark.parametrize("given, told", [
    ({"patterns": ["link.*", "nothing"]}, "--knobs nothing: matches no"),
    ({"patterns": ["nic.mtu"]}, "--knobs nic.mtu: matches no"),
    ({"layer": "mpi"}, f"--layer mpi: whatif takes {', '.join(traced_layers())}"),
    ({"nic": "nothing"}, "no such NIC description"),
    ({"overrides": ["link.latency=-1"]}, "link.latency = -1"),
    ({"overrides": ["node.nics=2"]}, "nodes with one NIC"),
    ({"overrides": ["link.latency=0"], "patterns": ["link.latency"]}, "no knob has another value"),
])
def test_wrong_questions(given: dict[str, Any], told: str) -> None:
    with pytest.raises(UserError, match=told) as error:
        Question.of(**given)
    assert "\n" not in str(error.value)


def test_refused_changes_are_part_of_the_question() -> None:
    question = Question.of(patterns=["cpu.cas", "link.latency"])
    assert [(one.knob, one.how) for one in question.refused] == [("cpu.cas", "halved")]
    assert all(isinstance(one, Refused) for one in question.refused)
    assert {one.knob for one in question.changes} == {"cpu.cas", "link.latency"}


WORK = [{"load": Fraction(10), "alu": Fraction(1)}, {"load": Fraction(6)}]


def prediction(knob: str, value: Any, *overrides: str) -> dict[str, Fraction]:
    before = load.load("default", overrides)
    return predicted(knob, before, load.load(before, changes={knob: value}), WORK)


def test_prices_are_predicted_by_the_work_of_both_ends() -> None:
    """A CPU cycle is 66/200 cycles; 16 loads and one arithmetic instruction take 17 of them."""
    assert prediction("cpu.load", 2) == {"RTT": 16 * Fraction(66, 200)}
    assert prediction("cpu.clock_mhz", 400) == {"RTT": -17 * Fraction(33, 200)}
    assert prediction("cpu.path_scale", 0) == {"RTT": -17 * Fraction(66, 200)}
    assert prediction("cpu.trap", 0) == {"RTT": 0}


def test_links_and_switches_are_predicted_by_the_way() -> None:
    assert prediction("link.latency", 5) == {"RTT": 4, "L": 2}
    assert prediction("switch.latency", 6) == {"RTT": 4, "L": 2}
    assert prediction("link.latency", 5, "fabric.switches=2") == {"RTT": 6, "L": 3}


def test_other_knobs_are_not_predicted() -> None:
    for knob, value in (("bus.dma_setup", 12), ("am.request_window", 30)):
        assert prediction(knob, value) == {}


def test_no_work_where_a_cpu_is_charged_while_it_waits() -> None:
    """Charges of 11 cycles in calls of 10 are those of polls that find nothing."""
    truth = {"cpus": ["10", "10"], "work": [{"load": ["20", "1/2"]}, {"load": ["20", "11/20"]}]}
    assert work_of(truth) is None
    truth["cpus"] = ["10", "11"]
    assert work_of(truth) == [{"load": 20}, {"load": 20}]
    assert work_of({"cpus": [], "work": []}) is None
    assert predicted("cpu.load", Description(), Description(), None) == {}
