"""The control side of firmware: registers, doorbells, pending bits, crashes.

In the order in which to read:

- :mod:`.registers`: The NIC processor's register file
- :mod:`.doorbells`: Doorbells of the NIC processor: into a hardware queue, or as words into NIC
  memory
- :mod:`.pending`: What the firmware waits for: the bits of ``pending``, the timer, and sleep
- :mod:`.watchdog`: The watchdog: firmware that runs on without a look at ``wait`` has lost its
  way
- :mod:`.crash`: How the NIC processor stops for good, and what it then says about it
"""
