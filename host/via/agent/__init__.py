"""What the kernel agent does whatever the NIC: connections, tables, notices.

In the order in which to read:

- :mod:`.connections`: The connection manager: who waits for whom, and what the kernel agents tell
  each other
- :mod:`.channel`: Messages between the kernel agents of the nodes, over packets that may be lost
  or come twice
- :mod:`.round_trip`: How long an answer may take: a time-out that follows round trips
- :mod:`.receive_ring`: The node's receive ring, which the kernel agent owns: packets for it, one
  after the other
- :mod:`.tables`: The NIC's translation table, written by the kernel agent: three places where it
  can be
- :mod:`.memory_queues`: Completions where a consumer's CPU finds them: status words and
  completion queues in memory
- :mod:`.notifies`: One completion out of a queue, and the handlers that asked to be called with
  one
"""
