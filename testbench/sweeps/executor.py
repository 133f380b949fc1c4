"""Executors of measurements: their common interface, and threads of this process."""

import queue
import threading
import warnings
from collections.abc import Callable, Generator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Any, Protocol

from ..errors import UserError
from ..store import Store
from ..testbed.bed import Testbed
from ..testbed.keeping import kept
from ..testbed.listener import Listener
from ..testbed.measurement import Measurement
from ..testbed.options import Options

__all__ = ["Beds", "Ended", "Executor", "Keeping", "Local", "Outcome", "Task", "Worker",
           "in_threads"]


@dataclass(frozen=True)
class Task:
    """A measurement of a study, with a number by which its outcome is known."""

    number: int
    wanted: Measurement


@dataclass(frozen=True)
class Outcome:
    """The outcome of a task: its document, or the line of its failure; ``stored``: nothing had to
    be measured."""

    number: int
    document: dict[str, Any] | None = None
    error: str = ""
    stored: bool = False


class Ended(UserError):
    """The executor cannot go on. This ends the whole study, not only a point."""

    def __init__(self, text: str) -> None:
        super().__init__(text, status=1)


class Executor(Protocol):
    """Carries out tasks, in any order, each once. What it has carried out is in the store, so an
    executor that is interrupted loses nothing."""

    def outcomes(self, tasks: Sequence[Task]) -> Generator[Outcome, None, None]:
        """The outcome of each of ``tasks``, as they come. Tasks of one simulator come one after the
        other. Closing the iterator gives up what has not begun.

        Raises
        ------
        Ended
            It cannot go on.
        """
        ...


class Worker(Protocol):
    """Measures for one thread."""

    def document(self, wanted: Measurement) -> dict[str, Any]:
        """The document of ``wanted``, measured now.

        Raises
        ------
        UserError
            It cannot be measured.
        Ended
            Nor can any other one.
        """
        ...

    def close(self) -> None:
        """End what waits for another measurement."""
        ...


@dataclass(frozen=True)
class Keeping:
    """Does the part of an executor that surrounds a measurement.

    Attributes
    ----------
    store, fresh
        As of :class:`~nicbed.Testbed`.
    limit
        Target cycles after which a run is stopped.
    warn
        Told of trouble with the store, once of each.
    """

    store: Store | None = None
    fresh: bool = False
    limit: int | None = None
    warn: Callable[[str], None] = warnings.warn

    def outcome(self, task: Task, worker: Worker) -> Outcome:
        """The outcome of ``task``: from the store, or measured by ``worker`` and kept there. What
        a user can cause is a line in it."""
        wanted = task.wanted

        def run() -> dict[str, Any]:
            return worker.document(wanted)

        try:
            if self.store is None or not wanted.pure:
                return Outcome(task.number, run())
            found = kept(self.store, wanted, self.limit, run, self.warn, again=self.fresh)
        except Ended:
            raise
        except UserError as error:
            return Outcome(task.number, error=str(error))
        return Outcome(task.number, found.document, stored=found.stored)


class Local:
    """Threads of this process, each with simulators' processes of its own, which do the work.

    Parameters
    ----------
    workers
        How many measure at the same time.
    keeping
        As of :class:`Keeping`.
    """

    def __init__(self, workers: int = 2, **keeping: Any) -> None:
        self._workers = workers
        self._keeping = Keeping(**keeping)

    def outcomes(self, tasks: Sequence[Task]) -> Generator[Outcome, None, None]:
        """As of :class:`Executor`. An interrupt lets measurements that have begun end, unseen but
        for the store."""
        building = threading.Lock()
        return in_threads(tasks, self._workers, self._keeping,
                          lambda: Beds(self._keeping.limit, building))


class Beds:
    """A worker that measures with simulators of its own, on a testbed for each back end.

    Parameters
    ----------
    limit
        Target cycles after which a run is stopped.
    building
        Held while a simulator is built.
    """

    def __init__(self, limit: int | None, building: AbstractContextManager[Any]) -> None:
        self._limit, self._building = limit, building
        self._beds: dict[str, Testbed] = {}

    def document(self, wanted: Measurement) -> dict[str, Any]:
        """As of :class:`Worker`."""
        bed = self._beds.get(wanted.sim)
        if bed is None:
            bed = self._beds[wanted.sim] = Testbed(
                sim=wanted.sim, store=None, limit=self._limit,
                options=Options(listener=_Silent(), building=self._building))
        return bed.measure(wanted).document

    def close(self) -> None:
        """End the simulators' processes."""
        for bed in self._beds.values():
            bed.close()


def in_threads(tasks: Sequence[Task], count: int, keeping: Keeping,
               worker: Callable[[], Worker]) -> Generator[Outcome, None, None]:
    """The outcomes of ``tasks``, of which ``count`` are carried out at the same time, each by a
    thread with a worker of its own."""
    waiting: queue.SimpleQueue[Task | None] = queue.SimpleQueue()
    done: queue.SimpleQueue[Outcome | BaseException] = queue.SimpleQueue()
    for one in (*tasks, *[None] * count):
        waiting.put(one)
    stop = threading.Event()
    keeping = replace(keeping, warn=_once(keeping.warn))

    def work() -> None:
        mine = worker()
        try:
            while (task := waiting.get()) is not None and not stop.is_set():
                done.put(keeping.outcome(task, mine))
        except BaseException as error:  # of nicbed, or Ended: the caller's thread raises it
            done.put(error)
        finally:
            mine.close()

    for _ in range(count):
        threading.Thread(target=work, daemon=True).start()
    try:
        for _ in tasks:
            found = done.get()
            if isinstance(found, BaseException):
                raise found
            yield found
    finally:
        stop.set()


def _once(tell: Callable[[str], None]) -> Callable[[str], None]:
    """``tell``, which is told each line once."""
    told: set[str] = set()

    def telling(line: str) -> None:
        if line not in told:
            told.add(line)
            tell(line)
    return telling


class _Silent(Listener):
    def printed(self, text: str) -> None:
        pass
