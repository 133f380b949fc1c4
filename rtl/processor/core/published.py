"""Finds the Verilog of published cores in their packages, and adds the instruction's address as an
output."""

import re
from importlib import import_module
from pathlib import Path

__all__ = ["PACKAGES", "published", "with_pc"]

PACKAGES = "pythondata-cpu-"
"""Begin of the names of the packages."""


def published(core: str, folder: str = "") -> Path:
    """``folder`` of the package that publishes ``core``."""
    name = f"{PACKAGES}{core}".replace("-", "_")
    return Path(import_module(name).data_location) / folder


def with_pc(text: str, module: str, port: str, value: str) -> str:
    """Verilog ``text`` where ``module`` has one more output behind its port ``port``:
    ``nicbed_pc``, the address of the instruction in execution, which is the expression ``value``.

    Raises
    ------
    ValueError
        The text is not the expected one.
    """
    found = re.search(rf"^module {module} .*?^endmodule", text, re.MULTILINE | re.DOTALL)
    if found is None or found[0].count(port) != 1:
        raise ValueError(f"the source of {module} is not the one that is expected")
    indent = port[: len(port) - len(port.lstrip())]
    inside = found[0].replace(port, f"{port}{indent}output [31:0] nicbed_pc,\n")
    inside = inside[: -len("endmodule")] + f"{indent}assign nicbed_pc = {value};\nendmodule"
    return text[: found.start()] + inside + text[found.end():]
