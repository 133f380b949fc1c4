"""The host bus and the memory behind it.

In the order in which to read:

- :mod:`.burst`: Bursts: the interface between an initiator (host port, DMA engine) and a target
  (bus, memory)
- :mod:`.write_bursts`: Writes a run of words to host memory, burst after burst: the states that DMA
  engines share
- :mod:`.burst_share`: Two initiators of bursts behind one port
- :mod:`.pio`: Accesses of the host bus to the NIC's registers and FIFO windows: one 8-byte access
  in each beat
- :mod:`.posted_buffer`: The CPU's posted-write buffer: PIO accesses on their way to the bus, in
  program order
- :mod:`.bus`: The host bus of a node: CPU accesses to the NIC, and the NIC's DMA to host memory
- :mod:`.memory`: Host memory of a node, and the controller that shares its one port
- :mod:`.watch`: Watches a range of host memory for lines that a CPU takes for writing
"""
