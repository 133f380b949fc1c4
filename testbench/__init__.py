"""Drives the target: builds simulators, runs host programs on them, measures, reports.

In the order in which to read:

- :mod:`.cli`: The command line: ``nicbed app``, ``bench``, ``compare``, ``profile``, ``run``,
  ``list``, ``speed``, ``synth``, ``test``
- :mod:`.lab`: A running simulator for experiments: runs programs and returns cycles, results and
  events
- :mod:`.errors`: Errors that a user can cause: one line on stderr, an exit status, no traceback
- :mod:`.defaults`: Values that are taken where nobody says otherwise
- :mod:`.testbed`: A testbed: a NIC description, the simulators that run it, and the measurements on
  it
- :mod:`.store`: Keeps results by the hash of their inputs, so that nothing is measured twice
- :mod:`.sweeps`: Studies: measurements at many points of a design, as one table
- :mod:`.gate`: Figures that were accepted, and a check that they are still the same
- :mod:`.commands`: Implementations of the command line's commands
- :mod:`.descriptions`: NIC descriptions: from files and overrides, along the axes, and notes about
  them
- :mod:`.benches`: The microbenchmarks
- :mod:`.apps`: Programs over Split-C and over MPI: their list, their runs and their reports
- :mod:`.truth`: The truth: from events and marks alone. Imports nothing from the estimators
- :mod:`.estimate`: LogP estimators: from measured points alone
- :mod:`.results`: Tables, result files and plots
- :mod:`.run`: Records a run, stops one, and shares the beginning of runs that begin alike
- :mod:`.simulators`: Building simulators: Amaranth to Verilog to an executable, cached
- :mod:`.changes`: Has a model evaluate only what has changed, by a pass over the C++ that Verilator
  made
- :mod:`.backends`: Back ends: carry a host port's operations to a running target
- :mod:`.speed`: Measures how fast the simulation runs, compared with its limit
- :mod:`.synth`: Turns a NIC description into a bitstream, and reports its area and timing
"""
