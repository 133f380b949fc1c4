"""A crash of a NIC processor's firmware, in words."""

from typing import Any

from ...layouts.processor import CrashReason

__all__ = ["FirmwareCrash"]


class FirmwareCrash(Exception):
    """A NIC processor stopped for good; the text says where (function and source line) and why."""

    def __init__(self, node: int, cycle: int, reason: CrashReason, pc: int, cause: int,
                 image: Any) -> None:
        place = image.lookup(pc) if image is not None else "no firmware was started"
        super().__init__(f"the NIC processor of node {node} crashed at cycle {cycle}: "
                         f"{reason.name.lower()}, cause {cause:#x}, at {pc:#x} ({place})")
        self.node = node
        self.cycle = cycle
        self.reason = reason
        self.pc = pc
        self.cause = cause
