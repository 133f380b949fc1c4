"""Doorbells, work queues and the scheduler, which gives the VIs their turns.

In the order in which to read:

- :mod:`.doorbells`: Doorbells: PIO writes to VIs' pages become tokens of the work queues, or
  armings
- :mod:`.queues`: Work queues: how many descriptors are posted to each, and where the next one is
- :mod:`.scheduler`: Whose turn it is: the work queues with work, in the order in which they got
  it
"""
