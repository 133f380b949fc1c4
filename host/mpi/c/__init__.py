"""MPI for programs in C, compiled from their sources: ``nicbed app FILE.c --nodes 4``.

The program becomes a shared library. Each rank loads a copy of its own, so that its globals are its
own, and runs it on a stack of its own (:mod:`nicbed.host.mpi.sync`). A call of MPI goes through one
function of C to one of Python, which has the program's memory before it.

In the order in which to read:

- ``include/mpi.h``: The header that a program includes: all calls and constants of MPI 3.1, in
  parts
- :mod:`.header`: The calls and constants of mpi.h, and the definitions of its calls in C
- ``runtime.c``: Beneath a program: its calls go to Python, its end does not end the process
- ``libc.c``: Beneath a program: what the C library keeps for a process, each rank for itself
- :mod:`.cplusplus`: Sources in C++, and the library that they need
- :mod:`.compiler`: C and C++ sources become a shared library
- :mod:`.absent`: Functions that a program calls and that no library has
- :mod:`.shared`: Names what the ranks of a program in C share against their will: a change by one
  changes it for all
- :mod:`.lines`: Finds the line of a program's sources for an address of its library, by its debug
  information
- :mod:`.memory`: A program's memory
- :mod:`.handles`: Handles of a program: numbers that stand for communicators, datatypes and others
- :mod:`.calls`: The calls of mpi.h, by name: beginning and end, time, groups
- :mod:`.communicators`: Those about communicators, of one group and of two
- :mod:`.topologies`: Those about topologies; :mod:`.neighbours`: collective calls among neighbours
- :mod:`.callbacks`: Functions of the program that MPI calls
- :mod:`.attached`, :mod:`.attributes`: Attributes, and their calls
- :mod:`.errhandlers`: Error handlers and error codes; :mod:`.infos`: infos
- :mod:`.arguments`: Turns the arguments of a C program's calls into the library's buffers
- :mod:`.messages`: Those that send, receive and complete
- :mod:`.matched`: Matched probes, generalised requests, and statuses that a program fills in
- :mod:`.ways`: A collective call of the library as two of mpi.h, one that waits and one that begins
- :mod:`.collective`: Those of all ranks of a communicator
- :mod:`.operations`: Operations of the program's own, and reductions that it makes alone
- :mod:`.types`: Those that make datatypes, and that pack by them
- :mod:`.made`: More datatypes, their names and contents
- :mod:`.external`: Packed data in MPI's own representation
- :mod:`.windows`: Those about windows, and operations on them
- :mod:`.parts`: The classes with the calls of mpi.h
- :mod:`.program`: A program in C as a host program
"""

from .compiler import CompileError, compile_program
from .program import c_program
from .shared import shared

__all__ = ["CompileError", "c_program", "compile_program", "shared"]
