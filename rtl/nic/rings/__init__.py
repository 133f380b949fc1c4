"""Send ring and receive ring: DMA between the FIFOs and host memory.

In the order in which to read:

- :mod:`.send_dma`: Send FIFO, DMA lane: fetches descriptors and payloads from host memory and
  makes packets
- :mod:`.line_ring`: The send ring that is pulled: which of its cache lines to look at, and what
  a line says
- :mod:`.no_send_dma`: Stands for the send DMA engine in a NIC without a send ring
- :mod:`.receive_dma`: Receive DMA: moves packets from the receive FIFO into the slots of the
  receive ring
"""
