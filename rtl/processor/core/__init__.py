"""The available cores, and their bus.

In the order in which to read:

- :mod:`.cores`: The available cores
- :mod:`.serv`: The bit-serial core
- :mod:`.picorv32`: The multi-cycle core
- :mod:`.vexriscv`: The pipelined core
- :mod:`.verilog`: The Verilog of the cores, from the packages that publish them
- :mod:`.enabled_core`: Adds a clock enable to a core whose Verilog has none
- :mod:`.clock_gate`: The clock of a core that has no clock enable
- :mod:`.core_router`: Decoding of a core's accesses
- :mod:`.host_words`: The core's own loads and stores of host memory
- :mod:`.fetch_buffer`: Buffer of the instructions that a core fetches next
"""
