"""Implementations of the command line's commands.

In the order in which to read:

- :mod:`.options`: The options of commands as objects, which the command line makes and the commands
  take
- :mod:`.measure`: Commands that measure: they take a description, and give tables, plots and a
  result file
- :mod:`.app`: ``nicbed app``: a program over Split-C, its answer checked, its time by phase and
  process
- :mod:`.program`: ``nicbed app FILE``: a program of MPI, in Python or C, written for blocking
  calls
- :mod:`.compare`: ``nicbed compare``: benchmarks on several NIC descriptions, or on the points of a
  design axis, side by side
- :mod:`.profile`: Cycles of a NIC processor for each message, by function and source line, to the
  cycle
- :mod:`.output`: The output of a command: tables by default; the result with ``--json``, its path
  with ``-q``. While it works: a progress bar, and what programs print
- :mod:`.synth`: ``nicbed synth``: a NIC description on a board
- :mod:`.sweep`: ``nicbed sweep``: benchmarks at many points of a design, as one table
- :mod:`.gate`: ``nicbed gate``: figures that were accepted, and a check that they are still the
  same
- :mod:`.whatif`: ``nicbed whatif``: each knob halved, doubled and made free, one at a time
- :mod:`.store`: ``nicbed store``: lists, prunes and verifies stored results and built simulators
- :mod:`.plugged`: Lists all that comes through the doors: its name, where it is from, and what it
  is
- :mod:`.listing`: ``nicbed list``: benchmarks, programs, objects at the doors, descriptions and
  knobs
- :mod:`.doctor`: ``nicbed doctor``: reports what is there and what is missing, and tries the
  simulators
"""
