"""Ends a program in Python."""

import sys
import traceback
from contextlib import suppress
from pathlib import Path
from types import CodeType
from typing import Any, NamedTuple

from ...runtime import Stuck
from ..sync import CHILD, Rank, RankError

__all__ = ["End", "executed"]


class End(NamedTuple):
    """The end of a program: an exit status as mpiexec would see it, and the reason of a failed
    run."""

    status: int
    failure: RankError | None = None


def executed(rank: Rank, file: Path, code: CodeType, names: dict[str, Any]) -> End:
    """Execute the program ``code`` of ``rank``, from ``file``, in ``names``. The program's own
    sys.excepthook is called where Python would call it."""
    try:
        exec(code, names)
    except SystemExit as end:
        return _exited(rank, end.code)
    except Stuck:
        if rank.fate is None:
            raise
        return End(1, rank.fate)  # it waits for a thread that has ended
    except Exception as error:
        line = _told(rank.number, file, error)
        failure = rank.fate or RankError(line)
        if sys.excepthook is not sys.__excepthook__:
            with suppress(BaseException):  # MPI_Abort is often in it
                sys.excepthook(type(error), error, error.__traceback__)
        if CHILD:
            print(line, file=sys.stderr)
        return End(1, failure)
    return End(0)


def _exited(rank: Rank, code: Any) -> End:
    """After ``sys.exit(code)``."""
    if code is None or isinstance(code, int):
        status, why = (code or 0) & 0xFF, ""
    else:
        status, why = 1, "".join(f": {line}" for line in str(code).splitlines()[:1])
    if status == 0:
        return End(0)
    return End(status, rank.fate or RankError(f"rank {rank.number} ended with exit status "
                                              f"{status}{why}", status))


def _told(rank: int, file: Path, error: Exception) -> str:
    frames: list[Any] = [frame for frame in traceback.extract_tb(error.__traceback__)
                         if Path(frame.filename).parent == file.parent]
    where = f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else file.name
    text = str(error).splitlines()
    return f"{where}: rank {rank}: {type(error).__name__}" + (f": {text[0]}" if text else "")
