"""The available cores, and their bus.

In the order in which to read:

- :mod:`.cores`: The cores to choose from
- :mod:`.serv`: The bit-serial core
- :mod:`.picorv32`: The multi-cycle core
- :mod:`.vexriscv`: The pipelined core
- :mod:`.verilog`: The Verilog of the cores, out of the packages that publish them
- :mod:`.enabled_core`: A core whose Verilog has no clock enable, made to have one
- :mod:`.clock_gate`: The clock of a core that has no clock enable
- :mod:`.core_bus`: Where a core's accesses go
- :mod:`.fetch_buffer`: The instructions that a core is about to fetch
"""
