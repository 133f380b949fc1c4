"""Back ends: what carries a host port's operations to a running target.

In the order in which to read:

- :mod:`.session`: From the command line's process to the simulator's and back: a job in, its
  result out
- :mod:`.entry`: In the process of a back end: a job carried out, and its result left where it is
  wanted
- :mod:`.switches`: What a target is set to, once a run, while it is in reset
- :mod:`.environment`: The environment that a simulator with cocotb in it wants
- :mod:`.simulated`: Inside the simulator: the one cocotb test, which carries out a job
- :mod:`.simulated_reset`: Reset of a target in a simulator that cocotb drives
- :mod:`.verilator`: The target under Verilator: operations and answers in the model's own arrays,
  by ctypes
- :mod:`.icarus`: The target under Icarus Verilog: everything through VPI handles, in the
  read-write phase
- :mod:`.board`: Runs a target on an FPGA board, over a serial line
"""

__all__ = ["BOARDS", "SIMS"]

BOARDS = ("board", "uart", "gates")
"""Back ends behind a serial line: a board's, that of a board's top in a simulator, and that of its
netlist, as synthesis leaves it, in a simulator."""

SIMS = ("verilator", "icarus", *BOARDS)
"""All of them."""
