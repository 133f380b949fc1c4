"""Doorbells, work queues and the scheduler, which gives the VIs their turns.

In the order in which to read:

- :mod:`.doorbells`: Doorbells: PIO writes to VIs' pages become tokens of the work queues, or
  armings
- :mod:`.queues`: Work queues: the number of descriptors posted to each, and the address of the next
  one
- :mod:`.scheduler`: The scheduler: gives turns to work queues with work, in the order in which they
  got it
"""
