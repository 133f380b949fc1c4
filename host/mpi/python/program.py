"""A Python program as a host program."""

import traceback
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from ...port.node import Program
from ..sync import Rank, RankError, program
from .shim import modules
from .surroundings import PythonSurroundings

__all__ = ["python_program"]


def python_program(file: Path, arguments: Sequence[str] = (), *, measured: bool = False
                   ) -> Program:
    """The host program of ``file``, whose ``sys.argv`` is the file and ``arguments``. Init and
    Finalize are called around it, as mpi4py does. ``measured`` as of :class:`Rank`.

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
        own = PythonSurroundings(rank.number, file, arguments, {**modules(), "__main__": main})
        there[rank] = own, main
        return own

    def body(rank: Rank) -> None:
        own, main = there.pop(rank)
        rank.init()
        rank.clock.go_on()
        try:
            exec(code, vars(main))
        except SystemExit as end:
            if end.code not in (None, 0):
                raise RankError(f"rank {rank.number} ended with exit status {end.code}",
                                end.code if isinstance(end.code, int) else 1) from None
        except Exception as error:
            raise RankError(_told(rank.number, file, error)) from error
        finally:
            own.lines.end()
        if not rank.finalized:
            rank.finalize()

    return program(body, surroundings, measured=measured)


def _told(rank: int, file: Path, error: Exception) -> str:
    frames: list[Any] = [frame for frame in traceback.extract_tb(error.__traceback__)
                         if Path(frame.filename).parent == file.parent]
    where = f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else file.name
    text = str(error).splitlines()
    return f"{where}: rank {rank}: {type(error).__name__}" + (f": {text[0]}" if text else "")
