"""Packets out, packets in, and the interface to the channels.

In the order in which to read:

- :mod:`.packets`: Packets of the layer: their kinds and headers
- :mod:`.channel`: The interface between the layer and its channels
- :mod:`.progress`: Progress: packets that go, and packets that come, each handled by its kind
- :mod:`.standstill`: Observes all ranks of a run from outside the target, to report why none of
  them can go on
"""
