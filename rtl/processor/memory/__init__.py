"""NIC memory, and the clients that share it.

In the order in which to read:

- :mod:`.nic_memory`: NIC memory: firmware, its data, packets
- :mod:`.memory_share`: Shares the 64-bit port of NIC memory
- :mod:`.window`: NIC memory in the PIO window: access rights, and the check sum of loading
"""
