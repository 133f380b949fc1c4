"""The module ``mpi4py`` as a program finds it while it runs."""

from types import ModuleType
from typing import Any

from .rc import Rc

__all__ = ["modules"]


def modules(rc: Rc) -> dict[str, ModuleType]:
    """``mpi4py`` and its modules, by name, for a rank whose options are ``rc``."""
    from . import MPI, futures

    package: Any = ModuleType("mpi4py", "nicbed's, in place of mpi4py's own")
    package.__path__ = []
    package.__version__ = "4.0.0"
    package.MPI = MPI
    package.get_config = dict
    package.get_include = str
    package.rc = rc
    package.futures = futures
    return {"mpi4py": package, "mpi4py.MPI": MPI, "mpi4py.rc": rc,
            "mpi4py.futures": futures}
