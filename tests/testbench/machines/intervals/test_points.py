"""The points of a Latin hypercube, their weights, and quantiles by weight."""

import math
import random

import numpy as np
import pytest
from nicbed.testbench.machines.intervals.hypercube import hypercube
from nicbed.testbench.machines.intervals.weighting import (
    GRAIN,
    KEPT,
    effective,
    interval,
    quantile,
    tolerance,
    weight,
)

NAMES = ["bus.pio_read", "cpu.call", "memory.latency"]


@pytest.mark.parametrize("points", [1, 8, 40, 97])
def test_each_part_of_each_dimension_has_one_point(points):
    found = hypercube(NAMES, points, 1)
    for name in NAMES:
        assert sorted(int(one[name] * points) for one in found) == list(range(points))


def test_a_seed_gives_the_same_points_and_another_seed_others():
    assert hypercube(NAMES, 20, 3) == hypercube(NAMES, 20, 3) != hypercube(NAMES, 20, 4)


def test_points_are_the_same_with_every_version():
    [first, *_] = hypercube(["cpu.call"], 8, 1)
    assert first["cpu.call"] == pytest.approx(0.26424, abs=1e-5)


def test_a_dimension_more_leaves_the_others():
    fewer = hypercube(NAMES[:2], 16, 1)
    assert fewer == [{name: one[name] for name in NAMES[:2]} for one in hypercube(NAMES, 16, 1)]


def test_dimensions_do_not_follow_each_other():
    found = hypercube([f"knob {index}" for index in range(8)], 200, 1)
    columns = np.corrcoef([[one[name] for one in found] for name in found[0]])
    assert np.abs(columns - np.eye(8)).max() < 0.25


def test_rounding_is_the_tolerance_unless_a_poll_is_coarser():
    assert tolerance(1.4, 0.05) == pytest.approx(0.05 / 1.4)
    assert tolerance(19.9, 0.05) == GRAIN


def test_a_point_within_rounding_weighs_one_and_far_beyond_it_nothing():
    assert weight([0.02, -0.01], [0.02, 0.01]) == 1
    assert weight([], []) == 1
    assert weight([0.04], [0.02]) == pytest.approx(math.exp(-1 / 2))
    assert weight([0.04, -0.02], [0.02, 0.01]) == pytest.approx(math.exp(-1))
    assert weight([0.0, 0.05], [0.02, 0.01]) == 0
    edge = 0.02 * (1 + math.sqrt(-2 * math.log(KEPT)))
    assert weight([edge * 0.999], [0.02]) >= KEPT and weight([edge * 1.001], [0.02]) == 0


def test_effective_points():
    assert effective([]) == effective([0.0]) == 0
    assert effective([1] * 7 + [0] * 3) == pytest.approx(7)
    assert effective([1, 0.01]) == pytest.approx(1.02, abs=1e-3)


@pytest.mark.parametrize("seed", range(5))
def test_quantiles_are_those_of_numpy_for_equal_weights(seed):
    values = [random.Random(seed).gauss(10, 3) for _ in range(5 + 7 * seed)]
    for share in (0, 0.05, 0.3, 0.5, 0.95, 1):
        assert quantile(values, [0.7] * len(values), share) == pytest.approx(
            float(np.quantile(values, share, method="hazen")))


def test_a_point_without_weight_is_not_there():
    assert interval([1, 2, 3, 900], [1, 1, 1, 0]) == interval([1, 2, 3], [1, 1, 1])
    assert quantile([1, 2, 50], [1, 1, 100], 0.5) == pytest.approx(50, rel=0.05)


def test_an_interval_holds_nine_tenths():
    values = [float(one) for one in range(1001)]
    low, high = interval(values, [1.0] * 1001)
    assert low == pytest.approx(50, abs=1) and high == pytest.approx(950, abs=1)
