"""MPI for programs in Python: what ``from mpi4py import MPI`` or ``from nicbed.mpi import MPI``
gives them."""
# ruff: noqa: F401, F403 - all of it is for programs

from ..constants import (
    ANY_SOURCE,
    ANY_TAG,
    CART,
    CONGRUENT,
    DIST_GRAPH,
    GRAPH,
    IDENT,
    PROC_NULL,
    ROOT,
    SIMILAR,
    SUBVERSION,
    UNDEFINED,
    UNEQUAL,
    VERSION,
)
from ..data import operators as _operators
from ..data.datatypes import BLOCK as DISTRIBUTE_BLOCK
from ..data.datatypes import COMBINERS as _COMBINERS
from ..data.datatypes import CYCLIC as DISTRIBUTE_CYCLIC
from ..data.datatypes import DEFAULT as DISTRIBUTE_DFLT_DARG
from ..data.datatypes import NONE as DISTRIBUTE_NONE
from ..point_to_point.attached_buffer import OVERHEAD as BSEND_OVERHEAD
from . import unsupported_classes as _others
from .attributes import INVALID as KEYVAL_INVALID
from .communicators import (
    APPNUM,
    COMM_NULL,
    COMM_SELF,
    COMM_TYPE_SHARED,
    COMM_WORLD,
    IO,
    LASTUSEDCODE,
    TAG_UB,
    UNIVERSE_SIZE,
    UNWEIGHTED,
    WEIGHTS_EMPTY,
    WTIME_IS_GLOBAL,
    Attach_buffer,
    Cartcomm,
    Comm,
    Detach_buffer,
    Distgraphcomm,
    Graphcomm,
    Intercomm,
    Intracomm,
    Message,
    Topocomm,
)
from .communicators import NO_PROC as _NO_PROC
from .constants import (
    BOTTOM,
    BUFFER_AUTOMATIC,
    IN_PLACE,
    BottomType,
    BufferAutomaticType,
    InPlaceType,
)
from .datatypes import DATATYPE_NULL, NAMED, ORDER_C, ORDER_FORTRAN, Datatype
from .environment import *
from .environment import (
    THREAD_FUNNELED,
    THREAD_MULTIPLE,
    THREAD_SERIALIZED,
    THREAD_SINGLE,
)
from .errors import (
    CLASSES,
    RETURN,
    Add_error_class,
    Add_error_code,
    Add_error_string,
    Errhandler,
    Exception,
    Get_error_class,
    Get_error_string,
    Remove_error_class,
    Remove_error_code,
    Remove_error_string,
)
from .grequest import Grequest
from .groups import GROUP_EMPTY, GROUP_NULL, Group
from .handles import GIVEN as _GIVEN
from .handles import Handle as _Handle
from .info import INFO_ENV, INFO_NULL, Info
from .memory import buffer
from .operators import Op
from .python_objects import Pickle, pickle
from .requests import REQUEST_NULL, Prequest, Request
from .status import F_ERROR, F_SOURCE, F_STATUS_SIZE, F_TAG, Status
from .windows import CONSTANTS as _WINDOWS
from .windows import WIN_NULL, Win

memory = buffer
globals().update({_name: _one for _name, _one in vars(_others).items()
                  if not _name.startswith("_")})
globals().update(CLASSES)
globals().update(_WINDOWS)
globals().update(NAMED)
globals().update({f"COMBINER_{_name}": _number for _name, _number in _COMBINERS.items()})
TYPECLASS_INTEGER, TYPECLASS_REAL, TYPECLASS_COMPLEX = 1, 2, 3
TYPECLASS_LOGICAL = UNDEFINED
OP_NULL = Op()
for _name in ("MAX", "MIN", "SUM", "PROD", "LAND", "BAND", "LOR", "BOR", "LXOR", "BXOR", "MAXLOC",
              "MINLOC", "REPLACE", "NO_OP"):
    globals()[_name] = Op.standing_for(getattr(_operators, _name))
ERRHANDLER_NULL = Errhandler()
ERRORS_RETURN = Errhandler.standing_for(RETURN)
ERRORS_ARE_FATAL = Errhandler.standing_for("fatal")
ERRORS_ABORT = Errhandler.standing_for("abort")
MESSAGE_NULL = Message()
MESSAGE_NO_PROC = Message.standing_for(_NO_PROC)
ORDER_F = ORDER_FORTRAN
MAX_PROCESSOR_NAME = MAX_OBJECT_NAME = MAX_LIBRARY_VERSION_STRING = 128
MAX_ERROR_STRING = 512
MAX_INFO_KEY, MAX_INFO_VAL = 256, 1025
MAX_PORT_NAME = MAX_DATAREP_STRING = MAX_PSET_NAME_LEN = MAX_STRINGTAG_LEN = 256

_GIVEN.update({_name: _one for _name, _one in list(globals().items())
               if isinstance(_one, _Handle) and _name.isupper()})
for _one in (Datatype, Status, Request, Prequest, Message, Op, Group, Info, Errhandler, Comm,
             Intracomm, Topocomm, Cartcomm, Graphcomm, Distgraphcomm, Intercomm, Win, Exception,
             Pickle, BottomType, InPlaceType, BufferAutomaticType):
    _one.__module__ = __name__
