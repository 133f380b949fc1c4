"""What the commands of the command line do.

In the order in which to read:

- :mod:`.measure`: What the commands do: description in, measurement, tables and plots and a
  result file out
- :mod:`.compare`: ``nicbed compare``: benchmarks on several NIC descriptions, or on the points of
  a design axis, side by side
- :mod:`.experiment`: A user's own experiment: a Python file with a host program, or with
  measurements of its own
- :mod:`.profile`: Where a NIC processor's cycles go a message: by function and source line, to
  the cycle
- :mod:`.output`: What a command prints: tables as a rule; with ``--json`` the result, with ``-q``
  its path
- :mod:`.synth`: ``nicbed synth``: a NIC description on a board
- :mod:`.listing`: ``nicbed list``: what there is to run and what there is to turn
"""
