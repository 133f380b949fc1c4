"""A node: CPUs, bus, memory and NIC joined; and two nodes on one copy of the logic.

In the order in which to read:

- :mod:`.nic_side`: The socket of a node for a network interface: all that a node knows of it
- :mod:`.dma_adapter`: Joins wide bursts, several under way at once, to the 8-byte bus of today
- :mod:`.link_adapter`: Joins a NIC with wide flits to the 8-byte link of today
- :mod:`.flat_ports`: The members of a NIC's socket as ports of a module in Verilog: one name for
  each field
- :mod:`.verilog_nic`: A NIC in Verilog: a component around a user's module
- :mod:`.node`: A node: host ports, bus, memory controller and NIC
- :mod:`.banked`: A block with two banks of registers and memories around one copy of its logic
- :mod:`.shared_nodes`: Two nodes that share one copy of a node's logic, and take turns
"""
