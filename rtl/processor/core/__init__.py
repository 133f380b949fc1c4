"""Cores, and their bus.

In the order in which to read:

- :mod:`.cores`: Makes the core that ``nic.processor`` names
- :mod:`.serv`: SERV, the bit-serial core
- :mod:`.picorv32`: PicoRV32, the multi-cycle core
- :mod:`.vexriscv`: VexRiscv, the pipelined core
- :mod:`.published`: Finds the Verilog of published cores in their packages, and adds the
  instruction's address as an output
- :mod:`.verilog`: The Verilog of a core
- :mod:`.enabled_core`: Adds a clock enable to a core whose Verilog has none
- :mod:`.clock_gate`: The clock of a core that has no clock enable
- :mod:`.core_router`: Decoding of a core's accesses
- :mod:`.host_words`: The core's own loads and stores of host memory
- :mod:`.fetch_buffer`: Buffer of the instructions that a core fetches next
"""
