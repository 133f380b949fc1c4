"""The kernel-trap design point: the kernel agent moves the data.

In the order in which to read:

- :mod:`.kernel_trap`: The provider for a NIC without doorbells and VI engine: the kernel agent
  moves the data
- :mod:`.trap_posts`: Kernel-trap design point: posts descriptors, and sends as much as may be sent
  at once
- :mod:`.trap_queues`: Kernel-trap design point: checks queues, and enters the kernel when it has
  work
- :mod:`.entering`: Kernel-trap design point: serves what the kernel has to do when it is entered
- :mod:`.receiving`: Kernel-trap design point: receives packets; checks, copies, acknowledges and
  completes them
- :mod:`.retransmission`: Kernel-trap design point: acknowledgements, time-outs and retransmission
- :mod:`.turns`: Kernel-trap design point: chooses the VI that sends next, and tells whether it may
  send
- :mod:`.messages`: Kernel-trap design point: cuts messages into packets, and completes them in
  posting order
- :mod:`.completing`: Kernel-trap design point: completes descriptors, breaks VIs, and ends
  connections
- :mod:`.packets`: Kernel-trap design point: outgoing packets, kept until acknowledged, and owed
  answers
- :mod:`.trap_context`: Kernel-trap design point: the state and the resources that its parts share
- :mod:`.timers`: Kernel-trap design point: deadlines of connections
- :mod:`.ends`: Kernel-trap design point: the kernel agent's state of a VI and of a completion queue
- :mod:`.memory`: Kernel-trap design point: the kernel agent's access to the consumer's memory
- :mod:`.packet`: Kernel-trap design point: a packet that the kernel keeps until it is acknowledged
- :mod:`.costs`: CPU costs of the kernel-trap design point in addition to VIPL's paths: the kernel's
  code on the path of a message. Copies, cache misses and PIO are charged where they happen
"""
