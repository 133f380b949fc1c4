"""SERV, the bit-serial core.

In the order in which to read:

- :mod:`.core`: The core, as the door has it
- :mod:`.serv`: The bit-serial core
"""
