"""The VI engine: VIA without a CPU on the path of a message.

In the order in which to read:

- :mod:`.engine`: The VI engine: its blocks, and how they are connected
- :mod:`.attached_engine`: The VI engine attached to the NIC: with its registers and pages
- :mod:`.types`: Signatures and structs between the blocks of the VI engine
- :mod:`.contexts`: VI contexts: the kernel agent's settings of each VI, and the state of each
- :mod:`.manager`: The life of VIs: commands of the kernel agent, and errors that break connections
- :mod:`.event_queue`: Events that wait for the kernel agent
- :mod:`.records`: A record for every VI, in block memory
- :mod:`.work_queues`: Doorbells, work queues and the scheduler, which gives the VIs their turns
- :mod:`.descriptors`: Descriptors in the consumer's memory, for the send and the receive side
- :mod:`.send`: The send side: from a work queue's turn to packets, and the handling of answers
- :mod:`.receive`: The receive side: from packets to bytes in memory and completed descriptors
- :mod:`.translate`: Translation of a virtual address and a memory handle to a physical address, or
  a refusal
- :mod:`.complete`: Writing status into descriptors, and entries into completion queues
"""
