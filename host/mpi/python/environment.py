"""Beginning, end, time, and a program's questions about where it runs."""

from typing import Any

import numpy as np

from ..constants import SUBVERSION, VERSION
from ..sync import current
from ..topologies import dims_create
from .constants import Constant
from .errors import CLASSES, Exception, told
from .memory import buffer, view

__all__ = ["Aint_add", "Aint_diff", "Alloc_mem", "Compute_dims", "Finalize", "Free_mem",
           "Get_address", "Get_library_version", "Get_processor_name", "Get_version", "Init",
           "Init_thread",
           "Is_finalized", "Is_initialized", "Is_thread_main", "Pcontrol", "Query_thread", "Wtick",
           "Wtime", "compute", "get_vendor"]

THREAD_SINGLE, THREAD_FUNNELED, THREAD_SERIALIZED, THREAD_MULTIPLE = range(4)


def Init() -> None:
    """Nothing, where it has been called: by the program's first use of MPI, unless
    ``mpi4py.rc.initialize`` is false."""
    rank = current()
    if rank.finalized:
        raise Exception(CLASSES["ERR_OTHER"], f"rank {rank.number}: Init after Finalize")
    if not rank.initialized:
        rank.init()


def Init_thread(required: int = THREAD_MULTIPLE) -> int:
    Init()
    return THREAD_SINGLE


def Query_thread() -> int:
    return THREAD_SINGLE


def Is_thread_main() -> bool:
    return True


def Finalize() -> None:
    current().finalize()


def Is_initialized() -> bool:
    return current().initialized


def Is_finalized() -> bool:
    return current().finalized


def Wtime() -> float:
    """Seconds of target time."""
    return current().time()


def Wtick() -> float:
    return current().tick


def compute(cycles: float) -> None:
    """The program computes for ``cycles`` of the CPU. mpi4py has no such call; a program asks for
    it by ``getattr(MPI, "compute", ...)``."""
    current().compute(cycles)


def Get_version() -> tuple[int, int]:
    return VERSION, SUBVERSION


def Get_library_version() -> str:
    return "nicbed"


def get_vendor() -> tuple[str, tuple[int, int, int]]:
    return "nicbed", (0, 2, 0)


def Get_processor_name() -> str:
    return f"node{current().node.number}"


def Pcontrol(level: int) -> None:
    """Nothing."""


def Alloc_mem(size: int, info: Any = None) -> buffer:
    if size < 0:
        raise ValueError("expecting non-negative size")
    return buffer(current().mpi.empty(size, np.uint8))


def Free_mem(mem: buffer) -> None:
    """``mem`` has no memory any more."""
    mem.release()


def Aint_add(base: int, disp: int) -> int:
    return base + disp


def Aint_diff(addr1: int, addr2: int) -> int:
    return addr1 - addr2


def Get_address(location: Any) -> int:
    if location is None:
        return 0
    if isinstance(location, Constant):
        return int(location)
    flat, _ = view(location, True)
    return int(flat.ctypes.data) if len(flat) else 0


def Compute_dims(nnodes: int, dims: Any) -> list[int]:
    """Numbers whose product is ``nnodes``, as equal as can be; those that are not 0 stay."""
    with told():
        return dims_create(nnodes, [0] * dims if isinstance(dims, int) else dims)
    raise AssertionError
