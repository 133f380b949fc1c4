"""Drives the target: builds simulators, runs host programs on them, measures, reports.

In the order in which to read:

- :mod:`.cli`: The command line: ``nicbed bench``, ``compare``, ``profile``, ``run``, ``list``,
  ``speed``, ``synth``, ``test``
- :mod:`.lab`: A running simulator as experiments see it: run programs, get cycles, results and
  events
- :mod:`.errors`: Errors a user can cause: one line on stderr, an exit status, no traceback
- :mod:`.commands`: What the commands of the command line do
- :mod:`.descriptions`: NIC descriptions: from files and overrides, along the axes, and what they
  imply
- :mod:`.benches`: The microbenchmarks
- :mod:`.truth`: The truth: from events and marks alone. Imports nothing from the estimators
- :mod:`.estimate`: LogP estimators: from measured points alone
- :mod:`.report`: Tables, result files and plots
- :mod:`.run`: What is kept of a run, and what ends one
- :mod:`.build`: Building simulators: Amaranth to Verilog to an executable, cached
- :mod:`.backends`: Back ends: what carries a host port's operations to a running target
- :mod:`.speed`: How fast the simulation runs, against its limit
- :mod:`.synth`: From a NIC description to a bitstream, and what it costs in area and time
"""
