"""The receive side: from packets to bytes in memory and completed descriptors.

In the order in which to read:

- :mod:`.receiver`: The receive side of the VI engine: packets in, bytes in memory, descriptors
  completed
- :mod:`.parse`: Takes packets of Protocol.VIA apart
- :mod:`.packet_words`: The data of packets, between the parser and whoever scatters it
- :mod:`.receive_state`: What the receive side keeps of each VI between packets
- :mod:`.descriptor`: Finds the receive descriptors that messages go to, ahead of their packets'
  turn
- :mod:`.turn`: The packet whose turn it is in the receiver: its registers
- :mod:`.packet_machine`: The receiver's state machine: what happens to a packet, step by step
- :mod:`.scatter_writer`: Scatters packet data into virtual memory, byte-exact
- :mod:`.packet_end`: How a packet ends in the receiver, and what manager and sender are told
"""
