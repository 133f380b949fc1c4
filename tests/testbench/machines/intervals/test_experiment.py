"""An experiment over a study whose answer is known, and the command over the functional model."""

import json
import sys

import pytest
from nicbed.testbench import cli
from nicbed.testbench.machines import studies
from nicbed.testbench.machines.intervals import experiment
from nicbed.testbench.machines.intervals.experiment import sampled
from nicbed.testbench.machines.intervals.families import families
from nicbed.testbench.machines.intervals.result import Interval, intervals
from nicbed.testbench.machines.intervals.section import lines, replaced, told
from nicbed.testbench.machines.intervals.stored import identity

MACHINE = """
[typical]
"memory.latency" = { low = 0, high = 100, why = "half of it" }
"bus.pio_read" = { low = 2, high = 22, why = "little of it" }
"cpu.call" = { low = 0, high = 50, why = "nothing" }
[fit.figures]
rtt_1 = 2.5
[fit.parameters]
"link.latency" = { low = 0, high = 200 }
"""
STUDY = """
title = "A study"
source = "Here"
[t]
title = "Round trips"
[t."./m.toml"]
rtt_1 = { published = 2.50, use = "fit" }
rtt_3 = { published = 60 }
rtt_4 = { published = 200.0, lacks = "a second bus" }
"""


@pytest.fixture
def written(tmp_path):
    """The path of a study in a file, whose machine is beside it."""
    path = tmp_path / "mine.toml"
    path.write_text(STUDY)
    (tmp_path / "m.toml").write_text(MACHINE)
    return path


@pytest.fixture
def known(monkeypatch, written):
    """The family of that study. Its fit figure is (link.latency + memory.latency) / 40, of which
    the round trip of 4 words is 80 times what memory leaves to the link; that of 3 words is memory
    and a tenth of the bus."""
    def measured(nic, settings, quantities, tell):
        rows = []
        for one in settings:
            link, memory = one.get("link.latency", 60), one.get("memory.latency", 40)
            at = {"rtt_1": (link + memory) / 40, "rtt_3": memory + one.get("bus.pio_read", 2) / 10,
                  "rtt_4": 2.0 * link - 2}
            rows.append([at[wanted.name] for wanted in quantities])
        return rows

    monkeypatch.setattr(experiment, "_measured", measured)
    [family] = families(studies.chosen(str(written)))
    return family


def test_intervals_of_a_known_study(known):
    """At each point link.latency is 100 - memory.latency, to the rounding of rtt_1; so rtt_3 is
    from 5 to 95 and a little, and rtt_4 from 8 to 188, where 200 is not."""
    found = sampled(known, 200, 1)
    assert all(one.weight == 1 for one in found.samples)
    words3, words4 = intervals(found)
    assert words3.kept == words3.points == 200 and words3.effective == pytest.approx(200)
    assert words3.ends == pytest.approx((6.2, 96.2), abs=1.5)
    assert words4.ends == pytest.approx((8, 188), abs=4)
    assert words3.half == pytest.approx(words3.ends, abs=12)
    assert (words3.inside, words4.inside) == (True, False)
    for one in (words3, words4):
        assert one.shares["memory.latency"] > 0.97 and one.rest < 0.03
        assert one.shares.get("cpu.call", 0) < 0.02


def test_points_that_cannot_meet_the_fit_are_left_out(known, monkeypatch):
    """Of the link 60 is the most that is missing; beyond that no link is short enough."""
    measured = experiment._measured

    def longer(nic, settings, quantities, tell):
        rows = measured(nic, settings, quantities, tell)
        if quantities[0].name == "rtt_1":
            rows = [[one[0] + max(0, settings[index].get("memory.latency", 0) - 50)]
                    for index, one in enumerate(rows)]
        return rows

    monkeypatch.setattr(experiment, "_measured", longer)
    found = sampled(known, 40, 1)
    kept = [one for one in found.samples if one.weight > 0]
    assert 15 < len(kept) < 25 and all(one.levels["memory.latency"] < 56 for one in kept)
    assert all(one.values == (None, None) for one in found.samples if one.weight == 0)
    assert intervals(found)[0].kept == len(kept)


def test_too_few_points_have_no_interval(known, monkeypatch):
    monkeypatch.setattr(experiment, "weight", lambda *_: 0.0)
    first, _ = intervals(sampled(known, 8, 1))
    assert first.ends is first.inside is first.shares is None and first.kept == 0


def test_a_seed_gives_the_same_and_a_part_is_measured_by_itself(known):
    whole = sampled(known, 20, 5)
    assert whole == sampled(known, 20, 5) != sampled(known, 20, 6)
    assert sampled(known, 20, 5, first=3).samples == whole.samples[:3]


def test_a_result_is_read_as_it_was_written(known):
    for one in intervals(sampled(known, 20, 1)):
        assert Interval.read(json.loads(json.dumps(one.plain()))) == one


def test_rounding_counts_as_inside():
    one = Interval("t", "m", "n", "n", "µs", (2.0, 2.0), 0.05, 1.0, (2.04, 3.0), 2.5, None, 8, 8,
                   8.0, None, None)
    assert one.inside and not Interval.read({**one.plain(), "ends": (2.06, 3.0)}).inside


def test_a_figure_outside_names_what_the_model_lacks(known, written):
    [(study, _)] = studies.chosen(str(written))
    _, one = intervals(sampled(known, 40, 1))
    assert told(one, {"mine": study}).startswith("./m.toml, round trip, 16 B: 200 is above ")
    assert told(one, {"mine": study}).endswith(
        "µs, so no typical value in its range explains it: the model lacks something; a proposal, "
        "not tried: a second bus.")
    assert told(one, {}).endswith("the model lacks something.")


def test_the_hash_is_of_figures_and_descriptions(written):
    def now():
        [(_, tables)] = studies.chosen(str(written))
        return identity(tables)

    first = now()
    machine = written.parent / "m.toml"
    machine.write_text(machine.read_text() + "# A remark.\n")
    assert now() == first
    machine.write_text(machine.read_text().replace("high = 22", "high = 24"))
    second = now()
    written.write_text(STUDY.replace("200.0", "201.0"))
    assert len({first, second, now()}) == 3


def test_the_section_takes_the_place_of_the_one_before():
    page = "# A\n\n## Errors\n\nE\n\n## Study\n\nS\n"
    first = replaced(page, ["## Intervals say how sure a figure is", "", "one"])
    assert first == ("# A\n\n## Errors\n\nE\n\n## Intervals say how sure a figure is\n\none\n\n"
                     "## Study\n\nS\n")
    assert replaced(first, ["## Intervals say how sure a figure is", "", "one"]) == first
    assert lines([], {}, "") == []


def run(monkeypatch, *arguments):
    monkeypatch.setattr(sys, "argv", ["nicbed", "reproduce", *map(str, arguments)])
    cli.run_command()


def test_the_command_prints_draws_and_stores(jobs, monkeypatch, written, tmp_path, capsys):
    places = [tmp_path / "one", tmp_path / "two"]
    counts = []
    for out in places:
        run(monkeypatch, f"{written}/t", "--intervals", "--points", 16, "--out", out)
        counts.append(len(jobs))
    assert counts[0] == counts[1]  # the cache had them
    said = capsys.readouterr().out
    assert "published test figures are inside" in said and "not tried: a second bus" in said
    one, two = (out / "reproduce-mine-t-intervals.json" for out in places)
    assert one.read_bytes() == two.read_bytes()
    document = json.loads(one.read_text())
    assert document["tables"] == ["mine/t"] and len(document["intervals"]) == 2
    assert len(document["families"]["m"]["samples"]) == 16
    assert one.with_suffix(".png").stat().st_size > 10000


@pytest.mark.parametrize("arguments, said", [
    (["--intervals"], "reproduce --intervals needs a study"),
    (["--all", "--intervals"], "reproduce --all --intervals: give one of them"),
    (["assessment", "--intervals", "--points", "7"], "--points 7: must be 8 to 1000"),
    (["assessment", "--points", "9"], "--points 9: goes with --intervals alone"),
    (["assessment", "--seed", "9"], "--seed 9: goes with --intervals alone"),
    (["sp2/machines", "--intervals"], "sp2/machines: no test figure is of a machine with typical")])
def test_what_is_wrong_is_one_line(monkeypatch, capsys, tmp_path, arguments, said):
    with pytest.raises(SystemExit) as ended:
        run(monkeypatch, *arguments, "--out", tmp_path)
    assert ended.value.code == 2
    error = capsys.readouterr().err
    assert said in error and len(error.splitlines()) == 1


def test_wide_nodes_are_of_the_thin_ones_family():
    """So each point has the same typical and fitted values on both, and is chosen once."""
    [family] = families(studies.chosen("sp2/round-trip"))
    assert family.name == "sp2-thin" and {one.nic for one in family.wanted} == {
        "sp2-thin", "sp2-wide"}
