"""The kernel-trap design point: the kernel agent moves the data.

In the order in which to read:

- :mod:`.kernel_trap`: The provider for a NIC without doorbells and VI engine: the kernel agent
  moves the data
- :mod:`.receiving`: Kernel-trap design point: receives packets; checks, copies, acknowledges and
  completes them
- :mod:`.messages`: Kernel-trap design point: cuts messages into packets, and completes them in
  posting order
- :mod:`.packets`: Kernel-trap design point: outgoing packets, kept until acknowledged, and owed
  answers
- :mod:`.retransmission`: Kernel-trap design point: acknowledgements, time-outs and retransmission
- :mod:`.timers`: Kernel-trap design point: deadlines of connections
- :mod:`.turns`: Kernel-trap design point: chooses the VI that sends next, and tells whether it may
  send
- :mod:`.completing`: Kernel-trap design point: completes descriptors, and breaks VIs
- :mod:`.ends`: Kernel-trap design point: the kernel agent's state of a VI and of a completion queue
- :mod:`.memory`: Kernel-trap design point: the kernel agent's access to the consumer's memory
- :mod:`.packet`: Kernel-trap design point: a packet that the kernel keeps until it is acknowledged
- :mod:`.costs`: CPU costs of the kernel-trap design point in addition to VIPL's paths: the kernel's
  code on the path of a message. Copies, cache misses and PIO are charged where they happen
"""
