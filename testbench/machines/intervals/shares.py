"""Shares of the typical values in a figure's variance: regression of ranks on ranks.

Ranks make a share of a figure that rises or falls without being a line. A share is that of the knob
alone. What knobs do together, what the refit adds, and what is not monotonic is the rest.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import rankdata

__all__ = ["Shares", "shares"]

POINTS_A_KNOB = 4
"""A regression has at most one knob for so many points."""


@dataclass(frozen=True)
class Shares:
    """The share of each knob that has one, largest first, and the rest; all together 1."""

    knobs: Mapping[str, float]
    rest: float


def shares(levels: Mapping[str, Sequence[float]], values: Sequence[float],
           weights: Sequence[float]) -> Shares | None:
    """The shares of the knobs with ``levels`` at each point, in ``values`` with ``weights``. None
    if there are too few points to tell, or the values are all the same.

    Knobs enter one by one, that which explains most first, as long as R² rises that is adjusted for
    their number; so a knob that does nothing hardly ever has a share by chance. A knob's share is
    its standardised coefficient times its correlation with the figure; these add up to R².
    """
    kept = [index for index, one in enumerate(weights) if one > 0]
    moving = {name: column for name, column in levels.items()
              if len({column[index] for index in kept}) > 1}
    most = len(kept) // POINTS_A_KNOB
    if most < 2 or len({values[index] for index in kept}) < 2:
        return None
    some = np.array([weights[index] for index in kept])
    some /= some.sum()
    output = _standard([values[index] for index in kept], some)
    inputs = {name: _standard([column[index] for index in kept], some)
              for name, column in moving.items()}
    chosen: list[str] = []
    parts, adjusted = np.zeros(0), 0.0
    while len(chosen) < min(most, len(inputs)):
        tried = [(*_parts([inputs[one] for one in [*chosen, name]], output, some), name)
                 for name in inputs if name not in chosen]
        explained, new, name = max(tried, key=lambda one: one[0])
        now = 1 - (1 - explained) * (len(kept) - 1) / (len(kept) - len(chosen) - 2)
        if now <= adjusted:
            break
        chosen, parts, adjusted = [*chosen, name], np.maximum(new, 0.0), now
    if parts.sum() > 0:
        parts = parts * (adjusted / parts.sum())
    found = {name: float(one) for name, one in zip(chosen, parts, strict=True)}
    return Shares(dict(sorted(found.items(), key=lambda pair: (-pair[1], pair[0]))),
                  1 - float(sum(found.values())))


def _parts(inputs: Sequence[np.ndarray], output: np.ndarray, weights: np.ndarray
           ) -> tuple[float, np.ndarray]:
    """R² of a regression, and each input's part of it."""
    columns, root = np.stack(inputs, axis=1), np.sqrt(weights)
    slopes, *_ = np.linalg.lstsq(columns * root[:, None], output * root, rcond=None)
    parts = slopes * (columns.T @ (weights * output))
    return min(float(parts.sum()), 1.0), parts


def _standard(values: Sequence[float], weights: np.ndarray) -> np.ndarray:
    """Ranks with a weighted mean of 0 and a variance of 1."""
    ranks = rankdata(values)
    ranks = ranks - float(weights @ ranks)
    return ranks / np.sqrt(float(weights @ ranks ** 2))
