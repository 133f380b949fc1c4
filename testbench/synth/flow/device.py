"""Devices: the data of a platform of amaranth-boards, and the resources of each device."""

from collections.abc import Mapping
from typing import Any

__all__ = ["CAPACITY", "device_options", "over"]

CAPACITY = {
    "TRELLIS_COMB": ("lut", "LUTs"),
    "TRELLIS_FF": ("ff", "flip-flops"),
    "DP16KD": ("ram", "blocks of RAM"),
    "MULT18X18D": ("dsp", "multipliers"),
    "TRELLIS_RAMW": ("lut_ram", "LUTs as memory"),
}
"""Resources that a device may lack: nextpnr's name, the field of :class:`Area`, and the name in
messages."""


def device_options(platform: Any) -> list[str]:
    """nextpnr's options for the device of ``platform``, an ECP5."""
    family, size = platform.device.removeprefix("LFE5").lower().split("-")
    kind = size.replace("f", "k") if family == "u" else f"{family}-{size.replace('f', 'k')}"
    package = platform.package.replace("BG", "CABGA")
    return [f"--{kind}", "--package", package, "--speed", platform.speed]


def over(log: str) -> Mapping[str, tuple[int, int]]:
    """Resources that are short according to nextpnr's ``log``: used and available."""
    found = {}
    for line in log.splitlines():
        name, colon, rest = line.removeprefix("Info:").strip().partition(":")
        if colon and name in CAPACITY and "%" in rest:
            used, available = _amounts(rest)
            if used > available:
                found[name] = (used, available)
    return found


def _amounts(text: str) -> tuple[int, int]:
    used, _, rest = text.partition("/")
    return int(used), int(rest.split()[0])
