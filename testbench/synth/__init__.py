"""From a NIC description to a bitstream, and what it costs in area and time.

In the order in which to read:

- :mod:`.plan`: What is synthesised: a NIC description on a board, or the same without a board's
  pins
- :mod:`.identity`: What tells one configuration's bitstream from another's
- :mod:`.boards`: The boards there are
- :mod:`.clocks`: Clocks that a board can have: its PLL makes them, and they give the line's rate
- :mod:`.seeds`: A netlist placed with several seeds, and the best of them
- :mod:`.gates`: The gate level: a netlist of an ECP5's cells as Verilog that a simulator takes
- :mod:`.gates_command`: The netlist that ``--sim gates`` runs, written to a file with models of
  its cells: ``python -m nicbed.testbench.synth.gates_command --nic FILE --out FILE.v``
- :mod:`.program`: A bitstream into a board, by openFPGALoader
- :mod:`.report`: What a synthesis found: a table, a document, and why it is no good
- :mod:`.area_docs`: Makes docs/area.md: ``./nicbed test --full -k area_docs --update`` writes it;
  without ``--update`` the test compares it
- :mod:`.flow`: From RTLIL to cells, places and wires of a device
"""
