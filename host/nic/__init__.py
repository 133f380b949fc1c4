"""What drives the NIC: rings, windows and registers, for the layers above.

Layers own packets; here is how packets get into the NIC and out of it.

In the order in which to read:

- :mod:`.registers`: Bits of the NIC's control register
- :mod:`.send_ring`: The NIC's send ring, and buffers for outgoing data
- :mod:`.receive_slots`: The slots of host memory that the NIC fills with packets, one after the
  other
- :mod:`.receive_ring`: The NIC's receive ring, as a kernel drives it: by interrupts
- :mod:`.costs`: CPU costs of driving the NIC's rings, besides PIO and memory traffic
"""
