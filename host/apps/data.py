"""Seeded keys and matrices; numpy arrays in a node's memory."""

from typing import Any

import numpy as np

from ..port.memory import RESERVED
from ..port.node import Node

__all__ = ["Words", "fixed_bytes", "load", "place", "random_keys", "random_matrix", "save"]

Words = np.ndarray[Any, np.dtype[np.uint32]]


def random_keys(count: int, seed: int) -> Words:
    """``count`` keys of 32 bits. The stream of a bit generator does not change with numpy's
    version."""
    return (np.random.PCG64(seed).random_raw(count) >> np.uint64(32)).astype(np.uint32)


def random_matrix(size: int, seed: int) -> Any:
    """A square matrix of doubles that are small whole numbers: their products are exact in any
    order of the sums."""
    raw = np.random.PCG64(seed).random_raw(size * size) >> np.uint64(60)
    return raw.astype(np.float64).reshape(size, size) - 8


def fixed_bytes(description: Any, nodes: int) -> int:
    """Bytes of memory, at most, that the layers below take, and what rounding to lines takes."""
    processor = 0 if description.nic.processor == "none" else 1 << 18
    return (RESERVED + description.nic.receive_ring * description.slot_bytes
            + description.nic.send_ring * 64 + processor + 8192 + 64 * nodes)


def save(node: Node, address: int, values: Any) -> None:
    """Put an array into memory, in no time."""
    node.memory.write(address, np.ascontiguousarray(values).tobytes())


def load(node: Node, address: int, count: int, kind: Any = np.uint32) -> Any:
    """An array of ``count`` values from memory, in no time."""
    return np.frombuffer(node.memory.read(address, count * np.dtype(kind).itemsize), kind)


def place(node: Node, values: Any) -> int:
    """Allocate memory for an array and put it there, in no time; the address."""
    address = node.allocate(values.nbytes)
    save(node, address, values)
    return address
