"""Classes and constants of what is not supported: they can be named, and every use says so."""

from .comm import Comm, Intracomm
from .handles import Handle
from .refused import refuses
from .requests import Request

__all__ = ["CART", "COMM_TYPE_SHARED", "DIST_GRAPH", "FILE_NULL", "File", "GRAPH", "Cartcomm",
           "Distgraphcomm", "Graphcomm", "Grequest", "Intercomm", "ROOT", "SESSION_NULL",
           "Session", "Topocomm", "WIN_NULL", "Win"]

CART, GRAPH, DIST_GRAPH = 1, 2, 3
COMM_TYPE_SHARED = 1
ROOT = -4


class Topocomm(Intracomm):
    """A communicator with a topology."""


class Cartcomm(Topocomm):
    pass


class Graphcomm(Topocomm):
    pass


class Distgraphcomm(Topocomm):
    pass


@refuses("Merge Get_remote_group Get_remote_size Create_from_groups")
class Intercomm(Comm):
    pass


@refuses("Start Complete")
class Grequest(Request):
    pass


@refuses("Create Allocate Allocate_shared Create_dynamic Create_keyval Create_errhandler")
class Win(Handle):
    pass


@refuses("Open Delete Create_errhandler")
class File(Handle):
    pass


@refuses("Init Create_errhandler")
class Session(Handle):
    pass


WIN_NULL, FILE_NULL, SESSION_NULL = Win(), File(), Session()


