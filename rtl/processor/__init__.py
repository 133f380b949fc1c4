"""The NIC processor: a published core with NIC memory, and the engines that firmware drives.

In the order in which to read:

- :mod:`.processor`: The NIC processor's subsystem: core, NIC memory, registers and engines
- :mod:`.attached_processor`: The processor attached to the NIC: with its registers, doorbell pages
  and window
- :mod:`.types`: Signatures that connect the parts of the NIC processor's subsystem
- :mod:`.core`: The available cores, and their bus
- :mod:`.memory`: NIC memory, and the clients that share it
- :mod:`.control`: The control side of firmware: registers, doorbells, pending bits, crashes
- :mod:`.engines`: The four engines that move data for firmware
"""
