"""The VI engine: VIA without a CPU on the path of a message.

In the order in which to read:

- :mod:`.engine`: The VI engine: its blocks, and how they are joined
- :mod:`.types`: What the blocks of the VI engine say to each other
- :mod:`.contexts`: VI contexts: what the kernel agent laid down about each VI, and the state of
  each
- :mod:`.manager`: The life of VIs: commands of the kernel agent, and errors that break
  connections
- :mod:`.events`: Events that wait for the kernel agent
- :mod:`.records`: A record for every VI, in block memory
- :mod:`.work`: Whose turn it is: doorbells, work queues, the scheduler
- :mod:`.descriptors`: Descriptors in the consumer's memory, as both sides read them
- :mod:`.send`: The send side: from a work queue's turn to packets, and what comes back
- :mod:`.receive`: The receive side: from packets to bytes in memory and completed descriptors
- :mod:`.translate`: From a virtual address and a memory handle to a physical address, or a
  refusal
- :mod:`.complete`: Status into descriptors, entries into completion queues
"""
