"""Blocking calls of MPI: each rank on a stack of its own, so that a call of its program may wait.

Programs that were written for blocking calls run through it unchanged, in Python
(:mod:`nicbed.host.mpi.python`) and in C (:mod:`nicbed.host.mpi.c`).

In the order in which to read:

- :mod:`.stack`: A stack of its own for a program: the one place where ranks are switched
- :mod:`.rank`: A rank of a program with blocking calls: its library, its time, its end
- :mod:`.clock`: The CPU time that a rank's program takes between its calls
- :mod:`.ranks`: Tells the ranks of a run when others have begun and ended, so that none waits for a
  rank that will never come
- :mod:`.folders`: Gives each rank a current directory of its own, although the process has only one
- :mod:`.elsewhere`: Refuses calls of MPI from places where no rank may make them: another thread,
  or a child of a fork
- :mod:`.output`: Prints the output of ranks line by line, with the rank in front
- :mod:`.errors`: The exceptions by which a rank ends the run
"""

from .elsewhere import CHILD, belongs
from .errors import Ended, RankError
from .rank import Rank, current, program, running
from .stack import Stack, Surroundings, wait

__all__ = ["CHILD", "Ended", "Rank", "RankError", "Stack", "Surroundings", "belongs", "current",
           "program", "running", "wait"]
