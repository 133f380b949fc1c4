"""The boards there are: clock, pins, device.

In the order in which to read:

- :mod:`.board`: What a board is: a platform of amaranth-boards, and what of it is used
- :mod:`.top`: The top of a board: its clock, its pins, and what they belong to
- :mod:`.pll`: The clock of a board: any that the ECP5's PLL makes of its oscillator exactly
- :mod:`.ecpix5`: LambdaConcept's ECPIX-5 with an LFE5UM5G-85F
- :mod:`.ulx3s`: Radiona's ULX3S with an LFE5U-85F
"""
