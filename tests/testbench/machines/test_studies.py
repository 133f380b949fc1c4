"""The published tables: what their files say, and the arithmetic of errors."""

import tomllib
from pathlib import Path

import pytest
from nicbed.testbench.descriptions import load
from nicbed.testbench.errors import UserError
from nicbed.testbench.machines import studies
from nicbed.testbench.machines.calibration import plan
from nicbed.testbench.machines.measured import job_for
from nicbed.testbench.machines.page import cells
from nicbed.testbench.machines.plots import DRAWINGS
from nicbed.testbench.machines.reproduction import Row, error, measured, summary
from nicbed.testbench.machines.studies import Figure, read

FOLDER = Path(load.find("cm5")).parent
MACHINES = sorted(path.stem for path in FOLDER.glob("*.toml"))


def figure(low=10.0, high=None, *, use="test", needs="", machine="default", name="rtt"):
    return Figure(machine, name, "µs", low, low if high is None else high, use, needs)


def test_every_figure_names_a_machine_and_a_quantity():
    """Or what it needs."""
    for _, tables in studies.chosen(None):
        for table in tables:
            assert table.machines and set(table.plots) <= set(DRAWINGS)
            for machine, name in table.predictions:
                assert table.figure(machine, name) is None
                job_for(load.load(machine), table.quantity(name))
            for one in table.figures:
                assert one.low <= one.high and one.low and one.high
                assert one.unit or "over" in one.name, "a ratio says of what"
                if not one.needs:
                    assert one.machine in load.names()
                    job_for(load.load(one.machine), table.quantity(one.name))


def test_every_machine_is_in_a_study():
    shown = {machine for _, tables in studies.chosen(None) for table in tables
             for machine in table.machines}
    assert set(MACHINES) <= shown


@pytest.mark.parametrize("machine", MACHINES)
def test_every_value_of_a_machine_has_a_source(machine):
    """The line above a knob says given, typical, chosen or fit, or where it is from; a knob that
    is fitted says so, and no other does."""
    section, above, fitted = "", "", set()
    for line in load.find(machine).read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            section = line.strip("[]")
        elif line and not line.startswith("#") and not section.startswith(
                ("fit", "typical")):
            word = above.removeprefix("# ").partition(" ")[0].rstrip(":,")
            assert word in ("given", "typical", "chosen", "fit", "as"), (section, line, above)
            if word == "fit":
                fitted.add(f"{section}.{line.split(' ')[0]}")
        above = line
    table = load.fit_table(machine)
    programs = table.get("programs", {})
    assert fitted == set(table.get("parameters", {})) | set(programs.get("parameters", {}))
    if table:
        plan(machine)  # refuses test figures, unknown knobs and figures
    if programs:
        _, targets = plan(machine, programs=True)
        assert {one.quantity.bench for one in targets} == {"mm", "radix-sort", "sample-sort"}


def test_programs_are_measured_on_machines_they_are_fitted_on():
    """A figure of a program needs nothing just where the description has all three rates."""
    for _, tables in studies.chosen(None):
        for one in (one for table in tables if table.name == "split-c" for one in table.figures):
            assert bool(one.needs) != ("programs" in load.fit_table(one.machine)), one


def test_wide_nodes_are_thin_ones_but_for_lines_and_memory_bus():
    """So what is fitted on the thin ones is a test on the wide ones."""
    assert set(load.difference([load.load("sp2-thin"), load.load("sp2-wide")])) == {
        "cpu.line_bytes", "memory.bytes_per_cycle", "memory.width"}


@pytest.mark.parametrize("ours, low, high, expected", [
    (12, 10, 10, 0.2), (8, 10, 10, -0.2), (None, 10, 10, None),
    (20, 19.9, 20.1, 0), (22.11, 19.9, 20.1, 0.1), (17.91, 19.9, 20.1, -0.1)])
def test_errors(ours, low, high, expected):
    found = error(figure(low, high), ours)
    assert found == (None if expected is None else pytest.approx(expected))


def test_medians_count_test_figures_that_were_measured():
    study = read("mine", {"title": "", "source": ""})
    rows = [Row(figure(), 11), Row(figure(), 8), Row(figure(), 13), Row(figure(use="fit"), 90),
            Row(figure(use="dependent"), 90), Row(figure(needs="x"), None)]
    found = summary(study, rows)
    assert found is not None and found.count == 3
    assert found.median == pytest.approx(0.2) and found.worst == pytest.approx(0.3)
    assert summary(study, rows[3:]) is None


def test_what_is_missing_is_said_and_not_filled_in():
    assert cells(Row(figure(needs="layer mpl"), None))[4:6] == ("not yet: needs layer mpl", "–")
    assert cells(Row(figure(19.9, 20.1), 22.11))[3:] == ("19.9 to 20.1", "22.11", "+10.0 %", "test")


TABLE = """
title = "A study"
source = "Here"
[t]
title = "Round trips"
plots = ["pairs"]
differences = [["default rtt_2", "default rtt_1"], ["io-bus rtt_1", "default rtt_1"]]
[t.default]
rtt_1 = { published = 2.5, use = "fit" }
rtt_2 = { published = 2.75 }
"MPL" = { published = 9, unit = "µs", needs = "layer mpl" }
[t.io-bus]
rtt_1 = { published = 3.0 }
[t.paragon]
needs = "another CPU"
o_s = { published = 1.4 }
[t.predictions]
io-bus = ["rtt_2"]
"""


def test_a_table_is_measured(jobs):
    [table] = read("mine", tomllib.loads(TABLE)).tables
    found = measured(table)
    ours = {(row.figure.machine, row.figure.name): row.ours for row in found.rows}
    assert ours["default", "MPL"] is None and ours["paragon", "o_s"] is None
    assert ours["default", "rtt_2"] > ours["default", "rtt_1"] > 0
    assert table.figure("paragon", "o_s").needs == "another CPU"
    assert table.figure("paragon", "o_s").unit == "µs"
    word, bus = found.differences
    assert word.published == pytest.approx(0.25) and word.name == "rtt_2 − rtt_1, default"
    assert word.ours == pytest.approx(ours["default", "rtt_2"] - ours["default", "rtt_1"])
    assert bus.name == "io-bus − default, rtt_1" and bus.published == pytest.approx(0.5)
    assert set(found.outcomes) == {("default", "rtt"), ("io-bus", "rtt")}
    [guessed] = found.predictions
    assert table.machines == ["default", "io-bus"] and guessed.machine == "io-bus"
    assert guessed.quantity.name == "rtt_2" and guessed.ours > ours["io-bus", "rtt_1"]
    assert found.plain()["predictions"][0]["ours"] == guessed.ours
    count = len(jobs)
    assert measured(table).plain() == found.plain() and len(jobs) == count == 2


@pytest.mark.parametrize("old, new, said", [
    ('use = "fit"', 'use = "fitted"', "use = 'fitted': must be fit or test or dependent"),
    ("rtt_2 = {", "rtt_9 = {", "no quantity is called rtt_9; did you mean"),
    ("published = 2.75", "published = 2.75, units = 3", "units is none of"),
    ('"io-bus rtt_1", "d', '"io-bus rtt_3", "d', "there is no figure io-bus rtt_3"),
    ('["rtt_2"]', '["rtt_7"]', "mine/t/predictions/io-bus: no quantity is called rtt_7")])
def test_a_wrong_file_is_one_line(old, new, said):
    assert old in TABLE
    with pytest.raises(UserError, match=said):
        read("mine", tomllib.loads(TABLE.replace(old, new)))


@pytest.mark.parametrize("wanted, said", [
    ("sp3", "no study is called sp3; did you mean sp2"),
    ("sp2/rtt", "sp2 has no table called rtt; there are: round-trip, overhead"),
    ("sp2/", "sp2 has no table called ;")])
def test_what_is_not_there_is_one_line(wanted, said):
    with pytest.raises(UserError, match=said):
        studies.chosen(wanted)


def test_tables_that_take_long_are_measured_by_name_alone():
    assert [table.path for table in studies.chosen("sp2/split-c")[0][1]] == ["sp2/split-c"]
    for wanted in ("sp2", None):
        paths = [table.path for _, tables in studies.chosen(wanted) for table in tables]
        assert "sp2/overhead" in paths and "sp2/split-c" not in paths
