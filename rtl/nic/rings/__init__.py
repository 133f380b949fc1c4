"""Send ring and receive ring: DMA between the FIFOs and host memory.

In the order in which to read:

- :mod:`.send_dma`: Send FIFO, DMA lane: fetches descriptors and payloads from host memory and
  makes packets
- :mod:`.descriptor_store`: The descriptors of the send ring that the NIC has fetched and not yet
  finished
- :mod:`.ring_fetch`: Fetches the descriptors of the send ring from host memory, ahead of those
  that are done
- :mod:`.line_ring`: The send ring that is pulled: which of its cache lines to look at, and what
  a line says
- :mod:`.packet_maker`: Makes packets of descriptors: header, inline bytes and payload, a word
  after the other
- :mod:`.payload_fetch`: Reads the payload of a packet from host memory, as far as the lane has
  room for it
- :mod:`.done_reporter`: Tells software in host memory how many descriptors of the send ring are
  done
- :mod:`.burst_arbiter`: Shares the send DMA engine's port to host memory among its parts, one
  burst at a time
- :mod:`.no_send_dma`: Stands for the send DMA engine in a NIC without a send ring
- :mod:`.receive_dma`: Receive DMA: moves packets from the receive FIFO into the slots of the
  receive ring
"""
