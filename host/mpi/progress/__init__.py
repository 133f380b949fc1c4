"""Packets out, packets in, and the interface to the channels.

In the order in which to read:

- :mod:`.packets`: Packets of the layer: their kinds and headers
- :mod:`.channel`: The interface between the layer and what carries its packets
- :mod:`.progress`: Progress: packets that go, and packets that come, each handled by its kind
- :mod:`.standstill`: Why no rank goes on: what the ranks of a run know of each other beside the
  target
"""
