"""Measures how sharply figures fix parameters: the singular values of the scaled Jacobian.

The Jacobian has a row for each figure and a column for each parameter, as the relative change of
the figure over the parameter's whole range. A small singular value is a combination of parameters
that changes no figure much.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

__all__ = ["ALIKE", "ERROR", "Sharpness", "sharpness"]

ALIKE = 0.03
"""Parameters whose effects, each scaled to length 1, span a direction shorter than this have the
same effect on all figures."""
ERROR = 0.01
"""Relative error of the figures for which parameters' errors are given."""
NOTHING = 1e-9


@dataclass(frozen=True)
class Sharpness:
    """Singular values, the largest first; for each parameter the part of its range by which it
    changes if the figures change by ERROR, or None if nothing fixes it alone; pairs of parameters
    that the figures cannot tell apart; parameters on which no figure depends."""

    singular: tuple[float, ...]
    spread: tuple[float | None, ...]
    alike: tuple[tuple[int, int], ...]
    idle: tuple[int, ...]


def sharpness(jacobian: np.ndarray) -> Sharpness:
    """The sharpness that ``jacobian`` says."""
    _, singular, rows = np.linalg.svd(jacobian, full_matrices=False)
    lengths = np.linalg.norm(jacobian, axis=0)
    idle = [index for index, length in enumerate(lengths) if length < NOTHING]
    moving = [index for index in range(len(lengths)) if index not in idle]
    alike = _alike(jacobian[:, moving] / lengths[moving], moving)
    least = max(float(singular[0]), NOTHING) * NOTHING
    loose = {*idle, *(index for pair in alike for index in pair)}
    for row, value in zip(rows, singular, strict=True):
        if value <= least:
            loose |= {index for index, part in enumerate(row) if abs(part) > ALIKE}
    spread: list[float | None] = []
    for index in range(jacobian.shape[1]):
        if index in loose:
            spread.append(None)
            continue
        square = sum(float(row[index] / value) ** 2
                     for row, value in zip(rows, singular, strict=True) if value > least)
        spread.append(ERROR * square ** 0.5)
    return Sharpness(tuple(float(value) for value in singular), tuple(spread), alike, tuple(idle))


def _alike(columns: np.ndarray, names: Sequence[int]) -> tuple[tuple[int, int], ...]:
    """For each direction that the figures hardly see, the two parameters that make most of it."""
    if columns.shape[1] < 2:
        return ()
    _, singular, rows = np.linalg.svd(columns, full_matrices=True)
    found = []
    for index, row in enumerate(rows):
        if index < len(singular) and singular[index] > ALIKE:
            continue
        first, second = sorted(np.argsort(-np.abs(row), kind="stable")[:2])
        found.append((names[int(first)], names[int(second)]))
    return tuple(dict.fromkeys(found))
