"""Back ends: carry a host port's operations to a running target.

In the order in which to read:

- :mod:`.job`: A job: a function, the description that it runs on, and the options of the run
- :mod:`.session`: Carries a job from the command line's process to the simulator's, and its result
  back
- :mod:`.entry`: In the process of a back end: executes a job and stores its result
- :mod:`.backend`: The protocol by which :class:`~nicbed.testbench.lab.Lab` uses a back end
- :mod:`.switches`: Settings of a target for one run, made while it is in reset
- :mod:`.environment`: The environment of a simulator process with cocotb
- :mod:`.simulated`: Inside the simulator: the one cocotb test, which executes a job
- :mod:`.simulated_reset`: Reset of a target in a simulator that cocotb drives
- :mod:`.verilator`: The target under Verilator: operations and answers in the model's own arrays,
  by ctypes
- :mod:`.icarus`: The target under Icarus Verilog: everything through VPI handles, in the read-write
  phase
- :mod:`.board`: Runs a target on an FPGA board, over a serial line
- :mod:`.model`: The functional target in Python, whose cycles are estimates
"""

__all__ = ["BOARDS", "MODEL", "SIMS"]

BOARDS = ("board", "uart", "gates")
"""Back ends behind a serial line: a board, a board's top in a simulator, and the netlist of this
top, as synthesis makes it, in a simulator."""

MODEL = "model"
"""The functional target: no netlist, and cycles that are estimates."""

SIMS = ("verilator", "icarus", "one-design", *BOARDS, MODEL)
"""All back ends."""
