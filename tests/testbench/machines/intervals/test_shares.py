"""Shares of knobs in a figure's variance, against models whose shares are known."""

import math
import random

import pytest
from nicbed.testbench.machines.intervals.hypercube import hypercube
from nicbed.testbench.machines.intervals.shares import shares

NAMES = ["large", "small", "tiny", "idle", "other"]


def columns(points=400, seed=1):
    found = hypercube(NAMES, points, seed)
    return {name: [one[name] for one in found] for name in NAMES}


def test_shares_of_a_linear_model():
    """Variances of 9, 4 and 1 parts."""
    levels = columns()
    values = [3 * a - 2 * b + c for a, b, c in zip(levels["large"], levels["small"],
                                                   levels["tiny"], strict=True)]
    found = shares(levels, values, [1.0] * len(values))
    assert list(found.knobs)[:3] == ["large", "small", "tiny"]
    assert [found.knobs[name] for name in NAMES[:3]] == pytest.approx(
        [9 / 14, 4 / 14, 1 / 14], abs=0.06)
    assert found.rest < 0.05 and sum(found.knobs.values()) + found.rest == pytest.approx(1)


def test_a_monotonic_model_is_as_good_as_a_line():
    levels = columns()
    found = shares(levels, [math.exp(6 * one) for one in levels["large"]], [1.0] * 400)
    assert found.knobs["large"] > 0.99


def test_what_knobs_do_together_is_the_rest():
    levels = columns()
    values = [(a - 0.5) * (b - 0.5) for a, b in zip(levels["large"], levels["small"], strict=True)]
    assert shares(levels, values, [1.0] * 400).rest > 0.9


def test_chance_has_next_to_no_share():
    """Of knobs that do nothing, at few points."""
    rests, named = [], 0
    for seed in range(20):
        levels, chance = columns(40, seed), random.Random(seed)
        found = shares(levels, [chance.random() for _ in range(40)], [1.0] * 40)
        rests.append(found.rest)
        named += len(found.knobs)
    assert sum(rests) / len(rests) > 0.9 and named < 2.5 * len(rests)


def test_points_without_weight_do_not_count():
    levels = columns(100)
    weights = [float(index % 2) for index in range(100)]
    values = [one if weight else -5 * other for one, other, weight in zip(
        levels["large"], levels["small"], weights, strict=True)]
    found = shares(levels, values, weights)
    assert found.knobs["large"] > 0.95 and found.knobs.get("small", 0) < 0.02


def test_too_few_points_or_equal_values_have_no_shares():
    levels = columns(7)
    assert shares(levels, levels["large"], [1.0] * 7) is None
    assert shares(columns(40), [2.0] * 40, [1.0] * 40) is None


def test_a_knob_that_stays_has_no_share():
    levels = {**columns(40), "idle": [3.0] * 40}
    assert "idle" not in shares(levels, levels["large"], [1.0] * 40).knobs
