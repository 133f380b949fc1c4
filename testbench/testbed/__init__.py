"""A testbed: a NIC description, the simulators that run it, and the measurements on it.

Everything that measures goes this way: scripts, notebooks and the command line.

In the order in which to read:

- :mod:`.bed`: A testbed: measures benchmarks, programs and experiments on a description
- :mod:`.options`: The options of a testbed that few callers need
- :mod:`.measurement`: A measurement to be made: a benchmark, a program, an experiment or the area
  of a description
- :mod:`.experiment`: A user's own experiment: a Python file with a host program, or with its own
  measurements
- :mod:`.mpi_program`: A program of MPI that was written for blocking calls, in Python or in C
- :mod:`.program`: Carries a host program of the calling process to the simulator's process
- :mod:`.keeping`: A result from the store, or measured now and kept there
- :mod:`.result`: A result: its document, its figures, its tables and its plot
- :mod:`.program_run`: A run of a host program: results, and events, marks and counters as frames
- :mod:`.frames`: Data frames of pandas, which is loaded when the first one is asked for
- :mod:`.listener`: Receives what a testbed reports while it works
"""

__all__: list[str] = []
