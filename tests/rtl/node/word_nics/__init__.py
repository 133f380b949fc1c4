"""NIC designs for tests, that send and receive packets of one word: one in Amaranth, one in
Verilog.

In the order in which to read:

- :mod:`.designs`: The designs, with a knob of their own and events of their own
- :mod:`.in_amaranth`: The NIC in Amaranth
"""
