"""Firmware of NIC processors: C sources a folder each, their build, and the header of the layouts.

In the order in which to read:

- :mod:`.build`: Builds firmware for the NIC processor: ``python -m nicbed.firmware.build NAME
  CORE [MEMORY]``
- :mod:`.header`: Makes the C header of the NIC's layouts: registers, packets, rings, the NIC
  processor, VIA
- :mod:`.image`: Firmware that has been built: its bytes, its symbols, where a program counter is
  in its source
- :mod:`.debug`: Symbols and debug information of an ELF file, as much as a report of a place
  needs
- :mod:`.cache`: The cache of built things: one directory an entry, complete or not there at all
"""
