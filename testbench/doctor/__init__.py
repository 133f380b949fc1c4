"""``nicbed doctor``: tells whether nicbed works on this machine, and if not, what to do.

In the order in which to read:

- :mod:`.finding`: A finding, in one line
- :mod:`.installed`: Python, packages and programs: which versions are there, and which are missing
- :mod:`.places`: Folders that nicbed writes to: caches, results, temporary files
- :mod:`.toys`: Tries each simulator: it builds and runs a small block, the whole way from Amaranth
  to Python inside a simulator's process
- :mod:`.counting`: Tests a toy inside the simulator
"""

__all__: list[str] = []
