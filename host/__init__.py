"""Host programs and the layers they use. They take target time only in operations of their host
port.

In the order in which to read:

- :mod:`.runtime`: Runs host programs as coroutines, each time the target needs them
- :mod:`.port`: A node as its program sees it: its port, its memory, what its CPU's work costs
- :mod:`.processor`: The NIC processor as a host program sees it: loading firmware, queues and
  commands to it
- :mod:`.am`: Generic Active Messages 1.1 over the NIC
- :mod:`.fm`: Fast Messages 1.1 over firmware ``fm``
- :mod:`.gm`: GM message passing over the NIC processor's firmware ``gm``: the library and the
  driver
- :mod:`.via`: The Virtual Interface Architecture for host programs: VIPL, under its own names
"""
