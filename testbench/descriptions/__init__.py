"""NIC descriptions: from files and overrides, along the axes, and notes about them.

In the order in which to read:

- :mod:`.load`: NIC descriptions: from a TOML file and ``--set`` overrides to a validated
  configuration
- :mod:`.bounds`: Bounds of a number in a description's tables
- :mod:`.typical`: Values that nobody measured, with their ranges
- :mod:`.axes`: The two axes of the design space: how much processing is in the NIC, and where it is
  attached
- :mod:`.advice`: Notes about consequences of a description that its designer may not have intended
"""
