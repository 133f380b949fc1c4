"""SERV as an object at the door of cores."""

from importlib import metadata
from pathlib import Path

from .....layouts.doors import Core
from ..published import PACKAGES, published

__all__ = ["CORE"]


def _files() -> tuple[Path, ...]:
    return tuple(path for path in sorted(published("serv", "rtl").glob("serv_*.v"))
                 if path.name != "serv_synth_wrapper.v")


CORE = Core(
    "serv", "SERV, bit-serial: an rv32i with machine-mode traps", isa="generic_rv32",
    module="serv_rf_top", files=_files, build="nicbed.rtl.processor.core.serv.serv:Serv",
    version=lambda: metadata.version(f"{PACKAGES}serv"), traps=True, cycles=40)
