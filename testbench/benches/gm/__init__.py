"""The benchmarks of GM's own calls.

In the order in which to read:

- :mod:`.pingpong`: Ping-pongs on GM's own calls
- :mod:`.two_ways`: Latency over GM over sizes, of plain ping-pongs and of ping-pongs that differ in
  one thing
- :mod:`.buffers`: Buffer management over GM: latency if every send and every receive has a new
  buffer on pages of its own
- :mod:`.blocking`: Blocking over GM: latency of receives that wait for an interrupt at once, and
  the difference to receives that spin
"""
