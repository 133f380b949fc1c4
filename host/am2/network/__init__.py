"""Active Messages II by the NICs: firmware am2.

In the order in which to read:

- :mod:`.way`: The way of messages by the NICs: firmware am2, and a frame in NIC memory for each
  endpoint
- :mod:`.numbering`: NIC and number of each endpoint, which all processes know by its name
- :mod:`.frame`: The frame of an endpoint, as its process knows it
- :mod:`.posting`: Puts messages into the send queues of frames
- :mod:`.receiving`: Takes messages out of the receive queues of frames, by PIO
- :mod:`.driver`: The driver: firmware, frames, the interrupt
- :mod:`.frames`: Shares the frames of a NIC among its endpoints: those that do not fit wait in host
  memory
- :mod:`.costs`: Prices the network's way of AM-II: every path of library and driver is a sum of
  cost items
"""

from .way import NetworkWay

__all__ = ["NetworkWay"]
