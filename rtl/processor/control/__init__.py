"""The control side of firmware: registers, doorbells, pending bits, crashes.

In the order in which to read:

- :mod:`.mmio`: The NIC processor's register file
- :mod:`.doorbells`: Doorbells of the NIC processor: into a hardware queue, or as words into NIC
  memory
- :mod:`.pending_bits`: Pending events for the firmware: the bits of ``pending``, the timer, and
  sleep
- :mod:`.watchdog`: The watchdog: detects firmware that runs for too long without a read of ``wait``
- :mod:`.crash`: Crashes: how the NIC processor stops for good, and the report of it
"""
