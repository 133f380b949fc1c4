"""The report of a program: a column for each process, or least, mean and most; a bar for each."""

import io

import pytest
from nicbed.testbench.apps import report
from nicbed.testbench.results.document import plain
from nicbed.testbench.results.plots import render
from nicbed.testbench.results.tables import PIPE_WIDTH, checks
from rich.console import Console

from tests.programs.apps import run_app


def document(nodes):
    found = run_app("mm", nodes, {"blocks": 2, "block": 8})
    return plain({**found.outcome, "clock_mhz": 66, "notes": [], "benchmark": "mm",
                  "parameters": found.parameters})


def shown(document):
    out = io.StringIO()
    console = Console(file=out, width=140, highlight=False)
    for item in report.tables(document):
        console.print(item)
    return out.getvalue().splitlines()


def row(lines, name):
    return next(line for line in lines if line.strip().startswith(name)).split()


@pytest.mark.parametrize("nodes", [2, 9])
def test_rows_are_the_results(nodes):
    made = document(nodes)
    lines, processes = shown(made), made["results"]["processes"]
    values = [one["computation"]["cycles"] / 66000 for one in processes]
    if nodes > 8:
        assert row(lines, "phase")[2:] == ["least", "mean", "most"]
        values = [min(values), sum(values) / nodes, max(values)]
    else:
        assert row(lines, "phase")[2:] == ["0", "1"]
    assert row(lines, "all computation")[3:] == [f"{value:.3f}" for value in values]
    counts = made["results"]["messages"]
    total = sum(one["messages"] for one in counts.values())
    last = [line.split() for line in lines if line.strip().startswith("all ")][-1]
    assert last[1] == str(total)
    assert any(line.startswith("answer: all 4 blocks") for line in lines)
    assert checks(made["checks"]) == ["checks: all 3 hold"]
    figures = {one.name: one for one in report.headline(made)}
    assert figures["time"].value == made["results"]["cycles"]
    assert figures["messages"].value == total and figures["messages"].unit == "messages"
    for phase in made["results"]["phases"]:
        assert figures[phase["name"]].value == sum(phase["cycles"]) / nodes


@pytest.mark.parametrize(("milliseconds", "text"), [
    (99.9994, "99.999"), (99.9996, "100.0"), (999.94, "999.9"), (999.96, "1,000"),
    (99_999, "99,999")])
def test_eight_processes_fit_in_a_pipe(milliseconds, text):
    made = document(8)
    for phase in made["results"]["phases"]:
        phase["cycles"] = [66_000 * milliseconds] * 8
    out = io.StringIO()
    console = Console(file=out, width=PIPE_WIDTH, highlight=False)
    for item in report.tables(made):
        console.print(item)
    assert out.getvalue().count(f" {text}") == 8 * len(made["results"]["phases"])
    assert row(out.getvalue().splitlines(), "multiply")[1] == "computation"
    assert row(out.getvalue().splitlines(), "fetch")[1] == "communication"


def test_a_process_without_messages_has_a_bar_too():
    made = document(9)
    assert made["results"]["processes"][8]["computation"]["cycles"] == 0
    assert set(render(report.draw, made)) == {".png", ".svg"}


@pytest.mark.parametrize("nodes", [3, 9])
def test_messages_by_process(nodes):
    """All leave the node over Active Messages; here the first process keeps some."""
    found = run_app("em3d", nodes, {"vertices": 8})
    made = plain({**found.outcome, "clock_mhz": 66, "notes": [], "benchmark": "em3d",
                  "parameters": found.parameters})
    traffic = made["results"]["traffic"]
    whole = traffic[0]["off"]
    traffic[0] = {"off": whole // 4, "within": whole - whole // 4}
    lines = shown(made)
    values = [one["off"] for one in traffic]
    first = 3 if nodes > 8 else nodes
    shown_ = [min(values), sum(values) / nodes, max(values)] if nodes > 8 else values
    assert [float(one) for one in row(lines, "off its node")[3:3 + first]] == pytest.approx(
        shown_, abs=0.51)
    assert float(row(lines, "within its node")[-1]) == pytest.approx(
        traffic[0]["within"] / nodes, abs=0.06)
    every = 100 * traffic[0]["within"] / sum(one["off"] + one["within"] for one in traffic)
    assert float(row(lines, "of them within")[-1]) == pytest.approx(every, abs=0.06)
    assert set(render(report.draw, made)) == {".png", ".svg"}
