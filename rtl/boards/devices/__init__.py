"""The supported boards: clock, pins, device.

In the order in which to read:

- :mod:`.board`: Description of a board: a platform of amaranth-boards, and the parts of it that are
  used
- :mod:`.top`: The top of a board: its clock, its pins, and the core behind them
- :mod:`.pll`: The clock of a board: any that the ECP5's PLL makes exactly from its oscillator
- :mod:`.ecpix5`: LambdaConcept's ECPIX-5 with an LFE5UM5G-85F
- :mod:`.ulx3s`: Radiona's ULX3S with an LFE5U-85F
"""
