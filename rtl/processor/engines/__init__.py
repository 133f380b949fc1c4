"""The four engines that move data for firmware.

In the order in which to read:

- :mod:`.engine_block`: Common base of the four engines of the NIC processor
- :mod:`.command_queue`: The queue of commands in front of an engine
- :mod:`.host_to_nic`: The engine H2N: from host memory to NIC memory
- :mod:`.nic_to_host`: The engine N2H: from NIC memory to host memory
- :mod:`.nic_send`: The engine SEND: from NIC memory to the link
- :mod:`.nic_receive`: The engine RECEIVE: from the link to NIC memory
"""
