"""Building simulators: Amaranth to Verilog to an executable, cached."""
