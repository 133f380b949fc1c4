"""Classes and constants that nicbed does not support: a program may name them, but every use is
refused."""

from .communicators import Comm, Intercomm
from .handles import Handle
from .unsupported_calls import refused, refuses

__all__: list[str] = []

FUNCTIONS = ("Get_hw_resource_info Open_port Close_port Publish_name Unpublish_name "
             "Lookup_name Register_datarep Flush_buffer Iflush_buffer")
CONSTANTS = ("COMM_TYPE_HW_GUIDED "
             "COMM_TYPE_HW_UNGUIDED COMM_TYPE_RESOURCE_GUIDED MODE_RDONLY MODE_WRONLY MODE_RDWR "
             "MODE_CREATE MODE_EXCL MODE_DELETE_ON_CLOSE MODE_APPEND SEEK_SET SEEK_CUR SEEK_END")


@refuses("Open Delete Create_errhandler")
class File(Handle):
    pass


@refuses("Init Create_errhandler")
class Session(Handle):
    pass


PARENT_NULL = Intercomm()
Comm.parent = PARENT_NULL
FILE_NULL, SESSION_NULL = File(), Session()
globals().update({name: refused(name) for name in FUNCTIONS.split()})
globals().update({name: 100 + number for number, name in enumerate(CONSTANTS.split())})
