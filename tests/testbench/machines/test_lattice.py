"""Least squares over knobs with steps, and what figures say of their parameters."""

import numpy as np
import pytest
from nicbed.testbench.machines.lattice import search, slopes
from nicbed.testbench.machines.sharpness import ERROR, sharpness


def residuals_of(model, true):
    published = np.array(model(*true), dtype=float)
    return lambda points: [list(np.array(model(*point), dtype=float) / published - 1)
                           for point in points]


def mixed(a, b, c):
    return 10 + 2 * a + b / 2, 40 + 3 * b + a + c / 10, 5 + 7 * c / 100 + a * b / 2000


@pytest.mark.parametrize("true", [(37, 91, 412), (0, 200, 0), (200, 0, 1000), (100, 100, 500)])
def test_a_point_is_found_again(true):
    counts = (200, 200, 1000)
    found = search(counts, residuals_of(mixed, true))
    assert found.point == true and found.cost == 0
    assert found.measured < 200


@pytest.mark.parametrize("seed", range(6))
def test_no_neighbour_of_the_result_is_better(seed):
    """Rounding each knob of the continuous optimum alone would miss points."""
    rng = np.random.default_rng(seed)
    first = rng.uniform(1, 9, 3)
    matrix = np.stack([first, first * rng.uniform(0.6, 1.4, 3)], axis=1)  # almost alike
    wanted = matrix @ rng.uniform(5, 35, 2) + 3

    def residuals(points):
        return [list((matrix @ np.array(point) + 3) / wanted - 1) for point in points]

    found = search((40, 40), residuals)
    around = [(a, b) for a in range(41) for b in range(41)
              if max(abs(a - found.point[0]), abs(b - found.point[1])) == 1]
    assert min(sum(one * one for one in row) for row in residuals(around)) >= found.cost


def test_the_search_measures_no_point_twice_and_always_the_same():
    seen = []

    def residuals(points):
        seen.append(list(points))
        return residuals_of(mixed, (37, 91, 412))(points)

    search((200, 200, 1000), residuals)
    first = list(seen)
    flat = [point for batch in first for point in batch]
    assert len(flat) == len(set(flat))
    seen.clear()
    search((200, 200, 1000), residuals)
    assert seen == first


def test_parameters_with_the_same_effect_cannot_be_told_apart():
    residuals = residuals_of(lambda a, b, c: (10 + 2 * a + 4 * b, 20 + a + 2 * b + c, 5 + c),
                             (20, 30, 7))
    found = sharpness(slopes((20, 30, 7), (100, 100, 100), residuals))
    assert found.alike == ((0, 1),)
    assert found.spread[0] is None and found.spread[1] is None
    assert found.spread[2] is not None and not found.idle
    told = sharpness(slopes((20, 30, 7), (100, 100, 100), residuals_of(
        lambda a, b, c: (10 + 2 * a + 4 * b, 20 + a - 2 * b + c, 5 + c), (20, 30, 7))))
    assert told.alike == () and None not in told.spread


def test_one_figure_tells_no_two_parameters_apart():
    residuals = residuals_of(lambda a, b: (10 + 2 * a + b,), (20, 30))
    assert sharpness(slopes((20, 30), (100, 100), residuals)).alike == ((0, 1),)


def test_a_parameter_without_effect_is_named():
    residuals = residuals_of(lambda a, b: (10 + 2 * a, 3 + a), (20, 30))
    found = sharpness(slopes((20, 30), (100, 100), residuals))
    assert found.idle == (1,) and found.spread[1] is None


def test_the_error_of_a_parameter_is_that_of_its_figure():
    """A figure of 50 that grows by 2 for each step is known to 1 %, so the parameter to 1/4."""
    residuals = residuals_of(lambda a: (10 + 2 * a,), (20,))
    [spread] = sharpness(slopes((20,), (100,), residuals)).spread
    assert spread == pytest.approx(ERROR * 50 / 2 / 100)
