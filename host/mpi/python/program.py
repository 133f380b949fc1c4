"""A Python program as a host program."""

import os
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

from ...port.node import Program
from ..sync import CHILD, Rank, current, program
from .program_end import executed
from .python_surroundings import PythonSurroundings
from .rc import Rc
from .shim import modules

__all__ = ["python_program"]


def python_program(file: Path, arguments: Sequence[str] = (), *, measured: bool = False
                   ) -> Program:
    """The host program of ``file``, whose ``sys.argv`` is the file and ``arguments``. Init is
    called when it first uses MPI and Finalize at its end, as its ``mpi4py.rc`` has it.
    ``measured`` as of :class:`Rank`.

    Raises
    ------
    RankError
        The program raised an exception, or ended with another status than 0.
    """
    code = compile(file.read_bytes(), str(file), "exec", dont_inherit=True)
    there: dict[Rank, tuple[PythonSurroundings, ModuleType]] = {}

    def surroundings(rank: Rank) -> PythonSurroundings:
        main = ModuleType("__main__")
        main.__file__ = str(file)
        rc = Rc()
        rank.first = lambda: rc.begin(rank)
        own = PythonSurroundings(rank, file, arguments, {**modules(rc), "__main__": main})
        there[rank] = own, main
        return own

    def body(rank: Rank) -> None:
        own, main = there.pop(rank)
        status = 1
        rank.clock.go_on()
        try:
            end = executed(rank, file, code, vars(main))
            if end.failure is None and not CHILD:
                current()  # its first use, if it has had none
            own.finish()
            status = end.status
        finally:
            own.flush()
            if CHILD:  # a child of a fork has nothing of the run
                os._exit(status)
        if end.failure is not None:
            raise end.failure
        if rank.initialized and not rank.finalized and rank.kept["finalize"]:
            rank.finalize()

    return program(body, surroundings, measured=measured)
