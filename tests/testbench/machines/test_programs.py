"""Figures of programs over Split-C: times on a line through two runs, and what the runs are."""

from fractions import Fraction

import pytest
from nicbed.testbench import apps
from nicbed.testbench.descriptions import load
from nicbed.testbench.machines.measured import job_for, measure
from nicbed.testbench.machines.programs import FULL, KEYS, RATES, extrapolated, shares
from nicbed.testbench.machines.quantities import QUANTITIES, Quantity

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
    assert set(RATES) == set(apps.APPS)


@pytest.mark.parametrize("wanted", PROGRAMS, ids=lambda one: one.name)
def test_a_run_does_not_depend_on_the_rates_of_other_programs(wanted):
    """So a fit of three rates runs each program as often as its own rate changes."""
    def job(knob, value):
        return job_for(load.load("cm5", [f"apps.{knob}={value}"]), wanted)
    own = RATES[wanted.bench]
    assert job(own, 3) != job(own, 4) and job(own, 3).description.fabric.nodes == 8
    for other in set(RATES.values()) - {own}:
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
