"""The part of the kernel agent that is the same for every NIC: connections, tables, notifies.

In the order in which to read:

- :mod:`.connections`: The connection manager: pending requests, and the messages between kernel
  agents
- :mod:`.channel`: Messages between the kernel agents of the nodes, over packets that may be lost or
  duplicated
- :mod:`.round_trip`: A time-out that follows the longest round trip
- :mod:`.tables`: The NIC's translation table, which the kernel agent writes: three kinds, by where
  it lies
- :mod:`.memory_queues`: Completions in memory, where a consumer's CPU reads them: status words and
  completion queues
- :mod:`.notifies`: Takes completions out of queues, and calls the handlers of notifies with them
"""
