"""Differences, elasticities, surprises and their order, from made-up probes."""

import math
from fractions import Fraction
from typing import Any

import pytest
from nicbed.testbench.results import plots
from nicbed.testbench.results.tables import console
from nicbed.testbench.whatif.effects import (
    Effect,
    Probed,
    effects,
    elasticities,
    ordered,
    surprises,
)
from nicbed.testbench.whatif.report import draw, lines

FIGURES = {"o_s": 20.0, "o_r": 40.0, "g": 60.0, "L": 30.0, "RTT": 180.0, "bandwidth": 1.5}
BASE = Probed(FIGURES, "host", "as it is")


def effect(knob: str, how: str, before: Any, after: Any, *, bound: str = "host",
           predicted: dict[str, Fraction] | None = None, **figures: float) -> Effect:
    same = bound == "host" and not figures
    return Effect(knob, how, before, after,
                  Probed({**FIGURES, **figures}, bound, "as it is" if same else f"{knob} {after}"),
                  predicted or {})


def test_an_elasticity_is_the_slope_between_half_and_double() -> None:
    """A figure that goes with the knob's square root has 1/2, whatever free is."""
    several = [effect("link.latency", "halved", 4, 2, L=30 / math.sqrt(2)),
               effect("link.latency", "doubled", 4, 8, L=30 * math.sqrt(2)),
               effect("link.latency", "free", 4, 0, L=1)]
    found = elasticities(BASE, several)
    assert found["L"] == pytest.approx(0.5)
    assert found["g"] == 0


def test_an_elasticity_takes_the_values_that_there_are() -> None:
    """Half of 5 is 2; and where only one of the two is measured, the other end is the base."""
    both = [effect("bus.dma_setup", "halved", 5, 2, L=20), effect("bus.dma_setup", "doubled", 5, 10,
                                                                  L=100)]
    assert elasticities(BASE, both)["L"] == pytest.approx(1)
    assert elasticities(BASE, both[1:])["L"] == pytest.approx(math.log(100 / 30) / math.log(2))
    assert elasticities(BASE, both[:1])["L"] == pytest.approx(math.log(30 / 20) / math.log(5 / 2))


def test_free_is_no_end_of_an_elasticity() -> None:
    """Even where it is above 0: it may be far from the value in use."""
    several = [effect("bus.pio_read", "doubled", 12, 24, L=60),
               effect("bus.pio_read", "free", 12, 2, L=29)]
    assert elasticities(BASE, several)["L"] == pytest.approx(1)


def test_there_is_no_elasticity_without_two_positive_ends() -> None:
    assert elasticities(BASE, [effect("cpu.alu", "free", 1, 0, L=1)]) == {}
    found = elasticities(BASE, [effect("cpu.alu", "doubled", 1, 2, L=-1.0)])
    assert "L" not in found and "g" in found


@pytest.mark.parametrize("grown, surprise", [
    (16.0, []), (17.9, []), (20.1, ["RTT +4.1"]), (11.0, ["RTT -5"]), (-16.0, ["RTT -32"])])
def test_what_is_off_its_prediction_is_a_surprise(grown: float, surprise: list[str]) -> None:
    one = effect("link.latency", "doubled", 4, 8, RTT=180 + grown, predicted={"RTT": Fraction(16)})
    assert surprises(BASE, one) == surprise


def test_two_cycles_are_never_a_surprise() -> None:
    assert not surprises(BASE, effect("cpu.alu", "doubled", 1, 2, RTT=182,
                                      predicted={"RTT": Fraction(0)}))


def test_a_bound_that_moved_is_a_surprise_without_a_prediction() -> None:
    one = effect("cpu.path_scale", "free", 1, 0, bound="link", g=20)
    assert surprises(BASE, one) == ["g bound by link"]
    assert not surprises(BASE, effect("cpu.path_scale", "doubled", 1, 2, g=900))


def test_the_greatest_elasticity_is_first() -> None:
    assert ordered({"a": {"g": 0.1, "L": -0.2}, "b": {"g": -0.9}, "c": {}, "d": {"g": 0.2}}) == [
        "b", "a", "d", "c"]


def whole() -> dict[str, Any]:
    found = effects(BASE, [
        effect("bus.dma_setup", "doubled", 6, 12, L=36),
        effect("link.latency", "halved", 4, 2, L=15),
        effect("link.latency", "doubled", 4, 8, L=60, RTT=196, predicted={"RTT": Fraction(8)}),
        effect("cpu.trap", "halved", 400, 200), effect("cpu.trap", "doubled", 400, 800)])
    return {"layer": "am", "bandwidth_bytes": 4096, "results": found, "checks": [],
            "refused": [{"knob": "cpu.cas", "how": "halved", "line": "cpu.cas = 3: too little"}],
            "failed": [{"knob": "cpu.alu", "how": "free", "line": "the run hung"}]}


def test_effects_stand_in_the_order_of_elasticities_and_those_without_apart() -> None:
    found = whole()["results"]
    assert [row["knob"] for row in found["elasticities"]] == ["link.latency", "bus.dma_setup"]
    assert [(row["knob"], row["how"]) for row in found["effects"]] == [
        ("link.latency", "halved"), ("link.latency", "doubled"), ("bus.dma_setup", "doubled")]
    assert found["without"] == ["cpu.trap"]
    assert found["effects"][0]["grown"]["L"] == -15
    assert found["effects"][1]["surprises"] == ["RTT +8"]


def test_tables_and_plot(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
                         ) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    out = console(pipe=132)
    for item in lines(whole()):
        out.print(item)
    text = capsys.readouterr().out
    for told in ("+1.00", "! RTT +8", "! 1 of 3 changes", "no effect on any event: cpu.trap",
                 "left out: cpu.cas halved: cpu.cas = 3", "failed: cpu.alu free: the run hung"):
        assert told in text
    assert plots.render(draw, whole())[".png"].startswith(b"\x89PNG")


def test_nothing_with_an_effect_is_no_error(capsys: pytest.CaptureFixture[str]) -> None:
    document = {**whole(), "results": effects(BASE, [effect("cpu.trap", "doubled", 400, 800)])}
    for item in lines(document):
        console().print(item)
    assert "cpu.trap" in capsys.readouterr().out
    assert plots.render(draw, document)[".png"].startswith(b"\x89PNG")
