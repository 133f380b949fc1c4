"""Back ends: what carries a host port's operations to a running target."""

__all__ = ["BAUD", "BOARDS", "SIMS"]

BAUD = 3_000_000
"""Bits a second of a board's serial line."""

BOARDS = ("board", "uart", "gates")
"""Back ends behind a serial line: a board's, that of a board's top in a simulator, and that of its
netlist, as synthesis leaves it, in a simulator."""

SIMS = ("verilator", "icarus", *BOARDS)
"""All of them."""
