"""A program in C as a host program."""

import ctypes
import os
import shutil
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from ....firmware.cache import for_libraries
from ...port.node import Program
from ...port.watch import SIGNAL, Stuck, Watch
from ..errors import MpiError
from ..sync import Ended, Rank, RankError, Surroundings, program
from ..sync.output import Lines
from .callbacks import Left
from .calls import State
from .errhandlers import Errhandlers
from .header import calls
from .lines import line_of
from .parts import PARTS

__all__ = ["c_program"]

LEAVE = -(1 << 31)
"""What a call returns to leave the program (runtime.c)."""
WAITS = 2
"""What :attr:`Shared.spins` is of a program that waits, and does not compute (runtime.c)."""
ABSENT, NO_CALL = -1, -2
"""Numbers beside those of calls: a function that nobody has; none."""
FUNCTION = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_int, ctypes.POINTER(ctypes.c_ssize_t))
TABLES = {"MPI_Comm": "comms", "MPI_Group": "groups", "MPI_Datatype": "types", "MPI_Op": "ops",
          "MPI_Win": "windows"}
OWNERS = ("MPI_Comm", "MPI_Win")
"""What has an error handler."""


class Shared(ctypes.Structure):
    """The structure that Python and all copies of a program share (runtime.c)."""

    _fields_ = [("running", ctypes.c_int), ("inside", ctypes.c_int), ("call", ctypes.c_int),
                ("entries", ctypes.c_uint), ("patience", ctypes.c_double), ("spins", ctypes.c_int),
                ("looks", ctypes.c_uint), ("places", ctypes.c_size_t * 6),
                ("low", ctypes.c_size_t), ("high", ctypes.c_size_t),
                ("leave", ctypes.c_void_p), ("said", ctypes.c_int),
                ("library", ctypes.c_char * 4096)]


class Copies:
    """The copies of the program's library, one a rank, with what the program prints and which
    rank's code runs. One for a run; see :meth:`Node.run_service`.

    Attributes
    ----------
    shared
        What the copies know of it.
    calls
        By rank, the call of mpi.h in which it is.
    """

    def __init__(self) -> None:
        self.shared = Shared(running=-1, inside=-1)
        self.calls: dict[int, int] = {}
        self._users = 0
        self._printed: Any = None
        self._saved: list[int] = []
        self._library: Any = None

    def enter(self, source: Path, rank: int, patience: float) -> Any:
        """A copy of the library ``source`` for ``rank``, whose code may take ``patience`` CPU
        seconds between two calls."""
        descriptor, name = tempfile.mkstemp(".so", f"nicbed-rank{rank}-", for_libraries())
        os.close(descriptor)
        try:
            shutil.copy(source, name)
            library = ctypes.PyDLL(name)
        finally:
            os.unlink(name)  # it stays loaded, and a crash leaves nothing
        self._users += 1
        if self._library is None:
            self._library = library
            self._printed = tempfile.TemporaryFile()
            self._saved = [os.dup(1), os.dup(2)]
            for descriptor in (1, 2):
                os.dup2(self._printed.fileno(), descriptor)
            self.shared.said = self._saved[1]
            self.shared.library = os.fsencode(source)
            self.shared.patience = patience
            library.nicbed_guard(ctypes.byref(self.shared), int(SIGNAL))
        return library

    def printed(self) -> str:
        """Returns what was printed since this was asked for last."""
        file = self._printed.fileno()
        length = os.lseek(file, 0, os.SEEK_END)
        if not length:
            return ""
        data = os.pread(file, length, 0)
        os.ftruncate(file, 0)
        os.lseek(file, 0, os.SEEK_SET)
        return data.decode(errors="replace")

    def leave(self) -> None:
        """A rank has ended."""
        self._users -= 1
        if self._users == 0:
            self._library.nicbed_guard(None, 0)
            for descriptor, saved in zip((1, 2), self._saved, strict=True):
                os.dup2(saved, descriptor)
                os.close(saved)
            self._printed.close()
            self._library = None


class _InCalls(Surroundings):
    """Tells the copies which rank's call Python carries out, so that a crash names it."""

    def __init__(self, rank: Rank) -> None:
        self._copies = rank.node.run_service(Copies)
        self._number = rank.number

    def enter(self) -> None:
        shared = self._copies.shared
        shared.call = self._copies.calls.get(self._number, NO_CALL)
        shared.inside = self._number

    def leave(self) -> None:
        self._copies.shared.inside = -1


class _Rank:
    """A rank's copy of the program."""

    def __init__(self, rank: Rank, copies: Copies, source: Path) -> None:
        self._rank = rank
        self._copies = copies
        self._source = source
        self._watch = watch = rank.node.run_service(Watch)
        watch.names[rank.node.port.number] = f"rank {rank.number}"
        self._library = copies.enter(source, rank.number, watch.patience)
        self._moved = ctypes.c_int.in_dll(self._library, "nicbed_moved")
        self._lines = Lines(rank.number)
        self._state = state = State(rank, self._library)
        parts = [part(state) for part in PARTS]
        self._errhandlers = next(one for one in parts if isinstance(one, Errhandlers))
        self._calls = [self._call(parts, call.name, call.parameters) for call in calls()]
        self._failure: BaseException | None = None

    def _call(self, parts: Sequence[Any], name: str, parameters: Sequence[tuple[str, str]]
              ) -> tuple[Callable[..., None], list[Any], int]:
        """The method for a call, a table or None for each of its parameters, and the place of its
        communicator or window, or -1. A method that wants a handle as it is declares an int: that
        of a datatype which may not count, beside MPI_IN_PLACE or not at the root."""
        method = next((getattr(part, name) for part in parts if hasattr(part, name)),
                      None) or self._missing(name)
        tables = [getattr(self._state.handles, TABLES[kind])
                  if kind in TABLES and method.__annotations__.get(argument) is not int else None
                  for kind, argument in parameters]
        place = next((index for index, (kind, _) in enumerate(parameters) if kind in OWNERS
                      and tables[index] is not None), -1)
        return method, tables, place

    def _missing(self, name: str) -> Callable[..., None]:
        """What stands for a call that there is not."""
        def missing(*_: Any) -> None:
            raise RankError(f"rank {self._rank.number}: {name} is not supported "
                            "(docs/tutorials/mpi.md lists the calls)")
        return missing

    def run(self, arguments: Sequence[str]) -> int:
        """Run the program; its exit status."""
        texts = [one.encode() for one in arguments]
        argv = (ctypes.c_char_p * (len(texts) + 1))(*texts, None)
        answer = FUNCTION(self._answer)
        self._rank.clock.go_on()
        try:
            status: int = self._library.nicbed_start(
                answer, self._rank.number, ctypes.byref(self._copies.shared), len(texts), argv)
        finally:
            self._rank.clock.stop()
            self._look_moved()
            self._print()
            self._lines.end()
            self._copies.leave()
        shared = self._copies.shared
        if shared.spins:
            waits, shared.spins = shared.spins == WAITS, 0
            with self._watch.excuse():
                place = line_of(self._source, *filter(None, shared.places))
            port = self._rank.node.port
            raise self._watch.stuck(port.number, port.given_at, f"in {place or 'C'}", waits=waits)
        if isinstance(self._failure, Left):
            return self._failure.code
        if self._failure is not None:
            raise self._failure
        return status

    def _look_moved(self) -> None:
        """The program may have changed its current directory."""
        if self._moved.value:
            self._moved.value = 0
            self._rank.moved()

    def _print(self) -> None:
        text = self._copies.printed()
        if text:
            self._lines.write(text)

    def _answer(self, number: int, given: Any) -> int:
        """A call of the program."""
        copies, comm = self._copies, None
        copies.calls[self._rank.number] = copies.shared.call = number
        copies.shared.inside = self._rank.number
        self._rank.clock.stop()
        try:
            self._print()
            self._look_moved()
            if self._failure is not None:
                return LEAVE
            if number == ABSENT:
                name = ctypes.string_at(given[0]).decode()
                raise RankError(f"rank {self._rank.number}: the program calls {name}, which is "
                                "nowhere defined")
            method, tables, place = self._calls[number]
            if place >= 0:
                comm = tables[place][given[place]]
            arguments = [given[index] if table is None else table[given[index]]
                         for index, table in enumerate(tables)]
            method(*arguments)
            return 0
        except MpiError as error:
            try:
                return self._errhandlers.handle(error, error.comms
                                                or [comm or self._rank.mpi.COMM_WORLD])
            except BaseException as end:
                self._failure = self._failure or end
        except (RankError, Ended, Stuck, KeyboardInterrupt) as error:
            self._failure = self._failure or error
        except MemoryError as error:
            # It may come of a message of another call, so no call can return it.
            self._failure = self._failure or RankError(
                f"rank {self._rank.number}: MPI_ERR_NO_MEM: {calls()[number].name}: {error}")
        except BaseException as error:
            self._failure = self._failure or self._internal(number, error)
        finally:
            copies.shared.inside = -1
            copies.calls[self._rank.number] = NO_CALL
            self._rank.clock.go_on()
        return LEAVE

    def _internal(self, number: int, error: BaseException) -> RankError:
        """What a C programmer reads of an exception that is no fault of the program's."""
        failure = RankError(f"rank {self._rank.number}: {calls()[number].name}: internal error: "
                            f"{type(error).__name__}: {error}; please report it")
        failure.__cause__ = error
        return failure


def c_program(library: Path, arguments: Sequence[str] = (), *, measured: bool = False) -> Program:
    """The host program of a library that :func:`~.compiler.compile_program` has made;
    ``arguments``: its argv, from argv[0] on; ``measured`` as of :class:`Rank`. It gives the
    program's exit status.

    Raises
    ------
    RankError
        The program broke a rule of MPI, or called MPI_Abort, or ended with another status than 0.
    """
    def body(rank: Rank) -> int:
        copies = rank.node.run_service(Copies)
        status = _Rank(rank, copies, library).run(arguments or [library.stem])
        if status:
            raise RankError(f"rank {rank.number} ended with exit status {status}", status)
        return status

    return program(body, _InCalls, measured=measured)
