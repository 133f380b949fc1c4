"""The send side: from a work queue's turn to packets, and the handling of answers.

In the order in which to read:

- :mod:`.sender`: The send side of the VI engine: from a work queue's turn to packets, and back
- :mod:`.job`: Structs and signatures between the parts of the sender
- :mod:`.fetch`: First stage of the sender: takes a queue's turn, reads its descriptor, and makes a
  job of it
- :mod:`.turn_check`: Looks at work queues' turns: which of them give a job, and for which
  descriptor
- :mod:`.turn`: The fetch stage's decision: the job that follows from a work queue's turn
- :mod:`.packet_build`: Second stage of the sender: gathers one packet's data, or completes a
  descriptor
- :mod:`.packet_pieces`: Gathers the data of a packet, piece by piece, from the memory that its job
  names
- :mod:`.job_end`: Ends a job of the sender: its completion, its errors, the end of its connection
- :mod:`.packet_headers`: The headers of a packet, which the second stage writes into its slot
- :mod:`.packet_gather`: Gathers pieces of memory, of any length and alignment, into the words
  of a packet
- :mod:`.slots`: Send slots: whole packets, kept until they have left or are acknowledged
- :mod:`.transmit`: Packets out, in this order: answers, other control packets, packets sent again,
  new packets
- :mod:`.acknowledgements`: Answers to the sender: acknowledgements and breaks; also time-outs, and
  orders of the manager
- :mod:`.sent_window`: Drops the packets of a VI that have arrived, and completes the descriptors
  that end with them
- :mod:`.go_back`: Queues the packets of a VI again that its peer lacks
- :mod:`.patience`: Tells how long a peer that does not answer is waited for
- :mod:`.unacknowledged`: Reliable Reception descriptors that were sent and are not acknowledged,
  oldest first
- :mod:`.owed_answers`: Answers that are owed to the peers: the newest one of each VI
- :mod:`.read_responder`: Responses to the peers' RDMA reads that are still to be sent
- :mod:`.read_timer`: Timer of outstanding RDMA reads
"""
