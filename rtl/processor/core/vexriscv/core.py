"""VexRiscv as an object at the door of cores."""

from importlib import metadata

from .....layouts.doors import Core
from ..published import PACKAGES, published, with_pc

__all__ = ["CORE"]


def _text(published: str) -> str:
    return with_pc(published, "VexRiscv", "  input               clk,\n",
                   # Not what is in the stage but is not going to be executed.
                   "!memory_arbitration_isValid && writeBack_arbitration_isValid "
                   "? writeBack_PC : memory_PC")


CORE = Core(
    "vexriscv", "VexRiscv Lite, pipelined: an rv32im with machine-mode traps",
    isa="generic_rv32+m", module="VexRiscv", text=_text,
    files=lambda: (published("vexriscv") / "VexRiscv_Lite.v",),
    build="nicbed.rtl.processor.core.vexriscv.vexriscv:VexRiscv",
    version=lambda: metadata.version(f"{PACKAGES}vexriscv"), traps=True, speculates=True, cycles=2)
