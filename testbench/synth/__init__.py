"""Turns a NIC description into a bitstream, and reports its area and timing.

In the order in which to read:

- :mod:`.plan`: The design to synthesise: a NIC description on a board, or without a board's pins
- :mod:`.nic`: The area of a NIC by itself, which is the metric ``area``
- :mod:`.identity`: The hash that identifies a bitstream's configuration
- :mod:`.boards`: The door of boards
- :mod:`.clocks`: Clocks of a board: those that its PLL can make and that give the line's rate
- :mod:`.seeds`: Places a netlist with several seeds and keeps the best result
- :mod:`.gates`: The gate level: a netlist of an ECP5's cells as Verilog for a simulator
- :mod:`.gates_command`: The netlist that ``--sim gates`` runs, written to a file with models of its
  cells: ``python -m nicbed.testbench.synth.gates_command --nic FILE --out FILE.v``
- :mod:`.program`: Programs a bitstream into a board by openFPGALoader
- :mod:`.report`: Reports of a synthesis: a table, a document, and errors
- :mod:`.area_docs`: Makes docs/reference/area.md: ``./nicbed test --full -k area_docs --update``
  writes it; without ``--update`` the test compares it
- :mod:`.flow`: Turns RTLIL into cells, places and wires of a device
"""
