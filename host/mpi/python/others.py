"""Classes and constants of what is not supported: they can be named, and every use says so."""


from .communicators import Comm, Intercomm
from .handles import Handle
from .refused import refused, refuses
from .requests import Request

__all__: list[str] = []

FUNCTIONS = ("Get_hw_resource_info Open_port Close_port Publish_name Unpublish_name "
             "Lookup_name Register_datarep Flush_buffer Iflush_buffer")
CONSTANTS = ("DISTRIBUTE_NONE DISTRIBUTE_BLOCK DISTRIBUTE_CYCLIC DISTRIBUTE_DFLT_DARG "
             "TYPECLASS_INTEGER TYPECLASS_REAL TYPECLASS_COMPLEX COMM_TYPE_HW_GUIDED "
             "COMM_TYPE_HW_UNGUIDED COMM_TYPE_RESOURCE_GUIDED MODE_RDONLY MODE_WRONLY MODE_RDWR "
             "MODE_CREATE MODE_EXCL MODE_DELETE_ON_CLOSE MODE_APPEND SEEK_SET SEEK_CUR SEEK_END "
             "WIN_BASE WIN_SIZE WIN_DISP_UNIT WIN_CREATE_FLAVOR WIN_MODEL LOCK_EXCLUSIVE "
             "LOCK_SHARED")


@refuses("Start Complete")
class Grequest(Request):
    """A request that a program completes. There is the null one alone."""

    def __new__(cls, other: Request | None = None) -> "Grequest":
        if other:
            raise TypeError(f"Grequest of {type(other).__name__}")
        return super().__new__(cls, other)


@refuses("Create Allocate Allocate_shared Create_dynamic Create_keyval Create_errhandler "
         "Fence Put Get")
class Win(Handle):
    pass


@refuses("Open Delete Create_errhandler")
class File(Handle):
    pass


@refuses("Init Create_errhandler")
class Session(Handle):
    pass


PARENT_NULL = Intercomm()
Comm.parent = PARENT_NULL
WIN_NULL, FILE_NULL, SESSION_NULL = Win(), File(), Session()
globals().update({name: refused(name) for name in FUNCTIONS.split()})
globals().update({name: 100 + number for number, name in enumerate(CONSTANTS.split())})
