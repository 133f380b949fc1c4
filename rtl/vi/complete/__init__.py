"""Writing status into descriptors, and entries into completion queues.

In the order in which to read:

- :mod:`.completion_unit`: The completion unit: status into descriptors, entries into
  completion queues, armed events
- :mod:`.completion_write`: Writes what a completion says: status into a descriptor, an entry into a
  completion queue
- :mod:`.completion_queues`: Completion queues: address, fill level and arming of each
- :mod:`.completion_counts`: The number of completed descriptors of each work queue, and its arming
"""
