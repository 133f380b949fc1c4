"""The network interface: registers, FIFOs, rings, and the way to the link.

In the order in which to read:

- :mod:`.nic`: The network interface: registers, send and receive FIFOs with their windows and DMA
  engines
- :mod:`.attachment`: The NIC's slot for an attachment: a VI engine or a processor
- :mod:`.pio_map`: Joins the registers, windows and pages that software reaches by PIO to their
  blocks
- :mod:`.crc`: CRC-32 of a packet: appended by the sender, checked and stripped by the receiver
- :mod:`.packet_merge`: Joins streams of packets into one, a whole packet at a time
- :mod:`.protocol_split`: Splits received packets by protocol
- :mod:`.traced`: The NIC's blocks that emit events, and the stages of a message's flight that
  they are
- :mod:`.design`: Today's NIC as an object at the door: rings, windows, a VI engine or a processor
- :mod:`.fifos`: Send FIFO and receive FIFO, and the windows by which a CPU reaches them
- :mod:`.rings`: Send ring and receive ring: DMA between the FIFOs and host memory
"""
