"""The kernel-trap design point: the kernel agent moves the data.

In the order in which to read:

- :mod:`.kernel_trap`: The provider for a NIC without doorbells and VI engine: the kernel agent
  does it all
- :mod:`.receiving`: Kernel-trap design point, receiving: packets are checked, copied out,
  acknowledged, completed
- :mod:`.messages`: Kernel-trap design point: messages become packets, and complete in posting
  order
- :mod:`.packets`: Kernel-trap design point: packets out, kept until acknowledged, and answers
  that are owed
- :mod:`.retransmission`: Kernel-trap design point: acknowledgements, time-outs, and what goes
  again
- :mod:`.timers`: Kernel-trap design point: when something is late
- :mod:`.turns`: Kernel-trap design point: which VI sends next, and whether it may
- :mod:`.completing`: Kernel-trap design point: how descriptors complete, and how a VI breaks
- :mod:`.ends`: Kernel-trap design point: what the kernel agent keeps of a VI and of a completion
  queue
- :mod:`.memory`: Kernel-trap design point: the consumer's memory as the kernel agent sees it
- :mod:`.ring`: Kernel-trap design point: the NIC's send ring, and the kernel's buffers for what
  it sends
- :mod:`.costs`: What the kernel-trap design point costs beside VIPL's own paths: the kernel's
  code on the way of a message
"""
