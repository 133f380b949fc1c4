"""The kernels' random numbers, against the definition."""

import numpy as np
import pytest
from nicbed.host.apps.nas.generator import BLOCK, SEED, after, uniform


def plain(seed, count):
    found = []
    for _ in range(count):
        seed = 5 ** 13 * seed % 2 ** 46
        found.append(seed)
    return found


@pytest.mark.parametrize("count", [0, 1, 100, BLOCK, BLOCK + 1, 3 * BLOCK - 1])
def test_numbers(count):
    assert np.array_equal(uniform(SEED, count), np.array(plain(SEED, count), float) * 2.0 ** -46)


def test_jumps():
    numbers = plain(271828183, 50)
    assert [after(271828183, count + 1) for count in range(50)] == numbers
    assert np.array_equal(uniform(after(SEED, 1000), 20), uniform(SEED, 1020)[1000:])
