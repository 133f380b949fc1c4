"""Descriptors in the consumer's memory, read by both sides.

In the order in which to read:

- :mod:`.fetch`: Reads a block of a descriptor, up to 64 bytes, from the consumer's memory
- :mod:`.segment_walk`: Walks the data segments of a descriptor
"""
