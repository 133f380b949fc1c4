"""SERV, the bit-serial core.

In the order in which to read:

- :mod:`.core`: SERV as an object at the door of cores
- :mod:`.serv`: The bit-serial core
"""
