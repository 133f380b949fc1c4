"""PicoRV32 as an object at the door of cores."""

from importlib import metadata

from .....layouts.doors import Core
from ..published import PACKAGES, published, with_pc

__all__ = ["CORE"]


def _text(published: str) -> str:
    return with_pc(published, "picorv32", "\toutput reg trap,\n", "reg_pc")


CORE = Core(
    "picorv32", "PicoRV32, multi-cycle: an rv32im without traps", isa="generic_rv32+m",
    module="picorv32", files=lambda: (published("picorv32") / "picorv32.v",), text=_text,
    build="nicbed.rtl.processor.core.picorv32.picorv32:PicoRv32",
    version=lambda: metadata.version(f"{PACKAGES}picorv32"), cycles=5)
