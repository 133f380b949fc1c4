"""The host port: the operations of a CPU on bus, cache and memory.

In the order in which to read:

- :mod:`.host_port`: The host port: executes what a host program spends time on
- :mod:`.executor`: How a host port executes operations: the parts of its control, an operation a
  method
- :mod:`.poll`: How a host port's poll looks at one of its watches
- :mod:`.kept_words`: The words that a spinning CPU has read and still holds: one for each watch
  of a poll
- :mod:`.tag_cache`: The CPU's cache without its data: which lines it holds, and what the memory
  port sees of it
- :mod:`.compare_and_swap`: Compare-and-swap of a word of host memory, atomic at the memory
  controller
- :mod:`.interrupt`: The way of an interrupt from the NIC's line to the CPU
- :mod:`.mailbox`: A host port's block of entries and answers, as flat ports of the simulated
  target
"""
