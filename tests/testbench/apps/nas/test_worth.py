"""What o, g and L are worth: the arithmetic, on a lab whose kernels' time is known."""

import asyncio
import copy
import io
import json
from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace

import pytest
from nicbed import Testbed
from nicbed.host.apps.nas.kernels import get
from nicbed.host.mpi import ErrorClass, MpiError
from nicbed.layouts.description import Description
from nicbed.testbench.apps.nas import changes, extent, worth, worth_report
from nicbed.testbench.commands.options import RunOptions
from nicbed.testbench.commands.worth import run_worth
from nicbed.testbench.descriptions import load
from nicbed.testbench.errors import UserError
from nicbed.testbench.lab import apply_settings
from nicbed.testbench.results.document import plain
from nicbed.testbench.results.plots import render
from nicbed.testbench.testbed.options import Options
from rich.console import Console

from tests.labs.model import ModelLab
from tests.labs.rows import more

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
        assert parameters["iterations"] == {"EP": 0, "CG": 2, "MG": 2}[kernel.name]
        return kernel, settings

    def evaluate(run, kernel, parameters, clock):
        one = costs(run[1])
        cycles = float(100_000 + 30 * one["o"] + 7 * one["g"] + 11 * one["L"])
        if kernel.name == "MG" and one["o"] == 300:
            cycles += 1000
        ok = kernel.name != "MG" or not run[1]
        return {"results": {"cycles": 1, "slope": {"cycles": cycles}},
                "checks": [{"check": "messages", "ok": ok, "detail": "1 too few"}]}

    monkeypatch.setattr(worth, "_costs", measured)
    monkeypatch.setattr(worth, "measure", measure)
    monkeypatch.setattr(worth, "evaluate", evaluate)
    return found


def measured(lab, part):
    """The document of a part, as a file has it."""
    outcome = asyncio.run(worth.run(lab, {"part": part, "class": "S", "compute": "charged"}))
    return json.loads(json.dumps(plain(outcome)))


def whole(lab, *names):
    like = Testbed(nodes=4, store=None).program("is", **{"class": "S"})
    parts = {part: measured(lab, part) for part in (worth.COSTS, *names)}
    return worth.together(replace(like, description=lab.description), names, "S", parts)


def test_worths_and_elasticities(lab):
    outcome = whole(lab, "cg", "ep")
    assert outcome["results"]["costs"] == {"o": 200, "g": 500, "L": 100}
    base = 100_000 + 30 * 200 + 7 * 500 + 11 * 100
    for kernel in ("cg", "ep"):
        found = outcome["results"]["kernels"][kernel]
        assert found["cycles"] == base
        for name, cycles, value in (("o", 30, 200), ("g", 7, 500), ("L", 11, 100)):
            assert found[name]["worth"] == pytest.approx(cycles)
            assert found[name]["spread"] == pytest.approx(0, abs=1e-6)
            assert found[name]["elasticity"] == pytest.approx(cycles * value / base, abs=1e-6)
    assert outcome["results"]["changes"] == {
        "o": {"knobs": {"mpi.path_scale": "5"}, "moved": {"o": 200, "g": 0, "L": 0}},
        "g": {"knobs": {"link.bytes_per_cycle": "4/3"}, "moved": {"o": 0, "g": 250, "L": 0}},
        "L": {"knobs": {"link.latency": "44"}, "moved": {"o": 0, "g": 0, "L": 80}}}
    assert outcome["checks"] == [
        {"check": "each change raises its parameter", "ok": True, "detail":
         "o 1 by 100.0, g 1 by 125.0, L 1 by 40.0, o 2 by 200.0, g 2 by 250.0, L 2 by 80.0"},
        {"check": "the effects of both changes lie on a line", "ok": True, "detail": ""}]
    assert [done for _, done, _ in lab.told] == [*range(7)] * 3


def test_a_change_that_changes_nothing_is_told(lab, monkeypatch):
    monkeypatch.setitem(changes.LATENCY, "via", 0)
    outcome = whole(lab, "cg")
    assert [one["ok"] for one in outcome["checks"]] == [False, True]
    assert outcome["results"]["kernels"]["cg"]["L"] == {"worth": 0, "elasticity": 0, "spread": 0}


def test_nonlinear_effects_and_failed_checks_are_reported(lab):
    """MG takes 1,000 cycles more with the smaller change of o."""
    outcome = whole(lab, "mg")
    assert [one["check"] for one in outcome["checks"] if not one["ok"]] == [
        *(f"mg with another {name}, {size}: messages" for size in (1, 2) for name in "ogL"),
        "the effects of both changes lie on a line"]
    found = outcome["results"]["kernels"]["mg"]["o"]
    assert (found["worth"], found["spread"]) == (30, 10)
    assert outcome["checks"][-1]["detail"] == "mg: a cycle of o 30, or 10 beside it"


def test_a_parameter_below_0_has_no_elasticity():
    costs = {(): {"o": Fraction(9), "g": Fraction(9), "L": Fraction(-5)},
             **{("L", size): {"o": Fraction(9), "g": Fraction(9), "L": Fraction(5 * size)}
                for size in (1, 2)}}
    times = {"cg": {(): 100.0, ("L", 1): 120.0, ("L", 2): 130.0}}
    found = worth.summary({("L", 1): {}, ("L", 2): {}}, costs, times)
    assert found["results"]["kernels"]["cg"] == {
        "cycles": 100, "L": {"worth": 2, "spread": 0, "elasticity": None}}


CHANNELS = {"via": {}, "gm": {"nic": {"processor": "vexriscv"}, "processor": {"memory": 131072}},
            "tcp": {"nic": {"mtu": 1500}}}


def on(channel):
    return load.for_layer(Description.model_validate({
        "fabric": {"nodes": 4}, "mpi": {"channel": channel}, **CHANNELS[channel]}), "mpi")


@pytest.mark.parametrize("channel, alone", [
    ("via", {"o": 0.35, "g": 0.06, "L": 0.01}), more("gm", {"o": 1.05, "g": 0.2, "L": 0.1}),
    ("tcp", {"o": 0.2, "g": 0.15, "L": 0.02})])
def test_each_change_moves_its_parameter(monkeypatch, channel, alone):
    """On the model of the target. ``alone``: by how much of that in cycles it moves others, at
    most. Where o hides behind what the NIC does, L is as much less."""
    monkeypatch.setattr(worth, "SHORT", 8192)
    monkeypatch.setattr(worth, "LONG", 16384)
    description = on(channel)
    lab = ModelLab(description)
    base = asyncio.run(worth._costs(lab, {}))
    assert base["o"] > 0 and base["g"] > 0
    for name, knobs in changes.changes(description).items():
        found = asyncio.run(worth._costs(lab, knobs))
        moved = {one: float(found[one] - base[one]) for one in changes.PARAMETERS}
        assert moved[name] > 20
        others = [abs(by) for one, by in moved.items() if one != name]
        assert max(others) <= alone[name] * moved[name] + 2, moved


@pytest.mark.parametrize("channel", CHANNELS)
def test_changes_are_of_timing_and_grow_with_their_size(channel):
    description = on(channel)
    small, large = (changes.changes(description, size) for size in changes.SIZES)
    assert list(small) == list(large) == list(changes.PARAMETERS)
    for name in changes.PARAMETERS:
        assert small[name].keys() == large[name].keys()
        apply_settings(description, small[name])
        apply_settings(description, large[name])
        assert all(small[name][knob] != large[name][knob] for knob in small[name])


@pytest.mark.parametrize("name, count", [("ep", 0), ("is", 5), ("cg", 2), ("mg", 2), ("ft", 1),
                                         ("lu", 8), ("sp", 10), ("bt", 6)])
def test_iterations(name, count):
    assert worth.iterations(get(name)("S", 4)) == count


def documents(lab):
    one = whole(lab, "cg", "ep")
    two = {**one, "results": copy.deepcopy(one["results"])}
    two["results"]["costs"]["L"] = -1
    for kernel in two["results"]["kernels"].values():
        kernel["L"]["elasticity"] = None
    return {name: {**found, "clock_mhz": 66, "notes": [], "parameters": {"kernels": ["ep", "cg"]}}
            for name, found in (("default", one), ("tcp", two))}


@pytest.mark.parametrize("ends", [1, 2, 3, 5])
def test_an_interrupted_comparison_continues(lab, monkeypatch, tmp_path, ends):
    """Of two descriptions, each with o, g and L and two kernels; and the file is that of a run in
    one piece."""
    asked = []

    def job(bed, wanted, **_):
        part = wanted.arguments["parameters"]["part"]
        asked.append(part)
        if len(asked) == ends + 1:
            raise KeyboardInterrupt
        return measured(lab, part)

    def compare(store):
        monkeypatch.setenv("NICBED_STORE", str(tmp_path / store))
        out = tmp_path / f"{store}-files"
        run_worth(["default", "via-kernel"], "ep,cg", RunOptions(nodes=4, out=out), size="S")
        return [path.read_bytes() for path in sorted(out.glob("*.json"))]

    monkeypatch.setattr(Testbed, "job", job)
    parts = [worth.COSTS, "ep", "cg"] * 2
    with pytest.raises(KeyboardInterrupt):
        compare("one")
    assert asked == parts[:ends + 1]
    found = compare("one")
    assert asked[ends + 1:] == parts[ends:]
    assert found == compare("one") == compare("another") and len(found) == 1
    assert asked[ends + 1:] == parts[ends:] + parts


def test_the_report(lab):
    out = io.StringIO()
    console = Console(file=out, width=140, highlight=False)
    for item in worth_report.compared(documents(lab)):
        console.print(item)
    rows = [line.split() for line in out.getvalue().splitlines()]
    assert ["default", "200", "500", "100"] in rows and ["tcp", "200", "500", "-1"] in rows
    assert "default L link.latency = 44 0 (+0 %) 0 (+0 %) 80 (+80 %)".split() in rows
    assert "tcp L link.latency = 44 0 (+0 %) 0 (+0 %) 80".split() in rows
    assert "default ep 1.7 30 ± 0 7 ± 0 11 ± 0 5.42 3.16 0.99".split() in rows
    assert "tcp cg 1.7 30 ± 0 7 ± 0 11 ± 0 5.42 3.16 -".split() in rows


def test_a_worthless_parameter_has_a_spread():
    nothing = {"worth": 0, "spread": 2, "elasticity": 0}
    kernel = {"cycles": 1000, "o": nothing, "g": nothing,
              "L": {"worth": 3, "spread": 1, "elasticity": None}}
    assert worth_report._shares(kernel, {"o": 100, "g": 50, "L": -9}) == [(0, 20), (0, 10), None]


def test_the_outlook_is_of_all_kernels_and_settings():
    """Not of the one whose measurement it was made of."""
    def outlook(*names, size="A", sim="verilator", **overrides):
        bed = Testbed(options=Options([f"mpi.{key}={value}" for key, value in overrides.items()]),
                      nodes=4, sim=sim, store=None)
        like = bed.program("is", **{"class": size})
        return worth.measurements(like, names, size)[worth.COSTS].outlook

    each = sum(extent.seconds(kernel, worth.iterations(kernel))
               for kernel in (get(name)("A", 4) for name in ("is", "cg")))
    assert outlook("is", "cg") == (f"all kernels, each 7 runs: about {7 * each:,.0f} s of CPU "
                                   "time, of simulation, on the default NIC")
    assert outlook("ep", size="S") == ""
    assert outlook("is", "cg", channel="tcp") == outlook("is", sim="icarus") == ""


@pytest.mark.parametrize("names", [["default"], ["default", "tcp"], ["tcp"]])
def test_the_picture(lab, names):
    document = {name: one for name, one in documents(lab).items() if name in names}
    assert set(render(worth_report.draw_compared, document)) == {".png", ".svg"}


@pytest.mark.parametrize("part, measured, row", [
    ("cg", {"base": "3000/2", "o 1": "5/2"}, ["another", "o", "1", "2.5"]),
    (worth.COSTS, {"base": {"o": "1", "g": "3/2", "L": "-2"}},
     ["as", "it", "is", "1", "1.5", "-2"])])
def test_a_part_is_shown_too(part, measured, row):
    document = {"parameters": {"part": part}, "points": {"measured": measured}, "checks": []}
    out = io.StringIO()
    for item in worth_report.tables(document):
        Console(file=out, width=140, highlight=False).print(item)
    assert row in [line.split() for line in out.getvalue().splitlines()]
    assert set(render(worth_report.draw, document)) == {".png", ".svg"}


@pytest.mark.parametrize("failure, text", [
    (MemoryError("full"), "cg: a node's memory is full: memory.bytes = "),
    (MpiError(ErrorClass.ERR_RANK, "no such rank"), "cg: MPI_ERR_RANK: no such rank"),
])
def test_a_kernel_that_does_not_run_is_told_in_one_line(failure, text):
    class Failing(Lab):
        async def run(self, *_, **__):
            raise failure

    with pytest.raises(UserError, match=f"^{text}"):
        measured(Failing(), "cg")
