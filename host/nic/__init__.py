"""Drivers of the NIC for the layers above: its rings, windows and registers.

Layers own packets; here is how packets get into the NIC and out of it.

In the order in which to read:

- :mod:`.kinds`: The kinds of drivers by which layers use a NIC
- :mod:`.offers`: The drivers of the NIC that is built in, whose design is called "rings"
- :mod:`.ring_frames`: Frames by the rings and windows of the NIC, without a kernel
- :mod:`.send_window`: The NIC's send window: the CPU writes a packet's words to it, header first
- :mod:`.send_ring`: The NIC's send ring, and buffers for outgoing data
- :mod:`.done_count`: A count in host memory by which the NIC reports how many posted items are done
- :mod:`.receive_slots`: The slots of host memory that the NIC fills with packets, one after the
  other
- :mod:`.receive_ring`: The NIC's receive ring, as a kernel drives it: by interrupts
- :mod:`.registers`: Bits of the NIC's control register
- :mod:`.costs`: CPU costs of driving the NIC's rings, besides PIO and memory traffic
"""
