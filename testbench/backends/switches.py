"""What a target is set to, once a run, while it is in reset."""

from collections.abc import Sequence
from typing import NamedTuple

__all__ = ["Switches"]


class Switches(NamedTuple):
    """``timing``: values of TIMING_REGISTERS, in order. ``limit``: the cycle at which time ends, 0
    for none."""

    timing: Sequence[int]
    trace: bool
    profile: bool
    skip: bool
    limit: int
