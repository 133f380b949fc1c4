"""Size classes: a message of n bytes goes into buffers of class ceil(log2(n + 8))."""

from ...layouts.gm import SIZE_OVERHEAD

__all__ = ["gm_max_length_for_size", "gm_min_size_for_length"]


def gm_min_size_for_length(length: int) -> int:
    """The size class of messages of ``length`` bytes."""
    if length < 0:
        raise ValueError(f"length must not be negative, not {length}")
    return (length + SIZE_OVERHEAD - 1).bit_length()


def gm_max_length_for_size(size: int) -> int:
    """The most bytes of a message of size class ``size``."""
    return (1 << size) - SIZE_OVERHEAD
