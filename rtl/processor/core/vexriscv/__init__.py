"""VexRiscv, the pipelined core.

In the order in which to read:

- :mod:`.core`: The core, as the door has it
- :mod:`.vexriscv`: The pipelined core
"""
