"""The structure of a cache: what is refused, by the knobs that set it."""

import re
from typing import Any

import pytest
from nicbed.rtl.cpu.cache_shape import CacheShape

OFF_MEMORY_BUS = "needs nic.attachment = 'io_bus' or 'local_bus', not 'memory_bus'"


@pytest.mark.parametrize("given, error, text", [
    ({"lines": 12}, ValueError, "lines must be a power of two, at least 2, not 12"),
    ({"lines": 1}, ValueError, "lines must be a power of two, at least 2, not 1"),
    ({"lines": "8"}, TypeError, "lines must be an integer, not '8'"),
    ({"line_bytes": 8}, ValueError, "line_bytes must be a power of two, at least 16, not 8"),
    ({"beat_bytes": 12}, ValueError, "beat_bytes must be a power of two, at least 8, not 12"),
    ({"beat_bytes": 64}, ValueError, "beat_bytes must be at most line_bytes = 32, not 64"),
    ({"peers": -1}, ValueError, "peers must be at least 0, not -1"),
    ({"flushes": True, "peers": 3}, ValueError, "bus.coherent = false needs node.cpus = 1, not 4"),
    ({"flushes": True, "coherent": True}, ValueError, f"bus.coherent = false {OFF_MEMORY_BUS}"),
    ({"flushes": True, "block_stores": True}, ValueError,
     "bus.coherent = false needs cpu.copy_by = 'cache', not 'block'"),
    ({"block_stores": True, "coherent": True}, ValueError,
     f"cpu.copy_by = 'block' {OFF_MEMORY_BUS}"),
])
def test_refuses(given: dict[str, Any], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=f"^{re.escape(text)}$"):
        CacheShape(**{"lines": 8, **given})


def test_sizes_follow() -> None:
    shape = CacheShape(lines=8, line_bytes=64, beat_bytes=16)
    assert (shape.line_bits, shape.beat_bits, shape.beats) == (6, 4, 4)
