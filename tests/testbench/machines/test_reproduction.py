"""``nicbed reproduce``: the command, and docs/explanation/reproduction.md. ``--full``
compares the page, ``--update`` rewrites it."""

import json
import re
import sys
import tomllib
from dataclasses import replace

import pytest
from matplotlib.figure import Figure
from nicbed.testbench import cli
from nicbed.testbench.benches.bandwidth import BandwidthResults
from nicbed.testbench.benches.common.bulk_report import (
    BulkKind,
    BulkResults,
    BulkRow,
    BusyBound,
)
from nicbed.testbench.benches.fields import plain
from nicbed.testbench.commands.reproduce import reproduced, run_reproduce
from nicbed.testbench.machines import studies
from nicbed.testbench.machines.page import PAGE, images, markdown
from nicbed.testbench.machines.plots import DRAWINGS, against
from nicbed.testbench.machines.quantities import QUANTITIES
from nicbed.testbench.machines.reproduction import Measured
from nicbed.testbench.results import plots

from tests.labs.rows import more
from tests.testbench.machines.test_studies import TABLE

IMAGES = PAGE.parents[1] / "images"
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
    assert re.search(r"predictions\s.*io-bus +round trip, 8 B +µs +\d", said, re.DOTALL)
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
    assert re.search(r"\| io-bus \| round trip, 8 B \| µs \| \d", page)


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


def test_a_page_shows_its_plots(jobs, mine):
    """But those that say what the table says."""
    [(study, [table])] = found = reproduced(studies.chosen(None))
    assert list(images(found)) == [] and "![" not in markdown(found)
    drawn = replace(table, table=replace(table.table, plots=("pairs", "polls")))
    found = [(study, [drawn])]
    assert list(images(found)) == [("reproduce-mine-t-polls", "polls", drawn)]
    assert ("![The cost of a poll against the messages that wait for it]"
            "(there/reproduce-mine-t-polls.png)") in markdown(found, "there/")


def outcome(results, **points):
    return {"results": results, "points": points, "checks": [], "clock_mhz": 2.0}


CALLS = outcome(plain(BulkResults(store_async=BulkKind(
    r_inf=1, T0=400, n_half=None, best=1, residual=0, G=None, by_size=[
        BulkRow(size, None if size > 2000 else 100 + size, None, None, False, 2 * size, 2,
                BusyBound("link", 0.5)) for size in (8, 64, 1024, 4096)]))),
    store={"T": [[8, 400], [64, 500], [4096, 9000]]})
"""Stores: o_s(n) is 100 cycles and one a byte, at 2 MHz; of the largest size it was not seen."""


def curves(name, outcomes):
    """What the plot ``name`` shows of machine m: by title, each line's name and points."""
    [table] = studies.read("mine", tomllib.loads(TABLE)).tables
    figure = Figure()
    DRAWINGS[name](Measured(table, (), (), {("m", run): one for run, one in outcomes.items()}),
                   figure)
    return {axes.get_title() or axes.get_title("left"): {
        line.get_label(): [tuple(map(float, point)) for point in zip(*line.get_data(), strict=True)]
        for line in axes.lines} for axes in figure.axes}


def test_times_of_bulk_transfers_are_drawn():
    assert curves("bulk", {"bulk": CALLS}) == {
        "T(n), a store and its reply": {"m": [(8, 200), (64, 250), (4096, 4500)]},
        "o_s(n), the call": {"m": [(8, 54), (64, 82), (1024, 562)]}}


def test_what_bounds_the_largest_transfers_is_told():
    [table] = studies.read("mine", tomllib.loads(TABLE)).tables
    assert Measured(table, (), (), {("m", "bulk"): CALLS}).findings == [
        "m: store_async of 4096 bytes in a row is bound by the link, which is busy for 50% of the "
        "time"]


def test_processor_bandwidth_is_drawn():
    points = [(size, pytest.approx(2 * size / (100 + size))) for size in (8, 64, 1024)]
    found = curves("processor", {"bulk": CALLS})
    assert found == {"Processor bandwidth, packet by packet": {"m": points},
                     "to two chunks": {"m": points}}


def test_latency_and_bandwidth_of_two_layers_are_drawn():
    found = curves("over-size", {
        "latency": outcome({"half": {"latency": {"4": 10, "1024": 90}}}),
        "latency, mpl": outcome({"half": {"latency": {"4": 30}}}),
        "bandwidth": outcome(plain(BandwidthResults(
            {"64": 0.5, "4": 0.25}, best=0.5, link=1, r_inf=1, n_half=64, residual=0, unit="")))})
    assert found == {
        "Latency: half a round trip": {"m, Active Messages": [(4, 5), (1024, 45)],
                                       "m, MPL": [(4, 15)]},
        "Bandwidth, messages in a row": {"m, Active Messages": [(4, 0.5), (64, 1)]}}


@pytest.mark.full
def test_page(request):
    tables = reproduced(studies.chosen(None, long=True))
    page = markdown(tables, "../images/")
    if request.config.getoption("--update"):
        PAGE.write_text(page, encoding="utf-8")
        drawn = [("published", against, tables),
                 *((file, DRAWINGS[name], one) for file, name, one in images(tables))]
        for file, draw, shown in drawn:
            found = plots.render(lambda document, figure, draw=draw, shown=shown:
                                 draw(shown, figure), {})
            (IMAGES / f"{file}.png").write_bytes(found[".png"])
        return
    assert PAGE.read_text(encoding="utf-8") == page, UPDATE
