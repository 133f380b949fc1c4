"""Benchmarks of RPC.

In the order in which to read:

- :mod:`.party`: A node that takes part, with the interface of the parties of Active Messages
- :mod:`.logp`: The LogP signature of asynchronous calls, and what it says of a host that is the
  bottleneck
"""
