"""A node's host memory in the model's own array, whole pages at a time."""

import ctypes
import itertools
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from nicbed.host.port import memory as plain
from nicbed.testbench.backends.verilator import ArrayMemory

SIZE, PAGE = 20 * 512 + 64, 512
"""The last page is not whole."""


@pytest.fixture
def memory() -> Any:
    array = (ctypes.c_ubyte * SIZE)()

    def base(node: int, words: int) -> int:
        return ctypes.addressof(array)

    found = ArrayMemory(SimpleNamespace(nicbed_memory_base=base), 0, SIZE)  # type: ignore[arg-type]
    found.write(0, bytes(index * 7 & 0xFF for index in range(SIZE)))
    return found


@pytest.mark.parametrize("pages", [[0], [8, 0, 3], [*range(19, 3, -1)], [7] + [*range(12)]])
def test_pages_are_those_of_a_plain_memory(memory: Any, pages: list[int]) -> None:
    other = plain.ArrayMemory(SIZE)
    other.write(0, memory.view(0, SIZE))
    into, expected = (memoryview(bytearray(len(pages) * PAGE)) for _ in range(2))
    memory.read_pages(pages, PAGE, into)
    other.read_pages(pages, PAGE, expected)
    assert into == expected
    data = memoryview(np.random.default_rng(1).bytes(len(pages) * PAGE))
    memory.write_pages(pages, PAGE, data)
    other.write_pages(pages, PAGE, data)
    assert memory.view(0, SIZE) == other.view(0, SIZE)


def test_a_page_that_is_not_whole_is_refused(memory: Any) -> None:
    for page, count in itertools.product((20, -1), (1, 15)):
        pages, whole = [page] * count, memoryview(bytearray(count * PAGE))
        with pytest.raises(IndexError, match="memory has 10304"):
            memory.read_pages(pages, PAGE, whole)
        with pytest.raises(IndexError, match="memory has 10304"):
            memory.write_pages(pages, PAGE, whole)
    with pytest.raises(IndexError):
        memory.view(SIZE - 8, 9)
