"""MPI on nodes of the target: ``async with Mpi(node) as mpi``.

Calls have MPI's names as mpi4py spells them, and are coroutines. Below them: matching, requests and
progress, which know no channel; and channels, which know no matching.

In the order in which to read:

- :mod:`.library`: The MPI library of one process, on which its communicators and requests are built
- :mod:`.calls`: Calls of the library: their names, their marks in the trace, and counts of what
  they sent
- :mod:`.communicators`: Groups, contexts, communicators and their attributes
- :mod:`.point_to_point`: Sends and receives: requests, matching, short and long messages
- :mod:`.collective`: Collective calls, also among neighbours, between groups, and begun only
- :mod:`.topologies`: Topologies: the neighbours of the processes of a communicator
- :mod:`.windows`: One-sided communication: windows, and the operations of origins on them
- :mod:`.data`: The data of messages: datatypes, buffers, copies, memory, operations
- :mod:`.progress`: Packets out, packets in, and the interface to the channels
- :mod:`.channels`: The channels that carry the layer's packets: one file for each
- :mod:`.info`, :mod:`.codes`: Infos that programs give, and error classes and codes that they add
  to MPI's
- :mod:`.constants`: Constants of MPI, under its names
- :mod:`.errors`: Errors of MPI: its classes, and the exception that a wrong call raises
- :mod:`.sync`: Blocking calls: each rank on a stack of its own
- :mod:`.python`: MPI for programs in Python, with mpi4py's names and blocking calls
- :mod:`.c`: MPI for programs in C, compiled from their sources
- :mod:`.layer`: The layer mpi for the testbed
- :mod:`.costs`: Prices the layer: every path is a sum of cost items
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .collective.collectives import IN_PLACE
from .communicators.communicator import Comm
from .communicators.groups import Group
from .constants import ANY_SOURCE, ANY_TAG, PROC_NULL, UNDEFINED
from .data.datatypes import (
    BYTE,
    CHAR,
    COMPLEX,
    DOUBLE,
    FLOAT,
    FLOAT_COMPLEX,
    INT,
    LONG,
    Datatype,
)
from .data.operators import BAND, BOR, LAND, LOR, MAX, MIN, PROD, SUM, Op
from .errors import ErrorClass, MpiError, RequestError
from .library import Mpi
from .point_to_point.requests import Request
from .point_to_point.status import Status
from .windows import LOCK_EXCLUSIVE, LOCK_SHARED, Win

if TYPE_CHECKING:
    from .python import MPI


def __getattr__(name: str) -> Any:
    """MPI with blocking calls, for programs in Python: loaded when it is first asked for."""
    if name == "MPI":
        return import_module(f"{__name__}.python.MPI")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = ["ANY_SOURCE", "ANY_TAG", "BAND", "BOR", "BYTE", "CHAR", "COMPLEX", "Comm", "DOUBLE",
           "Datatype", "ErrorClass", "FLOAT", "FLOAT_COMPLEX", "Group", "INT", "IN_PLACE", "LAND",
           "LOCK_EXCLUSIVE", "LOCK_SHARED", "LONG", "LOR", "MAX", "MIN", "MPI", "Mpi", "MpiError",
           "Op", "PROC_NULL", "PROD", "Request", "RequestError", "SUM", "Status", "UNDEFINED",
           "Win"]
