"""Datatypes: the bytes of a buffer that a message has, and their order.

In the order in which to read:

- :mod:`.signature`: Basic elements, and which of them a type has, in order
- :mod:`.blocks`: Blocks of bytes, made when they are first asked for
- :mod:`.datatype`: A datatype, and the types that are made of it
- :mod:`.arrays`: Parts of arrays as datatypes: subarrays, and the part of a process
- :mod:`.origin`: Remembers how a datatype was made: its constructor's name and arguments, as MPI
  tells them
- :mod:`.predefined`: The datatypes that MPI defines
- :mod:`.sized`: The datatypes that MPI defines, by kind and size, or by Fortran's precision
- :mod:`.external`: Data in MPI's own representation, external32
"""

from .arrays import BLOCK, CYCLIC, DEFAULT, NONE, darray, subarray
from .datatype import Datatype
from .external import from_external, to_external
from .origin import COMBINERS, Origin
from .predefined import (
    BOOL,
    BYTE,
    CHAR,
    COMPLEX,
    DOUBLE,
    DOUBLE_DOUBLE,
    DOUBLE_INT,
    FLOAT,
    FLOAT_COMPLEX,
    FLOAT_FLOAT,
    FLOAT_INT,
    INT,
    INT8,
    INT16,
    INT_INT,
    INTEGER16,
    LB,
    LOGICAL,
    LONG,
    LONG_DOUBLE,
    LONG_DOUBLE_COMPLEX,
    LONG_DOUBLE_INT,
    LONG_INT,
    LONG_LONG,
    PACKED,
    SHORT_INT,
    UB,
    UINT,
    UINT8,
    UINT16,
    ULONG,
    ULONG_LONG,
    WCHAR,
    element_name,
    element_of,
    element_size,
    of_dtype,
)
from .signature import Kind, Signature
from .sized import f90_complex, f90_integer, f90_real, match_size

__all__ = ["BLOCK", "BOOL", "BYTE", "CHAR", "COMBINERS", "COMPLEX", "CYCLIC", "DEFAULT", "DOUBLE",
           "DOUBLE_DOUBLE", "DOUBLE_INT", "Datatype", "FLOAT", "FLOAT_COMPLEX", "FLOAT_FLOAT",
           "FLOAT_INT", "INT", "INT16", "INT8", "INTEGER16", "INT_INT", "Kind", "LB", "LOGICAL",
           "LONG", "LONG_DOUBLE", "LONG_DOUBLE_COMPLEX", "LONG_DOUBLE_INT", "LONG_INT", "LONG_LONG",
           "NONE", "Origin", "PACKED", "SHORT_INT", "Signature", "UB", "UINT", "UINT16", "UINT8",
           "ULONG", "ULONG_LONG", "WCHAR", "darray", "element_name", "element_of",
           "element_size", "f90_complex", "f90_integer", "f90_real", "from_external", "match_size",
           "of_dtype", "subarray", "to_external"]
