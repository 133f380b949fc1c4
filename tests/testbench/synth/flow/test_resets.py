"""Large resets of a netlist get a global buffer."""

import pytest
from nicbed.testbench.synth.flow import resets


@pytest.fixture(autouse=True)
def _few(monkeypatch):
    monkeypatch.setattr(resets, "FEWEST", 3)


def flip_flops(reset, count, first):
    return {f"{reset}.{n}": {"type": "TRELLIS_FF",
                             "connections": {"CLK": [2], "DI": ["0"], "LSR": [reset],
                                             "Q": [first + n]}} for n in range(count)}


def test_a_large_reset_has_a_line_of_its_own():
    """Its number is nobody's: neither of a cell nor of a name that no cell drives."""
    cells = {**flip_flops(3, 3, 10), **flip_flops(4, 2, 20), **flip_flops("0", 5, 30),
             "logic": {"type": "LUT4", "connections": {"A": [3], "Z": [5]}}}
    module = {"cells": dict(cells), "netnames": {
        "clk": {"bits": [2]}, "rst": {"bits": [3]}, "few": {"bits": [4]}, "logic": {"bits": [5]},
        "q": {"bits": [*range(10, 35)]}, "nothing": {"bits": [50, 51, "x"]}}}
    assert resets.onto_global_network(module) == 1
    (name,) = set(module["cells"]) - set(cells)
    buffer = module["cells"][name]
    assert buffer["type"] == "DCCA" and buffer["connections"] == {"CLKI": [3], "CLKO": [52]}
    assert module["netnames"][name]["bits"] == [52]
    lines = [cell["connections"]["LSR"] for cell in module["cells"].values()
             if cell["type"] == "TRELLIS_FF"]
    assert lines == [[52]] * 3 + [[4]] * 2 + [["0"]] * 5
    assert module["cells"]["logic"]["connections"]["A"] == [3]


def test_a_netlist_without_large_resets_stays_as_it_is():
    module = {"cells": flip_flops(3, 2, 10), "netnames": {}}
    assert resets.onto_global_network(module) == 0
    assert module == {"cells": flip_flops(3, 2, 10), "netnames": {}}
