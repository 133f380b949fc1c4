"""Settings of a target for one run, made while it is in reset."""

from collections.abc import Sequence
from typing import NamedTuple

from ...layouts.description import Description
from ...layouts.timing import TIMING_REGISTERS, TimingRegister, timing_registers

__all__ = ["Switches"]


class Switches(NamedTuple):
    """``timing``: values of ``registers``, in order. ``limit``: the cycle at which time ends; 0:
    none. ``description``: the run's, for a target that has no registers for its knobs."""

    timing: Sequence[int]
    trace: bool
    profile: bool
    skip: bool
    limit: int
    description: Description | None = None

    @property
    def registers(self) -> tuple[TimingRegister, ...]:
        """The target's timing registers."""
        return TIMING_REGISTERS if self.description is None else timing_registers(self.description)
