"""Figures of programs over Split-C: times on a line through two runs, and what the runs are."""

import asyncio
import tomllib
from fractions import Fraction

import pytest
from matplotlib.figure import Figure
from nicbed.testbench import apps
from nicbed.testbench.descriptions import load
from nicbed.testbench.machines import plots, studies
from nicbed.testbench.machines.measured import LONGEST, in_simulator, job_for, measure
from nicbed.testbench.machines.programs import FULL, KEYS, RATES, extrapolated, shares
from nicbed.testbench.machines.quantities import QUANTITIES, Quantity
from nicbed.testbench.machines.reproduction import Measured, Row

from tests.labs.model import ModelLab

PROGRAMS = [one for one in QUANTITIES.values() if one.bench in apps.APPS]


def runs(cycles, sizes):
    """Results of sorts of ``sizes`` keys a process that took ``cycles``."""
    return {"runs": [{"parameters": {"keys": keys}, "cycles": one}
                     for keys, one in zip(sizes, cycles, strict=True)]}


@pytest.mark.parametrize("sizes", [*KEYS.values(), (32768, 65536), (1000, 7000)])
def test_a_linear_time_is_extrapolated_exactly(sizes):
    """Also one with a part that no key takes, and with a fraction of a cycle."""
    found = extrapolated(runs([1234.5 + 7.25 * keys for keys in sizes], sizes))
    assert found == Fraction("1234.5") + Fraction("7.25") * FULL


def test_a_time_that_is_not_linear_is_seen_at_other_sizes():
    """Two pairs of sizes agree only if time grows in proportion to the keys: with a quadratic part
    of 1 % at 16 K keys they differ."""
    def time(keys):
        return 100 * keys + keys * keys / 16384
    fewer, more = (float(extrapolated(runs(list(map(time, sizes)), sizes)))
                   for sizes in (KEYS["lg"], (32768, 65536)))
    assert more / fewer > 1.03


def test_the_slope_counts():
    """Not the mean time of a key, which would be wrong by the part that no key takes."""
    sizes = KEYS["sm"]
    low, high = (10_000 + 3 * keys for keys in sizes)
    assert extrapolated(runs([low, high], sizes)) == 10_000 + 3 * FULL
    assert extrapolated(runs([low, high + 1], sizes)) > 10_000 + 3 * FULL


def test_the_programs_are_those_of_the_study():
    found = {one.name: (one.bench, one.parameters["runs"]) for one in PROGRAMS}
    assert found["mm 128"] == ("mm", [{"blocks": 4, "block": 128}])
    assert found["mm 16"] == ("mm", [{"blocks": 16, "block": 16}])
    for name, program in (("smpsort", "sample-sort"), ("rdxsort", "radix-sort")):
        for size, variant in (("small", "sm"), ("large", "lg")):
            assert found.pop(f"{name}, {size} messages") == (
                program, [{"variant": variant, "keys": keys} for keys in KEYS[variant]])
    assert set(found) == {"mm 128", "mm 16"} and FULL == 4 << 20 >> 3
    assert set(RATES) == {name for name, app in apps.APPS.items() if app.layer != "mpi"}


@pytest.mark.parametrize("wanted", PROGRAMS, ids=lambda one: one.name)
def test_a_run_does_not_depend_on_the_rates_of_other_programs(wanted):
    """So a fit of three rates runs each program as often as its own rate changes."""
    def job(knob, value):
        return job_for(load.load("cm5", [f"apps.{knob}={value}"]), wanted)
    [own] = RATES[wanted.bench]
    assert job(own, 3) != job(own, 4) and job(own, 3).description.fabric.nodes == 8
    for other in {rate for rates in RATES.values() for rate in rates} - {own}:
        assert job(other, 3).parts() == job(other, 4).parts()


def small(program, several):
    return Quantity("x", "s", "x", program, lambda results: results["runs"][-1]["cycles"],
                    {"runs": several})


def test_programs_run_as_nicbed_app_runs_them(jobs):
    """Over the functional model; answers and counts of messages are checked."""
    description = load.load("default", ["fabric.nodes=8", "apps.poll_interval=10000"])
    wanted = small("sample-sort", [{"variant": "sm", "keys": keys} for keys in (64, 128)])
    [found] = measure([job_for(description, wanted)])
    assert [one["parameters"]["keys"] for one in found["results"]["runs"]] == [64, 128]
    assert all(one["answer"] == f"the {8 * keys} keys are in numpy's order" for one, keys in
               zip(found["results"]["runs"], (64, 128), strict=True))
    assert len(found["checks"]) >= 6 and all(one["ok"] for one in found["checks"])
    cycles = found["results"]["runs"][1]["cycles"]
    assert wanted.value(found["results"], description) == pytest.approx(
        cycles / float(description.nic.clock_mhz) / 1e6)
    said = shares(found["results"])
    assert said.startswith("computation ") and said.endswith("512 K by their slope")
    parts = [int(part.split()[-1].rstrip("%")) for part in said.split(", ")[:4]]
    assert 97 <= sum(parts) <= 103


def test_a_program_may_run_longer_than_a_benchmark():
    """Four seconds of 60 MHz are more than the usual limit of a run."""
    limits = []

    class Lab(ModelLab):
        async def run(self, programs, **options):
            limits.append(options.get("limit"))
            return await super().run(programs, **options)

    lab = Lab(load.load("default", ["fabric.nodes=8"]))
    runs = {"runs": [{"variant": "lg", "keys": 64, "seed": 1}]}
    asyncio.run(in_simulator(lab, [({}, "sample-sort", "am", runs),
                                   ({}, "rtt", "am", {"words": [1]})]))
    assert limits[0] == LONGEST > 4.5 * 60e6 and set(limits[1:]) == {None}


def split_c(seconds):
    """Two programs on two machines, ours of ``seconds``; one machine is not measured."""
    table = """
title = "Programs"
source = "Here"
[t]
title = "Times"
plots = ["programs"]
long = true
[t.cm5]
"mm 128" = { published = 4.6, use = "fit" }
"mm 16" = { published = 0.9 }
[t.unet-atm]
needs = "time"
"mm 128" = { published = 4.4, unit = "s", use = "fit" }
"""
    [found] = studies.read("mine", tomllib.loads(table)).tables
    part = {"computation": {"cycles": 60, "messages": 5, "waiting": 0},
            "communication": {"cycles": 40, "messages": 10, "waiting": 20}}
    outcome = {"results": {"runs": [{"processes": [part] * 8}]}, "checks": [], "clock_mhz": 33.0}
    rows = tuple(Row(one, None if one.needs else seconds) for one in found.figures)
    return Measured(found, rows, (), {("cm5", one): outcome for one in ("mm 128", "mm 16")})


def test_the_bars_of_programs():
    """Ours is as high as the time, of which 45 of 100 are communication and messages."""
    figure = Figure()
    plots.programs(split_c(2.0), figure)
    assert [axes.get_title() or axes.get_title("left") for axes in figure.axes] == [
        "mm 128 (fit)", "mm 16"]
    for axes, published in zip(figure.axes, ([4.6, 4.4], [0.9]), strict=True):
        bars = [(round(bar.get_x() + bar.get_width() / 2, 3), bar.get_height()) for bar in
                axes.patches]
        assert [height for _, height in bars if height in published] == published
        ours = [height for at, height in bars if at == 0.2]
        assert ours == pytest.approx([1.1, 0.9]) and sum(ours) == pytest.approx(2.0)


def test_long_tables_are_measured_by_name_or_on_demand():
    for wanted, name in ((None, None), ("sp2", None), ("sp2/split-c", "split-c")):
        there, all_ = ([table.name for _, tables in studies.chosen(wanted, long=long)
                        for table in tables] for long in (False, True))
        assert ("split-c" in there) == (name is not None) and "split-c" in all_


def test_published_against_ours():
    """A mark for each figure that was measured, fit and test apart."""
    study = studies.read("mine", {"title": "", "source": ""})
    figure = Figure()
    plots.against([(study, [split_c(2.0)])], figure)
    [axes] = figure.axes
    lines = {line.get_label(): list(zip(*line.get_data(), strict=True)) for line in axes.lines}
    assert lines["mine, fit (1)"] == [(4.6, 2.0)] and lines["mine, test (1)"] == [(0.9, 2.0)]
