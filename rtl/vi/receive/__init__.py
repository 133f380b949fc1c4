"""The receive side: from packets to bytes in memory and completed descriptors.

In the order in which to read:

- :mod:`.receiver`: The receive side of the VI engine: packets in, bytes in memory, descriptors
  completed
- :mod:`.parse`: Takes packets of Protocol.VIA apart
- :mod:`.packet_words`: The data of packets, between the parser and whoever scatters it
- :mod:`.receive_state`: What the receive side keeps of each VI between packets
- :mod:`.descriptor`: Finds the receive descriptors that messages go to, ahead of their packets'
  turn
- :mod:`.turn`: The packet whose turn it is in the receiver: what is known of it, and how it ends
- :mod:`.packet_machine`: Handles packets one at a time: takes one, does what it asks for, and has
  it ended
- :mod:`.judge`: Judges packets: whether one counts, and what it asks for
- :mod:`.turn_keeper`: Keeps what is known of the packet whose turn it is in the receiver, and how
  it is to end
- :mod:`.deliver`: Delivers a packet's data: into the segments of a receive descriptor, or where
  the peer wants
- :mod:`.scatter_writer`: Scatters packet data into virtual memory, byte-exact
- :mod:`.finish`: Ends a packet in the receiver: completes its descriptor, stores what is kept,
  tells others
- :mod:`.serve`: Serves the receiver's manager and sender between packets: connections, and RDMA
  reads
"""
