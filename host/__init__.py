"""Host programs and the layers they use. They take target time only in operations of their host
port.

In the order in which to read:

- :mod:`.runtime`: Runs host programs as coroutines, whenever the target needs them
- :mod:`.background`: The programs of layers, which the runtime starts beside those of the user
- :mod:`.endpoint`: One side of an exchange of messages, with the same interface on every layer
- :mod:`.port`: A node for its program: its port, its memory, and the costs of CPU work
- :mod:`.kernel`: The operating system of a node, as far as several layers enter it
- :mod:`.nic`: Drivers of the NIC for the layers above: its rings, windows and registers
- :mod:`.processor`: The NIC processor for host programs: loading firmware, queues to it and
  commands to it
- :mod:`.raw`: Raw frames: the NIC by itself, without a protocol. A frame that is lost stays lost
- :mod:`.am`: Generic Active Messages 1.1 over the NIC
- :mod:`.splitc`: Split-C over Active Messages: a global address space of all processes, one a node
- :mod:`.apps`: Programs over Split-C: a matrix product and two sorts, as the studies of parallel
  machines ran them
- :mod:`.smp`: Locks and barriers among the CPUs of a node, and several layers on one CPU
- :mod:`.mpi`: MPI over VIA, GM, TCP and shared memory, for coroutines, Python and C
- :mod:`.mpl`: MPL, the SP-2's message passing, over Active Messages: :class:`Mpl`, one object a
  node
- :mod:`.rpc`: Asynchronous remote procedure calls through the kernel: :class:`Rpc`, one object a
  node
- :mod:`.tcp`: TCP/IP through the kernel: sockets on the rings of the NIC
- :mod:`.fm`: Fast Messages 1.1 over firmware ``fm``: :class:`Fm`, one object a node
- :mod:`.gm`: GM message passing over the NIC processor's firmware ``gm``: the library and the
  driver
- :mod:`.via`: The Virtual Interface Architecture for host programs: VIPL, under its own names
"""
