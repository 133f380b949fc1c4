"""Firmware of NIC processors: C sources, one folder each, their build, and the header of the
layouts.

In the order in which to read:

- :mod:`.build`: Builds firmware for the NIC processor: ``python -m nicbed.firmware.build NAME CORE
  [MEMORY]``
- :mod:`.header`: Generates the C header of the NIC's layouts: registers, packets, rings, the NIC
  processor, VIA
- :mod:`.image`: A built firmware: its bytes, its symbols, and the source line of a program counter
- :mod:`.debug`: Symbols and debug information of an ELF file, as far as reports of a place need
  them
- :mod:`.cache`: The cache of builds: one directory for each entry, which is complete or does not
  exist
- :mod:`.tools`: The tools of PyPI that keep caches of their own: the compiler, Yosys; and
  Matplotlib
"""
