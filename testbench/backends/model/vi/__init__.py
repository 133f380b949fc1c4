"""The VI engine's model: the specification in Python.

In the order in which to read:

- :mod:`.engine`: The VI engine's model: VIs, doorbells, kernel registers, errors
- :mod:`.queues`: The VI engine's model, queues: work queues, completions and completion queues,
  events
- :mod:`.memory`: The VI engine's model, memory: translation and protection, descriptors, gather
  and scatter
- :mod:`.send`: The VI engine's model, sending: messages become packets, packets are sent until
  acknowledged
- :mod:`.receive`: The VI engine's model, receiving: packets are checked, scattered, acknowledged,
  completed
- :mod:`.link`: The VI engine's model, the way out: headers of packets, and the order of packets on
  the link
"""
