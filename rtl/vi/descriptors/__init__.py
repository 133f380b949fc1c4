"""Descriptors in the consumer's memory, for the send and the receive side.

In the order in which to read:

- :mod:`.fetch`: Reads a block of a descriptor, up to 64 bytes, from the consumer's memory
- :mod:`.segment_walk`: Walks the data segments of a descriptor
"""
