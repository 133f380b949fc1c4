"""Gives each rank its own copy of what Python keeps for the process. All ranks share one process,
where mpiexec would start one for each.

In the order in which to read:

- :mod:`.switched`: Switches state with the rank, from the moment at which a program uses it
- :mod:`.generators`: The generators of random numbers that random and numpy keep
- :mod:`.modules`: The state that logging, warnings and locale keep for the process
- :mod:`.variables`: The variables of the environment
- :mod:`.first_use`: Tells of the first use of a module by a program
- :mod:`.functions`: Functions whose meaning changes while ranks run
- :mod:`.shared`: Names what is not switched, and makes the line for a program that uses it
"""

from .switched import Process

__all__ = ["Process"]
