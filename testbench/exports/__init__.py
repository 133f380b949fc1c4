"""Measured LogGP parameters in the form of other simulators' input.

In the order in which to read:

- :mod:`.parameters`: The parameters of LogGP in seconds, from result files
- :mod:`.loggopsim`: The command line of LogGOPSim
- :mod:`.simgrid`: A platform file of SimGrid
- :mod:`.formats`: All formats of exports
"""

from .formats import FORMATS, written
from .parameters import Parameters, parameters

__all__ = ["FORMATS", "Parameters", "parameters", "written"]
