"""Building simulators: Amaranth to Verilog to an executable, cached.

In the order in which to read:

- :mod:`.simulator`: The simulator of the target for a description: built once for each structure,
  then found in the cache
- :mod:`.verilog`: Makes Verilog from Amaranth, in the two forms that the simulators need
- :mod:`.instances`: The target as instances of a station, a crossbar and a trunk: one simulator for
  any fabric
- :mod:`.one_design`: The whole target as one netlist: for Icarus, to compare the instances with,
  and for targets of a user's own
- :mod:`.held_inputs`: A Verilog top around a netlist that holds its combinational inputs for
  Verilator
- :mod:`.verilator`: Verilog to an executable: Verilator, then a C++ compiler on all cores, no make
  and no perl
- :mod:`.icarus`: Verilog to an Icarus Verilog simulation, with a clock that stops while the target
  stalls
- :mod:`.structures`: C structures of the simulators' sources, as ctypes have them: headers alone
  declare them
- :mod:`.board`: A board's top as an executable, its serial line a pseudo-terminal
- :mod:`.cache`: The cache of built simulators: the firmware's (:mod:`nicbed.firmware.cache`), and
  the machine on which a native executable depends
"""
