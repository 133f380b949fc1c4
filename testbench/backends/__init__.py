"""Back ends: what carries a host port's operations to a running target."""

__all__ = ["BOARDS", "SIMS"]

BOARDS = ("board", "uart", "gates")
"""Back ends behind a serial line: a board's, that of a board's top in a simulator, and that of its
netlist, as synthesis leaves it, in a simulator."""

SIMS = ("verilator", "icarus", *BOARDS)
"""All of them."""
