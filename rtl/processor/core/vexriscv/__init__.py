"""VexRiscv, the pipelined core.

In the order in which to read:

- :mod:`.core`: VexRiscv as an object at the door of cores
- :mod:`.vexriscv`: The pipelined core
"""
