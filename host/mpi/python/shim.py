"""The module ``mpi4py`` as a program finds it while it runs."""

from types import ModuleType
from typing import Any

__all__ = ["modules"]

RC = {"initialize": True, "finalize": None, "threads": True, "thread_level": "multiple",
      "errors": "exception", "fast_reduce": True, "recv_mprobe": True, "irecv_bufsz": 1 << 15}


def modules() -> dict[str, ModuleType]:
    """``mpi4py`` and ``mpi4py.MPI``, by name."""
    from . import MPI

    package: Any = ModuleType("mpi4py", "nicbed's, in place of mpi4py's own")
    package.__path__ = []
    package.__version__ = "4.0.0"
    package.MPI = MPI
    package.get_config = dict
    package.get_include = str
    rc: Any = ModuleType("mpi4py.rc")
    rc.__dict__.update(RC)
    package.rc = rc
    return {"mpi4py": package, "mpi4py.MPI": MPI, "mpi4py.rc": rc}
