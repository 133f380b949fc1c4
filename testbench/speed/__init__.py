"""How fast the simulation runs, against its limit.

In the order in which to read:

- :mod:`.measurement`: How fast the simulation runs, against its limit: the bare loop over the
  same netlist
- :mod:`.workloads`: The host programs that `nicbed speed` runs: each goes on until a cycle, and
  returns how many one-way messages its node had to do with
"""
