"""Send FIFO and receive FIFO, and the windows by which a CPU reaches them.

In the order in which to read:

- :mod:`.packet_fifo`: The size and the longest packet that all FIFOs of packets share
- :mod:`.lanes`: Joins the two lanes of the send FIFO, PIO and DMA, to their merge
- :mod:`.send_window`: Send FIFO, PIO lane: words that the CPU writes become packets
- :mod:`.lane_merge`: Joins the lanes of the send FIFO, PIO and DMA, in the order in which
  software issued them
- :mod:`.receive_fifo`: Receive FIFO: checks packets, keeps the good ones, and drops the others or
  marks them as bad
- :mod:`.receive_window`: Receive FIFO, PIO side: the CPU reads packets word by word
"""
