"""Benchmarks of RPC.

In the order in which to read:

- :mod:`.logp`: The LogP signature of asynchronous calls, and what it says of a host that is the
  bottleneck
"""
