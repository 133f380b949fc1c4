"""A rank of a program with blocking calls: its library, its time, its end.

What the program computes takes no target time of itself: what it is charged is what it says
(:meth:`Rank.compute`), or a number of cycles before each of its calls (``mpi.program_cycles``), or
nothing. This computer's clock does not count, but where it is asked for: then the CPU time that the
program has taken since its last call is charged before each call.
"""

import os
from collections.abc import Callable, Coroutine
from fractions import Fraction
from typing import Any, NoReturn, TypeVar

from greenlet import getcurrent

from ...port.node import Node, Program
from ...port.watch import Watch
from ..errors import ErrorClass, MpiError, RequestError
from ..library import Mpi
from .clock import Clock
from .elsewhere import CHILD, refuse_thread
from .errors import RankError
from .folders import Folders
from .ranks import Ranks
from .stack import Stack, Surroundings, wait

__all__ = ["Rank", "current", "program", "running"]

Result = TypeVar("Result")
Other = TypeVar("Other")


class Rank:
    """The rank that runs on ``node``. ``measured``: the CPU time that its program takes on this
    computer is charged.

    Attributes
    ----------
    mpi
        Its library.
    number
        Its rank among all.
    initialized, finalized
        Whether it has called Init, and Finalize.
    fate
        Why it must end. A program that goes on nevertheless, as it catches everything, is left
        where it makes its next call.
    first
        Called when the program first asks for its rank; None afterwards, and where nothing is to be
        done then.
    kept
        What the program's face of MPI keeps for it, by name (:meth:`keep`).
    clock
        Counts the program's CPU time. A face lets it go on when its program begins, and stops it
        while it works itself.
    """

    def __init__(self, node: Node, measured: bool = False) -> None:
        self.node = node
        self.mpi = Mpi(node)
        self.number = self.mpi.rank
        self.initialized = False
        self.finalized = False
        self.fate: RankError | None = None
        self.first: Callable[[], None] | None = None
        self.kept: dict[str, Any] = {}
        self._ranks = node.run_service(Ranks)
        self._folders = node.run_service(Folders)
        node.run_service(Watch).names[node.port.number] = f"rank {self.number}"
        self.clock = Clock()
        self._before = Fraction(node.description.mpi.program_cycles)
        self._each = Fraction(node.description.cpu.clock_mhz) / 1000 if measured else None

    def keep(self, name: str, make: Callable[[], Result]) -> Result:
        """Returns what is kept under ``name``; made when it is first asked for."""
        if name not in self.kept:
            self.kept[name] = make()
        return self.kept[name]

    def wait(self, call: Coroutine[Any, Any, Result]) -> Result:
        """Returns what ``call``, one of the library's, gives.

        Raises
        ------
        MpiError
            The program broke a rule of MPI.
        RankError
            Every rank waits, and none will ever go on.
        """
        if self.fate is not None:
            stack = getcurrent()
            assert isinstance(stack, Stack)
            stack.abandon(self.fate)
        self.clock.stop()
        try:
            before = self._before + self._measured()
            if before:
                wait(self._compute(before))
            return wait(call)
        except MpiError as error:
            if error.error is ErrorClass.ERR_PENDING:
                raise self._ranks.misuse or self.end(str(error)) from None
            raise
        finally:
            self.clock.go_on()

    def _measured(self) -> Fraction | int:
        """CPU cycles for what the program has computed since its last call."""
        return 0 if self._each is None else self.clock.take() * self._each

    def complete(self, call: Coroutine[Any, Any, Result], put: Callable[[Result], Other]) -> Other:
        """Returns what ``put`` makes of what ``call``, which completes requests, gives. Where some
        of them have failed it does so, too, before their error is raised."""
        try:
            found = self.wait(call)
        except RequestError as error:
            put(error.found)
            raise
        return put(found)

    def end(self, why: str, status: int = 1) -> RankError:
        """The error that ends the run because of this rank, with an exit status."""
        self.fate = RankError(why, status)
        return self.fate

    def misused(self, why: str) -> None:
        """Something beside the program has made a call of MPI: the run ends by this rank's next
        call, or with its program, or where all ranks wait."""
        self._ranks.misuse = self.end(why)

    def init(self) -> None:
        """Init."""
        self._ranks.begins(self.number)
        self.initialized = True
        self.wait(self.mpi.Init())

    def finalize(self) -> None:
        """Finalize."""
        self.wait(self.mpi.Finalize())
        self.finalized = True

    def compute(self, cycles: float | Fraction) -> None:
        """Compute for ``cycles`` of the CPU.

        Raises
        ------
        ValueError
            ``cycles`` is negative or no number.
        """
        self.clock.stop()
        try:
            wait(self._compute(Fraction(cycles) + self._measured()))
            wait(self.node.port.delay(0))  # a program that only computes comes to the run's limit
        finally:
            self.clock.go_on()

    async def _compute(self, cycles: Fraction) -> None:
        async with self.mpi.computing():
            self.node.port.compute_cycles(cycles)

    def time(self) -> float:
        """Seconds of target time. A look takes time, so that a program that waits for a time comes
        to it."""
        return self.wait(self._time())

    async def _time(self) -> float:
        await self.mpi.spend()
        return await self.mpi.Wtime()

    @property
    def tick(self) -> float:
        """Seconds of a cycle of the target."""
        return 1 / (float(self.node.description.nic.clock_mhz) * 1e6)

    def abort(self, comm: str, code: int) -> None:
        """Abort: the run ends, with exit status ``code``.

        Raises
        ------
        RankError
            Always.
        """
        raise self.end(f"rank {self.number}: MPI_Abort({comm}, {code})", code)

    def moved(self) -> None:
        """The program has changed its current directory."""
        self._folders.moved(self.number)

    def leave(self, status: int) -> NoReturn:
        """The program ends with ``status``, an exit status, as it is: nothing of it is told."""
        status &= 0xFF
        fate = self.fate
        if fate is None and status:
            fate = RankError(f"rank {self.number} ended with exit status {status}", status)
        elif fate is None and not self.finalized:
            fate = RankError(f"rank {self.number} ended without MPI_Finalize")
        stack = getcurrent()
        assert isinstance(stack, Stack)
        stack.abandon(fate)

    def ended(self) -> None:
        """The program has ended.

        Raises
        ------
        RankError
            It has called Init and not Finalize; or others have called Init, and it has not; or it
            should have ended before.
        """
        if self.fate is not None:
            raise self.fate
        if not self.initialized:
            self._ranks.never_begins(self.number)
        elif not self.finalized:
            raise RankError(f"rank {self.number} ended without MPI_Finalize")


def running() -> Rank | None:
    """The rank whose program is running; None where there is none."""
    stack = getcurrent()
    return stack.owner if isinstance(stack, Stack) else None


def current() -> Rank:
    """The rank whose program is running.

    Raises
    ------
    RuntimeError
        There is none.
    SystemExit
        This is another thread of a rank's program (:func:`.elsewhere.refuse_thread`).
    """
    rank = running()
    if rank is None:
        refuse_thread()
        raise RuntimeError("no rank is running: run the program by `nicbed app FILE --nodes N`")
    first, rank.first = rank.first, None
    if first is not None:
        first()
    return rank


def program(body: Callable[[Rank], Any],
            surroundings: Callable[[Rank], Surroundings] = lambda _: Surroundings(), *,
            measured: bool = False) -> Program:
    """A host program: ``body(rank)`` on a stack of its own, inside ``surroundings(rank)``;
    ``measured`` as of :class:`Rank`."""
    async def run(node: Node) -> Any:
        rank = Rank(node, measured)

        def whole() -> Any:
            result = body(rank)
            rank.ended()
            return result

        return await Stack(whole, rank, rank.number, surroundings(rank),
                           node.run_service(Folders)).drive()
    return run


def _in_child() -> None:
    rank = running()
    if rank is not None:
        CHILD[:] = [rank.number]


os.register_at_fork(after_in_child=_in_child)
