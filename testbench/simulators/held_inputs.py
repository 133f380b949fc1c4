"""A Verilog top around a netlist that holds its combinational inputs for Verilator."""

from collections.abc import Callable
from typing import Any

from .verilog import ports

__all__ = ["CORE", "held_inputs"]

CORE = "_core"
"""Behind a module's name, the netlist's own name inside the wrapper."""


def held_inputs(component: Any, module: str, held: Callable[[str], bool]) -> str:
    """Verilog of module ``module`` with the ports of ``component``, around ``module + CORE``.

    At each evaluation Verilator evaluates all logic that depends on a top input. In the target this
    is nearly all logic, because of the reset and the blocks of the host ports. So this wrapper
    holds the inputs for which ``held`` is true in variables, which it updates when ``rst`` or a bit
    of ``go`` changes: a run's settings change with ``rst`` only, blocks and counts with ``go``.
    This halves the time of a cycle. Such an input must not change in the evaluation of a rising
    ``clk``.

    The wrapper's ports have single underscores in their names, which Verilator leaves as they are.
    """
    declared = ["input clk", "input rst"]
    connected = [".clk(clk)", ".rst(held_rst)"]
    widths = {"rst": 1}
    edges = ["edge rst"]
    for port, (value, is_input) in ports(component).items():
        width = len(value)
        name = port.replace("__", "_")
        declared.append(f"{'input' if is_input else 'output'} [{width - 1}:0] {name}")
        if port == "go":
            edges += [f"edge go[{bit}]" for bit in range(width)]
        if is_input and held(port):
            widths[name] = width
            connected.append(f".{port}(held_{name})")
        else:
            connected.append(f".{port}({name})")
    lines = [
        f"module {module} (\n    " + ",\n    ".join(declared) + "\n);",
        *(f"    reg [{width - 1}:0] held_{port};" for port, width in widths.items()),
        "    initial begin",
        *(f"        held_{port} = {port};" for port in widths),
        "    end",
        f"    always @({' or '.join(edges)}) begin",
        *(f"        held_{port} <= {port};" for port in widths),
        "    end",
        f"    {module}{CORE} core (\n        " + ",\n        ".join(connected) + "\n    );",
        "endmodule",
    ]
    return "\n".join(lines) + "\n"
