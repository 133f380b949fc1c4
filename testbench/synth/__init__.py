"""From a NIC description to a bitstream, and what it costs in area and time."""
