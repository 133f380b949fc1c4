"""Resets of a netlist on the network that reaches all of a device."""

from collections.abc import Iterable
from typing import Any

__all__ = ["FEWEST", "onto_global_network"]

FEWEST = 1000
"""Flip-flops of a reset that is worth one of the eight global lines that reach their reset pins."""


def onto_global_network(module: dict[str, Any]) -> int:
    """Give each reset of ``module``, of the JSON that yosys writes, that goes to FEWEST flip-flops
    or more a global buffer (DCCA); how many there are.

    nextpnr puts clocks on global lines, and a reset only if such a buffer is its driver; with the
    buffer's enable it would be a clock's gate. A reset of all of a NIC is otherwise a tenth of the
    connections that it has to find wires for. What else looks at the reset is left to the wires.
    """
    users: dict[int, list[dict[str, Any]]] = {}
    for cell in module["cells"].values():
        if cell["type"] == "TRELLIS_FF":
            for bit in _wires(cell["connections"].get("LSR", ())):
                users.setdefault(bit, []).append(cell)
    resets = sorted(bit for bit, cells in users.items() if len(cells) >= FEWEST)
    # All bits have a name; those that nothing drives are no cell's.
    free = 1 + max((bit for net in module["netnames"].values() for bit in _wires(net["bits"])),
                   default=1)
    for line, bit in enumerate(resets, free):
        name = f"$global_reset${bit}"
        module["cells"][name] = {
            "hide_name": 1, "type": "DCCA", "parameters": {}, "attributes": {},
            "port_directions": {"CLKI": "input", "CLKO": "output"},
            "connections": {"CLKI": [bit], "CLKO": [line]}}
        module["netnames"][name] = {"hide_name": 1, "bits": [line], "attributes": {}}
        for cell in users[bit]:
            cell["connections"]["LSR"] = [line]
    return len(resets)


def _wires(bits: Iterable[Any]) -> list[int]:
    """Those of ``bits`` that are no constants."""
    return [bit for bit in bits if isinstance(bit, int)]
