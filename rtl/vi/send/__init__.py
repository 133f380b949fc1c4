"""The send side: from a work queue's turn to packets, and what comes back.

In the order in which to read:

- :mod:`.sender`: The send side of the VI engine: from a work queue's turn to packets, and back
- :mod:`.job`: What the parts of the sender say to each other
- :mod:`.fetch`: First stage of the sender: whose turn it is, what its descriptor says, what is to
  be done
- :mod:`.turn`: What a turn of a work queue comes to: the fetch stage's decision
- :mod:`.packet_build`: Second stage of the sender: gathers one packet's data, or completes a
  descriptor
- :mod:`.packet_headers`: The headers of a packet, as the walk stage writes them into its slot
- :mod:`.gather`: Gathers pieces of memory, of any length and alignment, into the words of a
  packet
- :mod:`.slots`: Send slots: whole packets, kept until they have left or are acknowledged
- :mod:`.transmit`: Packets out: answers first, then other control packets, what is to be sent
  again, what is new
- :mod:`.acknowledgements`: What comes back to the sender: acknowledgements, breaks, time-outs,
  orders of the manager
- :mod:`.unacknowledged`: Descriptors of Reliable Reception that were sent and are not
  acknowledged, oldest first
- :mod:`.owed_answers`: What the peers are to be told and have not been yet: one answer a VI, the
  newest
- :mod:`.read_responder`: What the peers' RDMA reads are still to get
- :mod:`.read_timer`: Whose RDMA read has been outstanding for long
"""
