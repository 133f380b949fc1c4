"""The NIC processor: a published core with NIC memory, and the engines that firmware drives.

In the order in which to read:

- :mod:`.subsystem`: The NIC processor and all that belongs to it
- :mod:`.types`: How the parts of the NIC processor's subsystem are joined
- :mod:`.core`: The cores to choose from, and their bus
- :mod:`.memory`: NIC memory, and who shares it
- :mod:`.control`: What firmware reads and waits for: registers, doorbells, pending bits, crashes
- :mod:`.engines`: The four engines that move data for firmware
"""
