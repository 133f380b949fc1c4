"""MPI for programs in Python, with mpi4py's names and blocking calls.

A program imports :mod:`.MPI`, as ``from mpi4py import MPI`` or as ``from nicbed.mpi import MPI``,
and ``nicbed app FILE.py --nodes 4`` runs it. All ranks share the module; its handles stand for each
rank's own things.

In the order in which to read:

- :mod:`.MPI`: The module MPI as a program sees it
- :mod:`.handles`: Objects of MPI as programs have them: handles, which stand for something
- :mod:`.errors`: Errors of MPI as mpi4py has them
- :mod:`.communicators`: Communicators, as programs in Python have them
- :mod:`.messages`: Turns mpi4py's descriptions of messages into the library's
- :mod:`.memory`: Memory under the buffer interface
- :mod:`.tensors`: Arrays of other libraries, which have no buffer but say where their elements are
- :mod:`.python_objects`: Objects of Python as messages
- :mod:`.requests`: Requests, of buffers and of objects; :mod:`.grequest`: those that a program
  completes
- :mod:`.datatypes`: Datatypes; :mod:`.predefined_datatypes`: those that MPI defines
- :mod:`.status`, :mod:`.operators`, :mod:`.groups`, :mod:`.info`, :mod:`.attributes`,
  :mod:`.constants`: the other classes and constants
- :mod:`.windows`: Windows: one-sided communication
- :mod:`.futures`: mpi4py.futures: tasks for other ranks
- :mod:`.environment`: Beginning, end, time
- :mod:`.unsupported_classes`, :mod:`.unsupported_calls`: Classes and calls of mpi4py that nicbed
  does not have
- :mod:`.program`: A Python program as a host program
- :mod:`.program_end`: Ends a program in Python
- :mod:`.python_surroundings`: Gives a rank's program its own part of the Python process while it
  runs
- :mod:`.process`: Gives each rank its own copy of what Python keeps for the process
- :mod:`.rc`: The module ``mpi4py.rc``: options of MPI's beginning and end
- :mod:`.shim`: The module ``mpi4py`` as a program finds it
"""

from .program import python_program

__all__ = ["python_program"]
