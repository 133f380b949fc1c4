"""What Python keeps for the process, for each rank: all ranks share one, where mpiexec would start
one each.

In the order in which to read:

- :mod:`.switched`: What is switched with the rank, from the moment at which a program uses it
- :mod:`.generators`: The generators of random numbers that random and numpy keep
- :mod:`.modules`: What logging, warnings and locale keep
- :mod:`.variables`: The variables of the environment
- :mod:`.first_use`: Tells of the first use of a module by a program
- :mod:`.functions`: Functions whose meaning changes while ranks run
- :mod:`.shared`: What is not switched, and the line for a program that uses it
"""

from .switched import Process

__all__ = ["Process"]
