"""The Verilog of the cores, from the packages that publish them."""

import re
from importlib import import_module
from pathlib import Path

from .enabled_core import SUFFIX, with_enable

__all__ = ["CORE_MODULES", "core_verilog"]

_PUBLISHED = ("picorv32", "serv_rf_top", "VexRiscv")
CORE_MODULES = (*_PUBLISHED, *(module + SUFFIX for module in _PUBLISHED))
"""Modules that :mod:`nicbed.rtl.processor` instantiates and does not define."""


def core_verilog(module: str) -> str:
    """Source of ``module``, one of CORE_MODULES, and of all modules below it.

    PicoRV32 and VexRiscv get one more output, ``nicbed_pc``: the address of the instruction in
    execution (of VexRiscv: in its memory stage). Nothing else is changed.
    Those with SUFFIX have a clock enable on top of that (:func:`with_enable`).

    Raises
    ------
    ValueError
        The module does not exist, or its source is not the expected one.
    """
    if module in CORE_MODULES and module not in _PUBLISHED:
        published = module.removesuffix(SUFFIX)
        return with_enable(core_verilog(published), published)
    if module == "picorv32":
        text = _read("picorv32", "picorv32.v")
        return _with_pc(text, module, "\toutput reg trap,\n", "reg_pc")
    if module == "serv_rf_top":
        files = sorted(path.name for path in _place("serv", "rtl").glob("serv_*.v")
                       if path.name != "serv_synth_wrapper.v")
        return _read("serv", *(f"rtl/{file}" for file in files))
    if module == "VexRiscv":
        text = _read("vexriscv", "VexRiscv_Lite.v")
        return _with_pc(text, module, "  input               clk,\n",
                        # Not what is in the stage but is not going to be executed.
                        "!memory_arbitration_isValid && writeBack_arbitration_isValid "
                        "? writeBack_PC : memory_PC")
    raise ValueError(f"module must be one of {', '.join(CORE_MODULES)}, not {module!r}")


def _place(core: str, folder: str = "") -> Path:
    return Path(import_module(f"pythondata_cpu_{core}").data_location) / folder


def _read(core: str, *files: str) -> str:
    text = "\n".join((_place(core) / file).read_text(encoding="utf-8") for file in files)
    # What a core says of nets and time is not for those who are compiled after it.
    return f"`timescale 1ns/1ps\n{text}\n`default_nettype wire\n`timescale 1ns/1ps\n"


def _with_pc(text: str, module: str, port: str, value: str) -> str:
    found = re.search(rf"^module {module} .*?^endmodule", text, re.MULTILINE | re.DOTALL)
    if found is None or found[0].count(port) != 1:
        raise ValueError(f"the source of {module} is not the one that is expected")
    indent = port[: len(port) - len(port.lstrip())]
    inside = found[0].replace(port, f"{port}{indent}output [31:0] nicbed_pc,\n")
    inside = inside[: -len("endmodule")] + f"{indent}assign nicbed_pc = {value};\nendmodule"
    return text[: found.start()] + inside + text[found.end():]
