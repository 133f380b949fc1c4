"""The classes of which a simulator makes instances, so that one build serves any fabric.

``testbench/simulators/sources/machine.cpp`` joins the instances by the topology and keeps the time.
For Icarus and for a board the same blocks are in one design (:class:`Machine`).

In the order in which to read:

- :mod:`.station`: A node with its ends of the network
- :mod:`.crossbar`: A switch with the collectors of its events
- :mod:`.trunk`: A link between two switches
"""
