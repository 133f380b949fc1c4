"""Classes and constants of what is not supported: they can be named, and every use says so."""

from .communicators import Comm, Intracomm
from .handles import Handle
from .refused import refused, refuses
from .requests import Request

__all__: list[str] = []

FUNCTIONS = ("Add_error_class Add_error_code Add_error_string Remove_error_class "
             "Remove_error_code Remove_error_string Get_hw_resource_info Open_port Close_port "
             "Publish_name Unpublish_name Lookup_name Register_datarep Flush_buffer "
             "Iflush_buffer")
CONSTANTS = ("DISTRIBUTE_NONE DISTRIBUTE_BLOCK DISTRIBUTE_CYCLIC DISTRIBUTE_DFLT_DARG "
             "TYPECLASS_INTEGER TYPECLASS_REAL TYPECLASS_COMPLEX COMM_TYPE_HW_GUIDED "
             "COMM_TYPE_HW_UNGUIDED COMM_TYPE_RESOURCE_GUIDED MODE_RDONLY MODE_WRONLY MODE_RDWR "
             "MODE_CREATE MODE_EXCL MODE_DELETE_ON_CLOSE MODE_APPEND SEEK_SET SEEK_CUR SEEK_END "
             "WIN_BASE WIN_SIZE WIN_DISP_UNIT WIN_CREATE_FLAVOR WIN_MODEL LOCK_EXCLUSIVE "
             "LOCK_SHARED UNWEIGHTED WEIGHTS_EMPTY")

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
globals().update({name: refused(name) for name in FUNCTIONS.split()})
globals().update({name: 100 + number for number, name in enumerate(CONSTANTS.split())})
