"""Parameters that have a figure each: few runs, the nearest point of the grid, and its slope."""

import numpy as np
import pytest
from nicbed.testbench.machines.apart import search_apart
from nicbed.testbench.machines.lattice import ROUNDS
from nicbed.testbench.machines.sharpness import sharpness

COUNTS = (300, 350, 200)
ZEROS = (-100.0, -50.0, 12.5)


def lines(true, rates, constants, ripple=0.0):
    """Residuals of times that are lines over the knob, which is 0 at ZEROS, with a ripple of
    ``ripple`` of the figure; and the points that were measured."""
    seen = []

    def time(j, index):
        wave = ripple * np.sin(17.0 * index + j)
        return (constants[j] + rates[j] * (index - ZEROS[j])) * (1 + wave)

    def residuals(points):
        seen.extend(points)
        published = [constants[j] + rates[j] * (true[j] - ZEROS[j]) for j in range(len(true))]
        return [[time(j, index) / published[j] - 1 for j, index in enumerate(point)]
                for point in points]

    return residuals, seen


@pytest.mark.parametrize("true", [(99, 149, 180), (0, 350, 20), (150, 175, 100), (151, 174, 99)])
@pytest.mark.parametrize("constants", [(0, 0, 0), (30, 90, 400)])
def test_a_line_takes_three_runs(true, constants):
    """Two if the figure is proportional to the knob, and one more for those that are not; the last
    one is the result, so that a reproduction finds its run."""
    residuals, seen = lines(true, (2, 3, 5), constants)
    found, jacobian = search_apart(COUNTS, ZEROS, residuals)
    assert found.point == true and max(map(abs, found.residuals)) < 1e-12
    assert found.measured == len(seen) <= 3
    if not any(constants) and true != seen[0]:
        assert len(seen) == 2
    assert np.count_nonzero(jacobian - np.diag(np.diag(jacobian))) == 0
    for j, slope in enumerate(np.diag(jacobian)):
        figure = constants[j] + (2, 3, 5)[j] * (true[j] - ZEROS[j])
        assert slope == pytest.approx((2, 3, 5)[j] * COUNTS[j] / figure)


@pytest.mark.parametrize("seed", range(8))
def test_a_ripple_costs_a_few_runs_more(seed):
    rng = np.random.default_rng(seed)
    true = tuple(int(rng.integers(20, count)) for count in COUNTS)
    residuals, seen = lines(true, (2, 3, 5), tuple(rng.uniform(0, 300, 3)), ripple=0.003)
    found, _ = search_apart(COUNTS, ZEROS, residuals)
    assert max(map(abs, found.residuals)) < 0.01 and len(seen) <= 9
    again, _ = search_apart(COUNTS, ZEROS, residuals)
    assert again == found


def test_a_figure_out_of_reach_ends_at_the_bound():
    residuals, seen = lines((500, -40, 90), (2, 3, 5), (30, 90, 400))
    found, _ = search_apart(COUNTS, ZEROS, residuals)
    assert found.point == (300, 0, 90) and len(seen) < ROUNDS


def test_a_figure_that_falls_with_the_knob_is_found():
    """The first guess is wrong by more than the middle was."""
    residuals, _ = lines((40, 300, 30), (-2, -1, -3), (900, 700, 900))
    assert search_apart(COUNTS, ZEROS, residuals)[0].point == (40, 300, 30)


def test_a_knob_without_effect_has_no_slope():
    residuals, seen = lines((10, 20, 30), (2, 0, 5), (30, 90, 400))
    found, jacobian = search_apart(COUNTS, ZEROS, residuals)
    assert sharpness(jacobian).idle == (1,) and len(seen) < ROUNDS
    assert (found.point[0], found.point[2]) == (10, 30)
