"""PicoRV32, the multi-cycle core.

In the order in which to read:

- :mod:`.core`: PicoRV32 as an object at the door of cores
- :mod:`.picorv32`: The multi-cycle core
"""
