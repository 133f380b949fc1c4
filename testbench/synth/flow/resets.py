"""Puts large resets of a netlist on the global lines of a device."""

from collections.abc import Iterable
from typing import Any

__all__ = ["FEWEST", "onto_global_network"]

FEWEST = 1000
"""Fewest flip-flops of a reset that gets one of the eight global lines to reset pins."""


def onto_global_network(module: dict[str, Any]) -> int:
    """Give each reset of ``module``, of the JSON that yosys writes, that goes to FEWEST flip-flops
    or more a global buffer (DCCA); return the number of buffers.

    nextpnr puts clocks on global lines, and a reset only if such a buffer drives it. With its
    enable the buffer would be a clock gate. Otherwise the reset of a NIC is a tenth of the
    connections to route. Other uses of the reset keep ordinary wires.
    """
    users: dict[int, list[dict[str, Any]]] = {}
    for cell in module["cells"].values():
        if cell["type"] == "TRELLIS_FF":
            for bit in _wires(cell["connections"].get("LSR", ())):
                users.setdefault(bit, []).append(cell)
    resets = sorted(bit for bit, cells in users.items() if len(cells) >= FEWEST)
    # All bits have a name; undriven bits belong to no cell.
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
    """The wires among ``bits``, without constants."""
    return [bit for bit in bits if isinstance(bit, int)]
