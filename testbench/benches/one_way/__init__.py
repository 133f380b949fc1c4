"""Benchmarks of layers whose messages go one way: GM, FM, MPL and TCP.

In the order in which to read:

- :mod:`.exchange`: Ping-pongs and streams of these layers
- :mod:`.logp`: LogP of these layers: o_s from few sends, o_r from a ping-pong with a
  delay longer than the round trip, g from a stream, L from the rest of half a round trip
"""
