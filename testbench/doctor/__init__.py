"""``nicbed doctor``: whether nicbed works on this machine, and if not, what to do.

In the order in which to read:

- :mod:`.finding`: What was found out, in one line
- :mod:`.installed`: Python, packages and programs: which versions are there, and which are missing
- :mod:`.places`: Folders that nicbed writes to: caches, results, temporary files
- :mod:`.toys`: Whether each simulator builds and runs a block
- :mod:`.counting`: What a toy is asked, inside the simulator
"""

__all__: list[str] = []
