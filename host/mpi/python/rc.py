"""``mpi4py.rc``: what a program says of MPI's beginning and end before it uses MPI."""

import warnings
from types import ModuleType
from typing import Any

from ..sync import Rank

__all__ = ["Rc"]

ERRORS = {"exception": None, "default": "fatal", "fatal": "fatal", "abort": "abort"}
"""Error handlers of the communicators that MPI defines, by ``rc.errors``."""
VALUES: dict[str, tuple[Any, ...]] = {
    "initialize": (True, False), "threads": (True, False),
    "thread_level": ("multiple", "serialized", "funneled", "single"),
    "finalize": (None, True, False), "fast_reduce": (True, False), "recv_mprobe": (True, False),
    "errors": tuple(ERRORS)}
"""Values by name, the first of which are the defaults."""


class Rc(ModuleType):
    """The options of one rank. ``threads``, ``thread_level``, ``fast_reduce``, ``recv_mprobe`` and
    ``irecv_bufsz`` are there and change nothing.

    Raises
    ------
    TypeError
        There is no option of such a name.
    """

    def __init__(self) -> None:
        super().__init__("mpi4py.rc")
        vars(self).update({name: values[0] for name, values in VALUES.items()},
                          irecv_bufsz=1 << 15)

    def __setattr__(self, name: str, value: Any) -> None:
        if not hasattr(self, name):
            raise TypeError(f"object has no attribute {name!r}")
        super().__setattr__(name, value)

    def __call__(self, **options: Any) -> None:
        for name in options:
            if not hasattr(self, name):
                raise TypeError(f"unexpected argument {name!r}")
        vars(self).update(options)

    def _get(self, name: str) -> Any:
        """The option's value; of one that makes no sense, the default, with a warning."""
        value = getattr(self, name)
        if value not in VALUES[name]:
            warnings.warn(f"mpi4py.rc.{name}: unexpected value {value!r}", RuntimeWarning,
                          stacklevel=2)
            return VALUES[name][0]
        return value

    def begin(self, rank: Rank) -> None:
        """The program of ``rank`` uses MPI for the first time."""
        options = {name: self._get(name) for name in VALUES}
        initialize, finalize = options["initialize"], options["finalize"]
        rank.keep("finalize", lambda: initialize if finalize is None else finalize)
        for comm in rank.mpi.COMM_WORLD, rank.mpi.COMM_SELF:
            comm.errhandler = ERRORS[options["errors"]]
        if initialize:
            rank.init()
