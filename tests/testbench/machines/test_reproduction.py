"""``nicbed reproduce``: the command, and docs/reproduction.md. ``--full`` compares the page,
``--update`` rewrites it."""

import json
import sys
import tomllib

import pytest
from nicbed.testbench import cli
from nicbed.testbench.commands.reproduce import reproduced, run_reproduce
from nicbed.testbench.machines import studies
from nicbed.testbench.machines.page import PAGE, markdown
from nicbed.testbench.machines.plots import against, programs
from nicbed.testbench.machines.quantities import QUANTITIES
from nicbed.testbench.report import plots

from tests.labs.rows import more
from tests.testbench.machines.test_studies import TABLE

IMAGES = PAGE.parent / "images"
UPDATE = "run: ./nicbed test --full -k reproduction --update"


@pytest.fixture
def mine(monkeypatch):
    """A single study, called mine."""
    found = studies.read("mine", tomllib.loads('remarks = ["A miss."]\n' + TABLE))
    monkeypatch.setattr(studies, "names", lambda: ["mine"])
    monkeypatch.setattr(studies, "study", lambda name: found)


def test_a_study_is_printed_drawn_and_stored(jobs, mine, tmp_path, capsys):
    run_reproduce("mine", False, out=tmp_path)
    said = capsys.readouterr().out
    assert "mine/t: default: MPL: not yet: needs layer mpl" in said
    assert "mine/t: paragon: o_s: not yet: needs another CPU" in said
    assert "mine: 2 test figures: median error " in said
    rows = json.loads((tmp_path / "reproduce-mine.json").read_text())["reproduce"]["mine/t"]["rows"]
    assert [row["use"] for row in rows] == ["fit", "test", "test", "test", "test"]
    assert [row["ours"] is None for row in rows] == [False, False, True, False, True]
    for name in ("reproduce-mine-t-pairs", "reproduce-mine-errors", "reproduce-mine-published"):
        assert (tmp_path / f"{name}.png").stat().st_size > 10000
    assert not (tmp_path / "reproduction.md").exists()


def test_all_writes_the_page(jobs, mine, tmp_path):
    run_reproduce(None, True, out=tmp_path)
    page = (tmp_path / "reproduction.md").read_text(encoding="utf-8")
    assert page == markdown(reproduced(studies.chosen(None)))
    assert "| paragon | o_s | µs | 1.4 | not yet: needs another CPU | – | test |" in page
    assert "| mine | 2 of 4 |" in page and "- A miss." in page


def test_without_a_study_the_tables_are_listed(capsys, tmp_path):
    run_reproduce(None, False, out=tmp_path)
    said = capsys.readouterr().out
    assert "assessment/logp" in said and "sp2/round-trip" in said


@pytest.mark.parametrize("arguments, said", [
    (["sp3"], "no study is called sp3"), (["sp2", "--all"], "reproduce sp2 --all: give one"),
    (["-q"], "reproduce needs a study")])
def test_what_is_wrong_is_one_line(monkeypatch, capsys, tmp_path, arguments, said):
    monkeypatch.setattr(sys, "argv", ["nicbed", "reproduce", *arguments, "--out", str(tmp_path)])
    with pytest.raises(SystemExit) as ended:
        cli.run_command()
    assert ended.value.code == 2
    error = capsys.readouterr().err
    assert said in error and len(error.splitlines()) == 1


@pytest.mark.parametrize("name", [
    "o_s+o_r", "rtt", "am_request_2", more("o_s"), more("rtt_2"), more("am_reply_3")])
def test_a_fit_measures_what_the_table_measures(jobs, name):
    """What a fit leaves out of a benchmark does not change the quantity."""
    from nicbed.testbench.descriptions import load
    from nicbed.testbench.machines.measured import job_for, measure

    description = load.load()
    whole, lean = (QUANTITIES[name].value(one["results"], description) for one in measure(
        [job_for(description, QUANTITIES[name], lean=lean) for lean in (False, True)]))
    assert lean == pytest.approx(whole, rel=2e-3)


@pytest.mark.full
def test_page(request):
    tables = reproduced(studies.chosen(None, long=True))
    found = markdown(tables)
    if request.config.getoption("--update"):
        PAGE.write_text(found, encoding="utf-8")
        [times] = [one for _, several in tables for one in several if one.table.name == "split-c"]
        for name, draw, shown in (("published", against, tables), ("split-c", programs, times)):
            drawn = plots.render(lambda document, figure, draw=draw, shown=shown:
                                 draw(shown, figure), {})
            (IMAGES / f"{name}.png").write_bytes(drawn[".png"])
        return
    assert PAGE.read_text(encoding="utf-8") == found, UPDATE
