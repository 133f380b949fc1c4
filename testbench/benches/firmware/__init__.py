"""Benchmarks of the layers that are firmware of the NIC processor: GM and Fast Messages.

In the order in which to read:

- :mod:`.parties`: A node that takes part in a benchmark of GM or of Fast Messages, with the same
  interface for both
- :mod:`.exchange`: Ping-pongs and streams of GM and of Fast Messages
- :mod:`.logp`: LogP of GM and of Fast Messages: o_s from few sends, o_r from a ping-pong with a
  delay longer than the round trip, g from a stream, L from the rest of half a round trip
"""
