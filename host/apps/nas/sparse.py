"""The matrix of CG: the sum of outer products of sparse random vectors, of falling weight."""

from typing import Any

import numpy as np

from .generator import SEED, after, uniform

__all__ = ["matrix"]

CONDITION = 0.1
"""The reciprocal of the condition number: how far the weights fall."""


def _vectors(order: int, nonzeros: int) -> tuple[Any, Any]:
    """``order`` vectors of ``nonzeros`` elements each, and their places: pairs of numbers are a
    value and a place, skipped if the place is outside or has been taken."""
    bits = (order - 1).bit_length()
    chunk = order * nonzeros * 3
    seed = after(SEED, 1)
    numbers = uniform(seed, 2 * chunk).reshape(-1, 2)
    candidates = iter(zip(numbers[:, 0].tolist(),
                          (numbers[:, 1] * (1 << bits)).astype(np.int64).tolist(), strict=True))
    values, places = np.empty((order, nonzeros)), np.empty((order, nonzeros), np.int64)
    for row in range(order):
        taken: dict[int, float] = {}
        while len(taken) < nonzeros:
            value, place = next(candidates)
            if place < order and place not in taken:
                taken[place] = value
        values[row] = list(taken.values())
        places[row] = list(taken)
    return values, places


def matrix(order: int, nonzeros: int, shift: float) -> Any:
    """The matrix as CSR: sum over i of w_i v_i v_i', where w_i falls from 1 to CONDITION and v_i[i]
    = 1/2, with CONDITION - shift on the diagonal."""
    from scipy.sparse import csr_matrix, identity

    values, places = _vectors(order, nonzeros)
    rows = np.repeat(np.arange(order), nonzeros)
    drawn = csr_matrix((values.reshape(-1), (rows, places.reshape(-1))), (order, order))
    vectors = drawn.copy()
    vectors.setdiag(0.5)
    weights = CONDITION ** (np.arange(order) / order)
    product = vectors.T @ vectors.multiply(weights[:, None]).tocsr()
    return (product + (CONDITION - shift) * identity(order)).tocsr()
