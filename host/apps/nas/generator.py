"""The kernels' random numbers: x ← 5^13 x mod 2^46, from anywhere in the sequence."""

from functools import cache
from typing import Any

import numpy as np

__all__ = ["SEED", "after", "uniform"]

SEED = 314159265
"""Of all kernels but EP."""
MULTIPLIER = 5 ** 13
MODULUS = 1 << 46
BLOCK = 1 << 14


def after(seed: int, count: int) -> int:
    """The ``count``-th number after ``seed``."""
    return seed * pow(MULTIPLIER, count, MODULUS) % MODULUS


def uniform(seed: int, count: int) -> Any:
    """The ``count`` numbers after ``seed``, divided by 2^46."""
    blocks = -(-count // BLOCK)
    starts = np.empty(blocks, np.uint64)
    for block in range(blocks):
        starts[block] = seed
        seed = after(seed, BLOCK)
    # 64-bit products wrap at a multiple of 2^46.
    numbers = starts[:, None] * _powers()
    numbers &= np.uint64(MODULUS - 1)
    return numbers.reshape(-1)[:count] * 2.0 ** -46


@cache
def _powers() -> Any:
    """5^13, (5^13)^2, …: a block of them."""
    found = np.array([MULTIPLIER], np.uint64)
    while len(found) < BLOCK:
        following = found * np.uint64(pow(MULTIPLIER, len(found), MODULUS))
        found = np.concatenate((found, following & np.uint64(MODULUS - 1)))
    return found
