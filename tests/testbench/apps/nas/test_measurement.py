"""Results and reports of kernels, from runs without a target in which each thing that is computed
takes a tick."""

import io
from types import SimpleNamespace

import pytest
from nicbed.host.apps.nas.kernels import get
from nicbed.host.apps.nas.process import Process
from nicbed.layouts.description import Description
from nicbed.layouts.trace import TICKS
from nicbed.testbench.apps.nas import report
from nicbed.testbench.apps.nas.measurement import BINS, evaluate
from nicbed.testbench.results import document as files
from nicbed.testbench.results.plots import render
from nicbed.testbench.results.tables import PIPE_WIDTH
from rich.console import Console

from tests.models.mpi_world import World


def outcome(name, compute="whole", iterations=0, change=lambda answers, sent: None):
    """Parameters and outcome. ``change`` gets the answers and what was sent."""
    parameters = {"class": "S", "compute": compute, "iterations": iterations}
    kernel, world = get(name)("S", 4), World(4)

    async def program(mpi):
        process = Process(mpi, whole=compute == "whole" or kernel.by_data, most=iterations)
        answer = await kernel.run(process)
        return answer, process.sent

    results = world.run(program)
    answers, sent = [list(each) for each in zip(*results, strict=True)]
    change(answers, sent)
    run = SimpleNamespace(results=list(zip(answers, sent, strict=True)),
                          marks=[mark for mpi in world.ranks for mark in mpi.port.marks])
    return parameters, evaluate(run, kernel, parameters, 66.0)


def shown(name, parameters, found):
    document = files.build(name, "mpi", "verilator", Description(), parameters, found)
    files.text(document)  # no figure that JSON does not have
    out = io.StringIO()
    console = Console(file=out, width=PIPE_WIDTH, highlight=False)
    for item in report.tables(document):
        console.print(item)
    return document, out.getvalue()


def checks(found):
    return {one["check"]: (one["ok"], one["detail"]) for one in found["checks"]}


def test_a_whole_run():
    parameters, found = outcome("cg")
    results = found["results"]
    assert results["verification"]["verdict"] == "SUCCESSFUL"
    assert all(ok for ok, _ in checks(found).values()) and len(found["checks"]) == 3
    assert (results["iterations"], results["of"]) == (15, 15) and "slope" not in results
    ticks = [mine["computation"] * TICKS for mine in results["processes"]]
    assert max(ticks) == pytest.approx(results["cycles"] * TICKS, rel=0.01)
    assert results["seconds"] == pytest.approx(results["cycles"] / 66e6)
    assert len(found["points"]["timeline"]) == 4
    for mine, stretches in zip(ticks, found["points"]["timeline"], strict=True):
        share = sum(computation for computation, _, _ in stretches) / BINS
        assert share == pytest.approx(mine / TICKS / results["cycles"])
    _, text = shown("cg", parameters, found)
    for part in ("CG, class S, 4 processes, MPI over via",
                 "VERIFICATION SUCCESSFUL: zeta: 8.597177507865, published 8.597177507865",
                 "15 of 15 iterations", "computation", "100.0 %", "5,600", "17,472,000"):
        assert part in text


def test_a_wrong_figure_is_a_failed_check_that_says_by_how_much():
    def change(answers, sent):
        answers[0] += 1e-6

    parameters, found = outcome("cg", change=change)
    ok, detail = checks(found)["the run verifies"]
    assert not ok and "error 1.2e-07" in detail
    _, text = shown("cg", parameters, found)
    assert "VERIFICATION UNSUCCESSFUL: zeta: 8.5971785" in text


def test_of_many_wrong_figures_some_are_named():
    def change(answers, sent):
        for found, _ in answers:
            found.clear()

    parameters, found = outcome("is", change=change)
    assert "published 1, error nan" in checks(found)["the run verifies"][1]
    assert "; and 46 more" in checks(found)["the run verifies"][1]
    shown("is", parameters, found)


def test_a_message_too_few_is_found():
    def change(answers, sent):
        sent[2][next(one for one in sent[2] if one.length == 5600)] -= 1

    _, found = outcome("cg", change=change)
    ok, detail = checks(found)["messages are those of the algorithm"]
    assert not ok and detail == "rank 2: 779 of 780 by Send of 5600 B"


def test_some_iterations_tell_the_whole_runs_time():
    _, whole = outcome("cg")
    parameters, found = outcome("cg", iterations=3)
    results = found["results"]
    assert results["verification"]["verdict"] == "NOT PERFORMED"
    assert "the run verifies" not in checks(found) and results["iterations"] == 3
    assert results["slope"]["cycles"] == pytest.approx(
        whole["results"]["cycles"], rel=0.01)
    _, text = shown("cg", parameters, found)
    assert "cycles), extrapolated from 3 of 15 iterations, which took 0.0" in text
    assert "VERIFICATION NOT PERFORMED: the run is not whole" in text


@pytest.mark.parametrize("name, iterations", [("cg", 3), ("is", 2), ("ft", 1), ("mg", 2)])
def test_messages_of_some_iterations_are_told_for_all(name, iterations):
    _, whole = outcome(name)
    parameters, found = outcome(name, iterations=iterations)
    wanted = {(row["call"], row["least"]): row for row in whole["results"]["messages"]}
    rows = found["results"]["slope"]["messages"]
    if name != "is":  # else the data decide
        assert rows == whole["results"]["messages"]
    assert sum(row["messages"] for row in rows) == sum(
        row["messages"] for row in wanted.values())
    assert sum(row["bytes"] for row in rows) == pytest.approx(
        sum(row["bytes"] for row in wanted.values()), rel=1e-3)
    document, text = shown(name, parameters, found)
    assert f"extrapolated to {found['results']['of']} iterations" in text
    assert [one.value for one in report.headline(document)] == [
        found["results"]["slope"]["cycles"], sum(row["messages"] for row in rows)]


@pytest.mark.parametrize("name, iterations", [("ft", 1), ("lu", 1), ("lu", 5), ("sp", 4)])
def test_iterations_that_class_a_takes_tell_a_whole_run_of_s(name, iterations):
    _, whole = outcome(name)
    _, found = outcome(name, iterations=iterations)
    # Each thing that is computed takes a tick: a norm at the end, too.
    assert found["results"]["slope"]["cycles"] == pytest.approx(
        whole["results"]["cycles"], rel=1e-3)
    assert len(found["points"]["iterations"]) == iterations
    assert found["points"]["iterations"] == whole["points"]["iterations"][:iterations]


@pytest.mark.parametrize("name, verdict, line", [
    ("mg", "NOT PERFORMED", "computation is charged by the number of data, and not done"),
    ("is", "SUCCESSFUL", "computation is done, although it was to be charged alone")])
def test_charged_computation_is_said(name, verdict, line):
    parameters, found = outcome(name, compute="charged")
    assert found["results"]["verification"]["verdict"] == verdict
    assert line in shown(name, parameters, found)[1]


def test_the_picture():
    parameters, found = outcome("mg")
    document, _ = shown("mg", parameters, found)
    first = render(report.draw, document)
    assert set(first) == {".png", ".svg"} and first == render(report.draw, document)
