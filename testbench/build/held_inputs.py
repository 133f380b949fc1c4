"""A Verilog top around the target that holds its combinational inputs for Verilator."""

from typing import Any

from .verilog import ports

__all__ = ["CORE_MODULE", "held_inputs"]

CORE_MODULE = "nicbed_core"
"""Name of the target's own module inside the wrapper."""


def held_inputs(component: Any, name: str = "target") -> str:
    """Verilog of module ``name`` with the ports of ``component``, around module CORE_MODULE.

    At each evaluation, twice a cycle, Verilator evaluates all logic that depends on a top input. In
    the target this is nearly all logic, because of the reset and the blocks of the host ports. So
    this wrapper holds these inputs in variables, which it updates when ``rst`` or a bit of ``go``
    changes: blocks and counts change with ``go`` only. This halves the time of a cycle. An input
    must not change in the evaluation of a rising ``clk``.
    """
    declared = ["input clk", "input rst"]
    connected = [".clk(clk)", ".rst(held_rst)"]
    held = {"rst": 1}
    edges = ["edge rst"]
    for port, (value, is_input) in ports(component).items():
        width = len(value)
        declared.append(f"{'input' if is_input else 'output'} [{width - 1}:0] {port}")
        if port == "go":
            edges += [f"edge go[{bit}]" for bit in range(width)]
        if port == "go" or (is_input and port.startswith("port")):
            held[port] = width
            connected.append(f".{port}(held_{port})")
        else:
            connected.append(f".{port}({port})")
    lines = [
        f"module {name} (\n    " + ",\n    ".join(declared) + "\n);",
        *(f"    reg [{width - 1}:0] held_{port};" for port, width in held.items()),
        "    initial begin",
        *(f"        held_{port} = {port};" for port in held),
        "    end",
        f"    always @({' or '.join(edges)}) begin",
        *(f"        held_{port} <= {port};" for port in held),
        "    end",
        f"    {CORE_MODULE} core (\n        " + ",\n        ".join(connected) + "\n    );",
        "endmodule",
    ]
    return "\n".join(lines) + "\n"
