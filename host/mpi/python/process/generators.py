"""The generators of random numbers that random and numpy keep for the process.

A module's functions are bound to its generator, and so is what others have imported from it. So the
generator stays, and its state is copied: 2.5 KB of memory, whose place is found by looking.
"""

import ctypes
import random
import struct
from abc import ABC, abstractmethod
from typing import Any

import numpy as np

__all__ = ["NumpyRandom", "PythonRandom"]

WORDS = 624
"""Of a Mersenne twister."""
_INT = struct.Struct("i")
_ONE = struct.pack("d", 1.2345678901234567e-7)


def _memory(address: int, length: int) -> memoryview:
    return memoryview((ctypes.c_ubyte * length).from_address(address)).cast("B")


def _object(of: Any) -> memoryview:
    return _memory(id(of), type(of).__basicsize__)


class _Random(ABC):
    """A generator, ``_one``, of which a rank that does not seed it begins as if it had."""

    _one: Any

    def fresh(self, rank: int) -> Any:
        """The state after ``seed(rank)``."""
        before = self.take()
        self._one.seed(rank)
        state = self.take()
        self.put(before)
        return state

    @abstractmethod
    def take(self) -> Any:
        """A copy of the state."""

    @abstractmethod
    def put(self, state: Any) -> None:
        """Go on from ``state``."""


class PythonRandom(_Random):
    """The generator of module random. A rank that does not seed it begins as if it had called
    ``random.seed(rank)``."""

    def __init__(self) -> None:
        self._one: Any = random._inst  # type: ignore[attr-defined]
        self._words = self._found()

    def _found(self) -> memoryview | None:
        """The position in the generator's words, and these, in memory."""
        *words, position = self._one.getstate()[1]
        whole = _object(self._one)
        at = bytes(whole).find(struct.pack(f"i{WORDS}I", position, *words))
        return None if at < 0 else whole[at:at + 4 * (1 + WORDS)]

    def take(self) -> Any:
        if self._words is None:
            return self._one.getstate()
        return bytes(self._words), self._one.gauss_next

    def put(self, state: Any) -> None:
        if self._words is None:
            self._one.setstate(state)
        else:
            self._words[:], self._one.gauss_next = state


class NumpyRandom(_Random):
    """The generator behind the functions of ``numpy.random``. A rank that does not seed it begins
    as if it had called ``numpy.random.seed(rank)``."""

    def __init__(self) -> None:
        self._one: Any = np.random.mtrand._rand  # type: ignore[attr-defined]
        self._words: memoryview | None = None
        self._second: memoryview | None = None
        self._find()

    def _find(self) -> None:
        """The generator's words and its position in them, and the second one of a pair of normal
        deviates with whether there is one, in memory."""
        before = self._one.get_state()
        kind, key, position = before[:3]
        generator = self._one._bit_generator
        if kind != "MT19937":
            return
        words = _memory(generator.ctypes.state_address, 4 * WORDS + 4)
        if bytes(words) != key.tobytes() + _INT.pack(position):
            return
        whole = _object(self._one)
        self._one.set_state((*before[:3], 1, *struct.unpack("d", _ONE)))
        at = bytes(whole).find(_ONE) - 8
        if at >= 0:
            there = whole[at:at + 16]
            flags = [_INT.unpack_from(there)[0]]
            self._one.set_state((*before[:3], 0, 0.0))
            flags.append(_INT.unpack_from(there)[0])
            if flags == [1, 0]:
                self._words, self._second = words, there
        self._one.set_state(before)

    def take(self) -> Any:
        if self._words is None or self._second is None:
            return self._one.get_state()
        return bytes(self._words), bytes(self._second)

    def put(self, state: Any) -> None:
        if self._words is None or self._second is None:
            self._one.set_state(state)
        else:
            self._words[:], self._second[:] = state
