"""A Python program as a host program."""

import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ...port.node import Program
from ..sync import Rank, RankError, program
from .place import PythonPlace
from .shim import modules

__all__ = ["python_program"]


def python_program(file: Path, arguments: Sequence[str] = ()) -> Program:
    """The host program of ``file``, whose ``sys.argv`` is the file and ``arguments``. Init and
    Finalize are called around it, as mpi4py does.

    Raises
    ------
    RankError
        The program raised an exception, or ended with another status than 0.
    """
    code = compile(file.read_bytes(), str(file), "exec", dont_inherit=True)
    places: dict[Rank, PythonPlace] = {}

    def place(rank: Rank) -> PythonPlace:
        places[rank] = PythonPlace(rank.number, file, arguments, modules())
        return places[rank]

    def body(rank: Rank) -> None:
        rank.init()
        try:
            exec(code, {"__name__": "__main__", "__file__": str(file)})
        except SystemExit as end:
            if end.code not in (None, 0):
                raise RankError(f"rank {rank.number} ended with exit status {end.code}") from None
        except Exception as error:
            raise RankError(_told(rank.number, file, error)) from error
        finally:
            places[rank].lines.end()
        if not rank.finalized:
            rank.finalize()

    return program(body, place)


def _told(rank: int, file: Path, error: Exception) -> str:
    frames: list[Any] = [frame for frame in traceback.extract_tb(error.__traceback__)
                         if Path(frame.filename).parent == file.parent]
    where = f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else file.name
    text = str(error).splitlines()
    return f"{where}: rank {rank}: {type(error).__name__}" + (f": {text[0]}" if text else "")
