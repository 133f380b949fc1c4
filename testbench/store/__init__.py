"""Keeps results by the hash of their inputs, so that nothing is measured twice.

In the order in which to read:

- :mod:`.keys`: A measurement's key: everything on which its result depends, as one hash
- :mod:`.store`: Stores results in files, each under its key; a file is complete or does not exist
- :mod:`.upkeep`: Lists, prunes and verifies stored results and built simulators
"""

from .keys import key
from .store import FORMAT, Store, Trouble, standard

__all__ = ["FORMAT", "Store", "Trouble", "key", "standard"]
