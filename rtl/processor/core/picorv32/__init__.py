"""PicoRV32, the multi-cycle core.

In the order in which to read:

- :mod:`.core`: The core, as the door has it
- :mod:`.picorv32`: The multi-cycle core
"""
