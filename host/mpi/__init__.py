"""MPI on nodes of the target: ``async with Mpi(node) as mpi``.

Calls have MPI's names as mpi4py spells them, and are coroutines. Below them: matching, requests and
progress, which know no channel; and channels, which know no matching.

In the order in which to read:

- :mod:`.library`: The MPI library of one process: what its communicators and requests stand on
- :mod:`.communicator`: Communicators: point-to-point calls, and communicators made of others
- :mod:`.making`: Communicators made of others
- :mod:`.contexts`: The numbers by which the messages of communicators are told apart
- :mod:`.collectives`: Collective calls, over messages in a context of their own
- :mod:`.neighbours`: Collective calls among neighbours
- :mod:`.topologies`: How the processes of a communicator lie
- :mod:`.intercomm`: A communicator of two groups
- :mod:`.intercommunicators`: How they are made, and what is made of them
- :mod:`.intercollectives`: Collective calls between two groups
- :mod:`.background`: Calls that have only begun: collective calls, and exchanges, that do not block
- :mod:`.calls`: Calls of the library: their names, their marks in the trace, and counts of what
  they sent
- :mod:`.requests`: Requests: sends and receives that have begun
- :mod:`.generalised`: Generalised requests: those that a program completes
- :mod:`.sending`: Sends: eager, or by a request and a reply
- :mod:`.receiving`: Receives: messages that arrive, matched or kept, and the receiver's part of
  long ones
- :mod:`.ends`: The base of both ends of a message: it says how long messages go, and registers
  memory for them
- :mod:`.matching`: Matching: posted receives, and messages that nobody waits for, by context
- :mod:`.engine`: Progress: packets that go, and packets that come, each handled by its kind
- :mod:`.packets`: Packets of the layer: their kinds and headers
- :mod:`.channel`: The interface between the layer and what carries its packets
- :mod:`.channels`: The channels that carry the layer's packets: one file for each
- :mod:`.registration`: Registered memory of users' buffers, kept after use
- :mod:`.buffers`: Buffers of a program: arrays of numpy that have a place in the process's memory
- :mod:`.data`: The bytes of a message, and those of all ranks' parts: where they are in memory
- :mod:`.memory`: Memory of a program's process, for data that lie to both sides of an address
- :mod:`.datatypes`: Datatypes: which bytes of a buffer a message has, in which order
- :mod:`.copying`: Copies by the CPU, from and to pieces of a process's memory
- :mod:`.store`: Memory of a process that is used again
- :mod:`.attached`: The attached buffer of buffered sends
- :mod:`.operators`: Operations of Reduce and its relatives
- :mod:`.operands`: Operands of reductions: elements of a datatype in memory of the library's own
- :mod:`.overlap`: Buffers of a call that overlap
- :mod:`.groups`: Groups of ranks
- :mod:`.attributes`, :mod:`.info`, :mod:`.codes`: What programs attach to communicators and others,
  say of them, and add to MPI's errors
- :mod:`.status`: The result of a receive
- :mod:`.constants`: Constants of MPI, under its names
- :mod:`.errors`: Errors of MPI: its classes, and the exception that a wrong call raises
- :mod:`.windows`: One-sided communication: windows, and what origins do to them
- :mod:`.world`: Knows of all ranks of a run beside the target, to say why none of them goes on
- :mod:`.sync`: Blocking calls: each rank on a stack of its own
- :mod:`.python`: MPI for programs in Python, with mpi4py's names and blocking calls
- :mod:`.c`: MPI for programs in C, compiled from their sources
- :mod:`.costs`: Prices the layer: every path is a sum of cost items, counted from the code that a C
  implementation of it needs, times ``mpi.path_scale``
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .collectives import IN_PLACE
from .communicator import Comm
from .constants import ANY_SOURCE, ANY_TAG, PROC_NULL, UNDEFINED
from .datatypes import (
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
from .errors import ErrorClass, MpiError, RequestError
from .groups import Group
from .library import Mpi
from .operators import BAND, BOR, LAND, LOR, MAX, MIN, PROD, SUM, Op
from .requests import Request
from .status import Status
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
