"""Fitted knobs chosen again at each point, on models whose answer is known."""

import numpy as np
import pytest
from nicbed.testbench.machines.intervals.refit import STEPS, refitted

COUNTS = [1000, 400]
START = (300, 100)
SLOPES = np.array([[2.0, 0.1], [0.4, 1.5]])


def model(case, point):
    """Two figures that bend a little, by the case's offsets."""
    one, other = point[0] / 1000, point[1] / 400
    return [0.1 * case + 2 * (one - 0.3) + 0.1 * (other - 0.25) + 0.2 * (one - 0.3) ** 2,
            -0.1 * case + 0.4 * (one - 0.3) + 1.5 * (other - 0.25)]


def met(row):
    return all(abs(one) <= 0.002 for one in row)


def run(cases, figures=model, counts=COUNTS, slopes=SLOPES, start=START):
    asked = []

    def residuals(places):
        asked.append(list(places))
        return [figures(case, point) for case, point in places]

    return refitted(cases, start, counts, slopes, residuals, met), asked


def test_a_case_that_fits_is_left_as_it_is():
    [found], asked = run(1)
    assert found.point == START and len(asked) == 1


@pytest.mark.parametrize("case", [0, 1, 2])
def test_each_case_meets_its_figures(case):
    found, asked = run(3)
    assert met(found[case].residuals) and found[case].residuals == tuple(
        model(case, found[case].point))
    assert len(asked) <= STEPS + 1


def test_slopes_that_are_wrong_are_corrected():
    found, _ = run(3, slopes=SLOPES * 0.52)
    assert all(one.cost < 1e-4 for one in found)


def test_a_case_that_the_bounds_exclude_keeps_its_best():
    [_, found], _ = run(2, lambda case, point: [2 * (point[0] / 1000 - 0.3) + 9 * case, 0.0])
    assert found.point[0] == 0 and found.residuals[0] == pytest.approx(8.4)


def test_cases_do_not_depend_on_each_other():
    """So a part of the points can be measured again by itself."""
    assert run(3)[0][:2] == run(2)[0]


def test_without_fitted_knobs_a_case_is_measured_once():
    found, asked = run(2, lambda case, point: [0.5], [], np.zeros((1, 0)), ())
    assert [one.residuals for one in found] == [(0.5,), (0.5,)] and len(asked) == 1
