"""The target in Amaranth: all hardware, everything that takes target time.

In the order in which to read:

- :mod:`.machine`: The machine: all nodes, the fabric between them, and time, without its
  environment
- :mod:`.target`: The target for simulators: the machine with its host memories and mailboxes
- :mod:`.timekeeper`: Target time: the cycle counter, and when it waits, jumps or ends
- :mod:`.parts`: Building blocks used throughout the target
- :mod:`.node`: A node: CPUs, bus, memory and NIC joined; and two nodes on one copy of the logic
- :mod:`.cpu`: The host port: the operations of a CPU on bus, cache and memory
- :mod:`.bus`: The host bus and the memory behind it
- :mod:`.nic`: The network interface: registers, FIFOs, rings, and the way to the link
- :mod:`.vi`: The VI engine: VIA without a CPU on the path of a message
- :mod:`.processor`: The NIC processor: a published core with NIC memory, and the engines that
  firmware drives
- :mod:`.fabric`: Everything between the nodes' NICs
- :mod:`.boards`: The target on an FPGA board
- :mod:`.instances`: The classes of which a simulator makes instances, so that one build serves any
  number of nodes
"""
