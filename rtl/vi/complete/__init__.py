"""Writing status into descriptors, and entries into completion queues.

In the order in which to read:

- :mod:`.completion`: The completion unit: status into descriptors, entries into completion
  queues, armed events
- :mod:`.queues`: Completion queues: where each is, how far it is filled and emptied, and who
  waits for it
- :mod:`.counts`: How many descriptors of each work queue have completed, and who waits for the
  next
"""
