"""Measures how fast the simulation runs, compared with its limit.

In the order in which to read:

- :mod:`.measurement`: Measures how fast the simulation runs, compared with its limit: the bare loop
  over the same netlist
- :mod:`.workloads`: The host programs of `nicbed speed`
"""
