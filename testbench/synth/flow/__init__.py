"""From RTLIL to cells, places and wires of a device.

In the order in which to read:

- :mod:`.tools`: The tools for an ECP5, from PyPI: found, run, and followed while they run
- :mod:`.device`: The devices: what a platform of amaranth-boards says of its own, and what is in
  it
- :mod:`.netlist`: Synthesis: RTLIL to a netlist of an ECP5's cells, kept in the cache
- :mod:`.collisions`: Tells yosys which memories may read anything where a read meets a write
- :mod:`.resets`: Resets of a netlist on the network that reaches all of a device
- :mod:`.placement`: Placing and routing a netlist on a board's device, and its bitstream; kept in
  the cache
- :mod:`.routing`: nextpnr's router, followed while it routes: how far it is, and when it will not
  end
- :mod:`.timing`: What limits the clock, out of nextpnr's report
- :mod:`.area`: What of a device a netlist takes, block by block
"""
