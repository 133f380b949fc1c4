"""The host port: the operations of a CPU on bus, cache and memory.

In the order in which to read:

- :mod:`.port_shape`: The structure of a host port: what of a description its netlist depends on
- :mod:`.port_members`: The ports and parameters of a host port
- :mod:`.host_port`: The host port: executes what a host program spends time on
- :mod:`.execution`: Blocks and signals that the parts of a host port's control share while it
  executes an entry
- :mod:`.executor`: Execution of a host port's operations: the parts of its control, one method for
  each operation
- :mod:`.poll`: The checks of a host port's poll: how it reads one of its watches
- :mod:`.spin`: A port that spins on a kept word: what its checks do to it, and the leap over them
- :mod:`.state`: The states in which a host port is with its entry
- :mod:`.kept_words`: The words that a spinning CPU has read and keeps: one for each watch of a poll
- :mod:`.cache_shape`: The structure of a CPU's cache, which its blocks are made from
- :mod:`.cache`: The parts of a CPU's cache
- :mod:`.tag_cache`: The CPU's cache without data: the lines it holds, and its traffic on the memory
  port
- :mod:`.address_bus`: What the caches of a node's CPUs tell each other: address phases, and stores
  that have ended
- :mod:`.coherent_cache`: The cache of one of a node's CPUs, without data, coherent with those of
  the others
- :mod:`.inner_cache`: The first of two levels of a CPU's cache, without data: the lines that loads
  find at once
- :mod:`.owned_swap`: Compare-and-swap of a word whose line is in the CPU's cache
- :mod:`.beats`: A cache line as beats of a memory port that is wider than a word
- :mod:`.block_buffer`: The CPU's buffer for block stores: a line on its way to memory
- :mod:`.compare_and_swap`: Compare-and-swap of a word of host memory, atomic at the memory
  controller
- :mod:`.irq_delay`: The delay of an interrupt from the NIC's line to the CPU
- :mod:`.mailbox`: A host port's block of entries and answers, as flat ports of the simulated target
"""
