"""``mpi4py.futures``, as far as it goes without processes that a program starts.

Nothing goes on at the root beside its program: ranks that are free get tasks, and results are
taken, when a task is submitted or a future is waited for. Timeouts do not count.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent import futures
from concurrent.futures import (
    ALL_COMPLETED,
    FIRST_COMPLETED,
    FIRST_EXCEPTION,
    CancelledError,
    Executor,
    InvalidStateError,
    wait,
)
from itertools import islice, starmap
from typing import Any

from .communicators import COMM_WORLD
from .status import Status

__all__ = ["ALL_COMPLETED", "CancelledError", "Executor", "FIRST_COMPLETED", "FIRST_EXCEPTION",
           "Future", "InvalidStateError", "MPICommExecutor", "MPIPoolExecutor", "as_completed",
           "wait"]


class Future(futures.Future[Any]):
    """The result of a task of ``executor``."""

    def __init__(self, executor: "_CommPool") -> None:
        super().__init__()
        self._executor = executor
        condition: Any = self._condition
        lock = condition.acquire

        def acquire(*arguments: Any) -> Any:
            # Called by Python's own wait and as_completed alone, which would wait for a thread.
            executor.until(self.done)
            return lock(*arguments)
        condition.acquire = acquire

    def result(self, timeout: float | None = None) -> Any:
        self._executor.until(self.done)
        return super().result()

    def exception(self, timeout: float | None = None) -> BaseException | None:
        self._executor.until(self.done)
        return super().exception()


def as_completed(fs: Iterable[Future], timeout: float | None = None) -> Iterator[Future]:
    """The futures, as they complete; of several that have, in their order."""
    left = list(dict.fromkeys(fs))
    while left:
        left[0]._executor.until(lambda: any(one.done() for one in left))
        done = next(one for one in left if one.done())
        left.remove(done)
        yield done


class MPIPoolExecutor(Executor):
    """Refused: it starts processes. Those of :class:`MPICommExecutor` are of this class, too."""

    def __init__(self, *_: Any, **__: Any) -> None:
        raise NotImplementedError("MPIPoolExecutor starts processes, which is not supported: use "
                                  "MPICommExecutor(MPI.COMM_WORLD)")


class _CommPool(MPIPoolExecutor):
    """Gives tasks to the other ranks of ``comm``, of which this one is the root; it does them
    itself where there are none."""

    def __init__(self, comm: Any) -> None:
        self._comm = comm
        self._free = deque(rank for rank in range(comm.size) if rank != comm.rank)
        self.num_workers = len(self._free)
        self._waiting: deque[tuple[Future, Any]] = deque()
        self._running: dict[int, Future] = {}
        self._shut = self._told = False

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future:
        if self._shut:
            raise RuntimeError("cannot submit after shutdown")
        future = Future(self)
        self._waiting.append((future, (fn, args, kwargs)))
        self._give()
        return future

    def map(self, fn: Callable[..., Any], *iterables: Iterable[Any], timeout: float | None = None,
            chunksize: int = 1, **options: Any) -> Iterator[Any]:
        return self.starmap(fn, zip(*iterables, strict=False), timeout, chunksize, **options)

    def starmap(self, fn: Callable[..., Any], iterable: Iterable[Any],
                timeout: float | None = None, chunksize: int = 1, buffersize: int | None = None,
                unordered: bool = False) -> Iterator[Any]:
        """The results of ``fn(*each)``; ``chunksize`` of them are one task. All tasks are
        submitted at once, whatever ``buffersize`` is."""
        if chunksize < 1:
            raise ValueError("chunksize must be >= 1.")
        rest = iter(iterable)
        tasks = [self.submit(_several, fn, chunk)
                 for chunk in iter(lambda: tuple(islice(rest, chunksize)), ())]
        return _results(as_completed(tasks) if unordered else iter(tasks))

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        self._shut = True
        if cancel_futures:
            for future, _ in self._waiting:
                future.cancel()
        if wait:
            self.until(lambda: not self._waiting and not self._running)
            if not self._told:
                self._told = True
                for rank in self._free:
                    self._comm.send(None, rank)

    def until(self, done: Callable[[], bool]) -> None:
        """Go on until ``done()``."""
        self._give()
        while not done():
            if self._running:
                status = Status()
                value, failure = self._comm.recv(status=status)
                rank = status.Get_source()
                self._free.append(rank)
                _put(self._running.pop(rank), value, failure)
            else:
                future, task = self._waiting.popleft()
                if future.set_running_or_notify_cancel():
                    _put(future, *_done(*task))
            self._give()

    def _give(self) -> None:
        """Tasks to the ranks that are free."""
        while self._waiting and (self._free or self._waiting[0][0].cancelled()):
            future, task = self._waiting.popleft()
            if not future.set_running_or_notify_cancel():
                continue
            try:
                self._comm.send(task, self._free[0])
            except Exception as error:  # it cannot be pickled
                future.set_exception(error)
            else:
                self._running[self._free.popleft()] = future


class MPICommExecutor:
    """At the root of ``comm``, ``with`` gives an executor; the other ranks do its tasks until the
    root's block ends, after their ``initializer(*initargs)``."""

    def __init__(self, comm: Any = None, root: int = 0, *, initializer: Any = None,
                 initargs: Iterable[Any] = (), **_: Any) -> None:
        comm = COMM_WORLD if comm is None else comm
        if comm.Is_inter():
            raise ValueError("expecting an intracommunicator")
        if not 0 <= root < comm.size:
            raise ValueError("expecting root in range(comm.size)")
        self._of, self._root = comm, root
        self._first = (lambda: initializer(*initargs)) if initializer else lambda: None
        self._comm: Any = None
        self._executor: _CommPool | None = None

    def __enter__(self) -> MPIPoolExecutor | None:
        if self._comm is not None:
            raise RuntimeError("__enter__")
        comm = self._comm = self._of.Dup()
        if comm.rank == self._root:
            self._executor = _CommPool(comm)
            if comm.size == 1:
                self._first()
            return self._executor
        self._first()
        while (task := comm.recv(source=self._root)) is not None:
            _answer(comm, self._root, _done(*task))
        return None

    def __exit__(self, *_: object) -> None:
        if self._executor is not None:
            self._executor.shutdown()
        self._comm.Free()
        self._comm = self._executor = None


def _done(fn: Callable[..., Any], args: Any, kwargs: Any) -> tuple[Any, BaseException | None]:
    """What ``fn`` gives, or raises."""
    try:
        return fn(*args, **kwargs), None
    except (Exception, SystemExit) as error:
        return None, error


def _answer(comm: Any, root: int, answer: tuple[Any, BaseException | None]) -> None:
    try:
        comm.send(answer, root)
    except Exception as error:  # it cannot be pickled
        comm.send((None, RuntimeError(f"{type(error).__name__}: {error}")), root)


def _put(future: Future, value: Any, failure: BaseException | None) -> None:
    if failure is None:
        future.set_result(value)
    else:
        future.set_exception(failure)


def _several(fn: Callable[..., Any], chunk: tuple[Any, ...]) -> list[Any]:
    return list(starmap(fn, chunk))


def _results(tasks: Iterator[Future]) -> Iterator[Any]:
    for task in tasks:
        yield from task.result()
