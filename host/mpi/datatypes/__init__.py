"""Datatypes: which bytes of a buffer a message has, in which order.

In the order in which to read:

- :mod:`.signature`: Basic elements, and which of them a type has, in order
- :mod:`.blocks`: Blocks of bytes, made when they are first asked for
- :mod:`.datatype`: A datatype, and the types that are made of it
- :mod:`.arrays`: Parts of arrays as datatypes: subarrays, and the part of a process
- :mod:`.origin`: How a datatype was made
- :mod:`.predefined`: The datatypes that MPI defines
- :mod:`.sized`: The datatypes that MPI defines, by kind and size, or by Fortran's precision
- :mod:`.external`: Data in MPI's own representation, external32
"""

from .arrays import BLOCK, CYCLIC, DEFAULT, NONE, darray, subarray
from .datatype import Datatype
from .external import from_external, to_external
from .origin import COMBINERS, Origin
from .predefined import *  # noqa: F403
from .predefined import __all__ as _predefined
from .signature import Kind, Signature
from .sized import f90_complex, f90_integer, f90_real, match_size

__all__ = ["BLOCK", "COMBINERS", "CYCLIC", "DEFAULT", "Datatype", "Kind", "NONE", "Origin",
           "Signature", "darray", "f90_complex", "f90_integer", "f90_real",
           "from_external", "match_size", "subarray", "to_external"]
__all__ += _predefined
