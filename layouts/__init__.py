"""Declarations that RTL, host programs and firmware share. Imports no Amaranth.

In the order in which to read:

- :mod:`.errors`: Errors that a user can cause: one line on stderr, an exit status, no traceback
- :mod:`.bits`: Bit fields of a word: packing, unpacking, and the order that RTL structs follow
- :mod:`.in_c`: The part of the C header of firmware that a module of layouts declares
- :mod:`.packet`: A packet on a link: header word, payload in 8-byte flits, a CRC-32 trailer
- :mod:`.operations`: Operations of the host port: the ways in which a host CPU spends time
- :mod:`.trace`: The event trace: which block did what to which message, and when
- :mod:`.description`: The NIC description: every knob of the testbed, declared once
- :mod:`.rate`: Exact rates: bytes a cycle (or a ratio) as a fraction, and its fixed-point register
- :mod:`.timing`: Timing registers of the target: how each timing knob is encoded, and at which
  index it is set
- :mod:`.fabric`: The graph of switches: where each node is attached, the routes between nodes, and
  the buffers of the links
- :mod:`.registers`: Register map of the NIC's PIO window: the single declaration for decode, host,
  docs and C
- :mod:`.rings`: Send ring descriptors and receive ring slots, in host memory
- :mod:`.processor`: The NIC processor's side of the NIC: memory map, registers, doorbells, queues
  from the host
- :mod:`.am`: The header of Active Messages: two 8-byte words behind the wire header
- :mod:`.am2`: Active Messages II: limits, statuses, operations, and the packet of the shared-memory
  queues
- :mod:`.am2_nic`: Active Messages II in the NIC: frames, the kernel's commands, packets
- :mod:`.fm`: The header of Fast Messages: one 8-byte word behind the wire header, then up to a
  frame's bytes
- :mod:`.gm`: GM message passing: ports, commands, events, packets
- :mod:`.unet`: U-Net: endpoints, their queues, channels, packets
- :mod:`.vmmc`: VMMC: virtual memory-mapped communication: tables, commands, events, packets
- :mod:`.via`: The Virtual Interface Architecture: descriptors, doorbells, tables, packets, events
- :mod:`.board`: The protocol of the serial line between a board and the back end: frames, commands,
  responses
- :mod:`.doors`: Doors: how NIC designs, layers, cores and topologies are found, ours and others'
- :mod:`.docs`: Generators of the pages of docs/ that come from the declarations
"""
