"""The operating system of a node, as far as several layers enter it.

It knows no protocol. A layer's own part of the kernel is in the layer's folder.

In the order in which to read:

- :mod:`.process`: A process: its virtual memory, scattered over a node's physical pages
- :mod:`.page_frames`: The physical pages of a node, which its kernel gives to processes
- :mod:`.timers`: The deadlines of a kernel's timers, and the waits of a CPU for them
- :mod:`.jacobson`: The time-out that measured round trips ask for
- :mod:`.interrupts`: The interrupt line of a CPU, which the layers on several NICs may share
- :mod:`.lock`: The kernel of a node whose CPUs share a NIC: one CPU at a time executes it
- :mod:`.sleeping`: Gives up the CPU inside the kernel
- :mod:`.costs`: CPU costs of a kernel that several CPUs execute: paths, counted from a C
  implementation
"""
