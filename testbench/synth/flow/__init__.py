"""Turns RTLIL into cells, places and wires of a device.

In the order in which to read:

- :mod:`.tools`: The tools for an ECP5, from PyPI: found, run, and followed while they run
- :mod:`.device`: Devices: the data of a platform of amaranth-boards, and the resources of each
  device
- :mod:`.netlist`: Synthesis: RTLIL to a netlist of an ECP5's cells, kept in the cache
- :mod:`.collisions`: Tells yosys which memories may read an undefined word if it is written at the
  same edge
- :mod:`.resets`: Puts large resets of a netlist on the global lines of a device
- :mod:`.placement`: Placing and routing a netlist on a board's device, and its bitstream; kept in
  the cache
- :mod:`.routing`: Follows nextpnr's router while it routes: its progress, and whether it will end
- :mod:`.timing`: The critical paths of each clock, from nextpnr's report
- :mod:`.area`: The area of a netlist on a device, block by block
"""
