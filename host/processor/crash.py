"""Describes a crash of a NIC processor's firmware in words."""

from ...firmware.image import Image
from ...layouts.processor import MMIO_BASE, CrashReason

__all__ = ["FirmwareCrash", "describe"]

_CAUSES = {
    0: "instruction address misaligned", 1: "instruction access fault", 2: "illegal instruction",
    3: "breakpoint", 4: "load address misaligned", 5: "load access fault",
    6: "store address misaligned", 7: "store access fault", 11: "environment call",
}
"""Causes in mcause."""
_PANICS = {
    0xFFFF_0000: "main() returned", 0xFFFF_0001: "no NIC memory left for take_memory()",
    0xFFFF_0002: "assert_that() failed", 0xFFFF_0003: "a null pointer was called",
}
"""nic.h's PANIC_... ."""


def describe(image: Image | None, reason: CrashReason, pc: int, cause: int) -> str:
    """Reason and place in words: ``panic with code 0x7 at main+0x14 (firmware/am/main.c:77)``."""
    where = f"{pc:#x}" if image is None else f"{image.lookup(pc)}, pc {pc:#x}"
    if reason is CrashReason.EXCEPTION:
        what = _CAUSES.get(cause, f"exception {cause:#x}")
    elif reason is CrashReason.PANIC:
        what = _PANICS.get(cause, f"panic with code {cause:#x}")
    elif reason is CrashReason.BUS:
        inside = "register" if cause >= MMIO_BASE else "memory"
        what = f"an access to address {cause:#x}, where there is no {inside}"
    elif reason is CrashReason.WATCHDOG:
        what = ("the watchdog expired: awake for processor.watchdog cycles without a look at "
                "wait or a kick")
    else:
        what = "a trap: an illegal or misaligned instruction or access"
    if image is None:
        return f"{what} at {where}; no firmware was started"
    return f"{what} at {where}, in firmware {image.name}"


class FirmwareCrash(Exception):
    """A NIC processor crashed: that of ``node``, or of its NIC number ``nic`` if it has several
    (else None). The text names the place (function and source line) and the reason."""

    def __init__(self, node: int, nic: int | None, cycle: int, reason: CrashReason, pc: int,
                 cause: int, image: Image | None) -> None:
        place = f"node {node}" if nic is None else f"node {node}, NIC {nic},"
        super().__init__(f"the NIC processor of {place} crashed at cycle {cycle}: "
                         f"{describe(image, reason, pc, cause)}")
        self.node = node
        self.nic = nic
        self.cycle = cycle
        self.reason = reason
        self.pc = pc
        self.cause = cause
