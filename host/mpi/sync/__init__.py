"""Blocking calls of MPI: each rank on a stack of its own, so that a call of its program may wait.

Programs that were written for blocking calls run through it unchanged, in Python
(:mod:`nicbed.host.mpi.python`) and in C (:mod:`nicbed.host.mpi.c`).

In the order in which to read:

- :mod:`.stack`: A stack of its own for a program: the one place where ranks are switched
- :mod:`.rank`: A rank of a program with blocking calls: its library, its time, its end
- :mod:`.clock`: The CPU time that a rank's program takes between its calls
- :mod:`.ranks`: What the ranks of a run know of each other's beginnings and ends
- :mod:`.output`: What ranks print, line by line, each behind its rank
- :mod:`.errors`: How a rank ends the run
"""

from .errors import Ended, RankError
from .rank import Rank, current, program, running
from .stack import Stack, Surroundings, wait

__all__ = ["Ended", "Rank", "RankError", "Stack", "Surroundings", "current", "program", "running",
           "wait"]
