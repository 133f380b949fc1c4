"""What o, g and L are worth: the arithmetic, on a lab whose kernels' time is known."""

import asyncio
import io
from fractions import Fraction
from types import SimpleNamespace

import pytest
from nicbed.host.apps.nas.kernels import get
from nicbed.host.mpi import ErrorClass, MpiError
from nicbed.layouts.description import Description
from nicbed.testbench.apps.nas import worth, worth_report
from nicbed.testbench.descriptions import load
from nicbed.testbench.errors import UserError
from nicbed.testbench.lab import apply_settings
from nicbed.testbench.report.plots import render
from rich.console import Console

from tests.labs.model import ModelLab

BASE = {"o": Fraction(200), "g": Fraction(500), "L": Fraction(100)}


class Lab:
    """A message's o is 200 cycles, and 50 more with each unit of mpi.path_scale; g follows the
    link's rate, and L its latency."""

    description = Description.model_validate({"fabric": {"nodes": 4}})
    account = SimpleNamespace(checks=list)

    def __init__(self):
        self.told = []

    def progress(self, *step):
        self.told.append(step)

    async def run(self, *_, **__):
        raise AssertionError("nothing runs")


@pytest.fixture
def lab(monkeypatch):
    found = Lab()

    def costs(knobs):
        description = apply_settings(found.description, knobs)
        base = found.description
        return {"o": BASE["o"] + 50 * (description.mpi.path_scale - base.mpi.path_scale),
                "g": BASE["g"] * base.link.bytes_per_cycle / description.link.bytes_per_cycle,
                "L": BASE["L"] + 2 * (description.link.latency - base.link.latency)}

    async def measured(lab, knobs):
        return costs(knobs)

    async def measure(lab, kernel, parameters, settings):
        assert parameters["compute"] == "charged"
        assert parameters["iterations"] == (0 if kernel.name == "EP" else 2)
        return kernel, settings

    def evaluate(run, kernel, parameters, clock):
        one = costs(run[1])
        cycles = float(100_000 + 30 * one["o"] + 7 * one["g"] + 11 * one["L"])
        ok = kernel.name != "MG" or not run[1]
        return {"results": {"cycles": 1, "slope": {"cycles": cycles}},
                "checks": [{"check": "messages", "ok": ok, "detail": "1 too few"}]}

    monkeypatch.setattr(worth, "_costs", measured)
    monkeypatch.setattr(worth, "measure", measure)
    monkeypatch.setattr(worth, "evaluate", evaluate)
    return found


def test_worths_and_elasticities(lab):
    outcome = asyncio.run(worth.run(lab, worth.parameters(["cg", "ep"], "S")))
    assert outcome["results"]["costs"] == {"o": 200, "g": 500, "L": 100}
    whole = 100_000 + 30 * 200 + 7 * 500 + 11 * 100
    for kernel in ("cg", "ep"):
        found = outcome["results"]["kernels"][kernel]
        assert found["cycles"] == whole
        for name, cycles, value in (("o", 30, 200), ("g", 7, 500), ("L", 11, 100)):
            assert found[name]["worth"] == pytest.approx(cycles)
            assert found[name]["elasticity"] == pytest.approx(cycles * value / whole, abs=1e-6)
    assert outcome["checks"] == [{"check": "each change raises its parameter", "ok": True,
                                  "detail": "o by 50.0, g by 125.0, L by 40.0"}]
    assert [done for _, done, _ in lab.told] == list(range(12))


def test_a_change_that_changes_nothing_is_told(lab, monkeypatch):
    monkeypatch.setattr(worth, "LATENCY", 0)
    outcome = asyncio.run(worth.run(lab, worth.parameters(["cg"], "S")))
    assert not outcome["checks"][-1]["ok"]
    assert outcome["results"]["kernels"]["cg"]["L"] == {"worth": 0, "elasticity": 0}


def test_checks_that_fail_in_a_run_are_told(lab):
    outcome = asyncio.run(worth.run(lab, worth.parameters(["mg"], "S")))
    assert [one["check"] for one in outcome["checks"] if not one["ok"]] == [
        f"mg with another {name}: messages" for name in "ogL"]


def test_costs_of_a_message(monkeypatch):
    """On the model of the target: each knob moves its parameter, and L by no more than it says."""
    monkeypatch.setattr(worth, "SHORT", 2048)
    monkeypatch.setattr(worth, "LONG", 4096)
    description = load.for_layer(Lab.description, "mpi")
    lab = ModelLab(description)
    base = asyncio.run(worth._costs(lab, {}))
    assert all(base[name] > 0 for name in worth.PARAMETERS)
    moved = {name: asyncio.run(worth._costs(lab, knobs))[name] - base[name]
             for name, knobs in worth.changes(description).items()}
    assert moved["o"] > 50 and moved["g"] > 0
    assert abs(moved["L"] - 2 * worth.LATENCY) <= 2


@pytest.mark.parametrize("name, count", [("ep", 0), ("is", 2), ("mg", 2), ("lu", 5), ("sp", 10)])
def test_iterations(name, count):
    assert worth.iterations(get(name)("S", 4)) == count


def test_each_knob_changes_alone_and_slows():
    description = Lab.description
    for name, knobs in worth.changes(description).items():
        assert len(knobs) == 1
        apply_settings(description, knobs)
        assert name in worth.PARAMETERS


def test_the_report(lab):
    one = asyncio.run(worth.run(lab, worth.parameters(["cg", "ep"], "S")))
    document = {name: {**one, "clock_mhz": 66, "notes": [], "parameters": {"kernels": ["ep", "cg"]}}
                for name in ("default", "gm")}
    out = io.StringIO()
    console = Console(file=out, width=140, highlight=False)
    for item in worth_report.compared(document):
        console.print(item)
    rows = [line.split() for line in out.getvalue().splitlines()]
    assert ["default", "200", "500", "100"] in rows and ["gm", "200", "500", "100"] in rows
    assert [row[1] for row in rows if "1.7" in row] == ["ep", "cg"] * 2
    assert ["gm", "ep", "1.7", "30", "7", "11", "5.42", "3.16", "0.99"] in rows
    assert set(render(worth_report.draw_compared, document)) == {".png", ".svg"}


@pytest.mark.parametrize("failure, text", [
    (MemoryError("full"), "cg: a node's memory is full: memory.bytes = "),
    (MpiError(ErrorClass.ERR_RANK, "no such rank"), "cg: MPI_ERR_RANK: no such rank"),
])
def test_a_kernel_that_does_not_run_is_told_in_one_line(monkeypatch, failure, text):
    async def costs(lab, knobs):
        return dict(BASE)

    class Failing(Lab):
        async def run(self, *_, **__):
            raise failure

    monkeypatch.setattr(worth, "_costs", costs)
    with pytest.raises(UserError, match=f"^{text}"):
        asyncio.run(worth.run(Failing(), worth.parameters(["cg"], "S")))
