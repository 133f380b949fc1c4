"""Who carries out measurements: the one interface, and threads of this process."""

import queue
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from ..errors import UserError
from ..store import Store
from ..testbed.bed import Testbed
from ..testbed.listener import Listener
from ..testbed.measurement import Measurement

__all__ = ["Executor", "Local", "Outcome", "Task", "carry_out"]


@dataclass(frozen=True)
class Task:
    """A measurement of a study, with a number by which its outcome is known."""

    number: int
    wanted: Measurement


@dataclass(frozen=True)
class Outcome:
    """What became of a task: its document, or the line of its failure; ``stored``: nothing had to
    be measured."""

    number: int
    document: dict[str, Any] | None = None
    error: str = ""
    stored: bool = False


class Executor(Protocol):
    """Carries out tasks, in any order, each once. What it has carried out is in the store, so an
    executor that is interrupted loses nothing."""

    def outcomes(self, tasks: Sequence[Task]) -> Iterator[Outcome]:
        """The outcome of each of ``tasks``, as they come. Tasks of one simulator come one after the
        other. Closing the iterator gives up what has not begun."""
        ...


class Local:
    """Threads of this process, each with simulators' processes of its own, which do the work.

    Parameters
    ----------
    workers
        How many measure at the same time.
    store, fresh
        As of :class:`~nicbed.Testbed`.
    limit
        Target cycles after which a run is stopped.
    """

    def __init__(self, workers: int = 2, *, store: Store | None = None, fresh: bool = False,
                 limit: int | None = None) -> None:
        self._workers = workers
        self._store, self._fresh, self._limit = store, fresh, limit

    def outcomes(self, tasks: Sequence[Task]) -> Iterator[Outcome]:
        """As of :class:`Executor`. An interrupt lets measurements that have begun end, unseen but
        for the store."""
        waiting: queue.SimpleQueue[Task | None] = queue.SimpleQueue()
        done: queue.SimpleQueue[Outcome | BaseException] = queue.SimpleQueue()
        for one in (*tasks, *[None] * self._workers):
            waiting.put(one)
        stop = threading.Event()
        building = threading.Lock()

        def work() -> None:
            beds: dict[str, Testbed] = {}
            while (task := waiting.get()) is not None and not stop.is_set():
                sim = task.wanted.sim
                if sim not in beds:
                    beds[sim] = Testbed(sim=sim, store=self._store, fresh=self._fresh,
                                        limit=self._limit, listener=_Silent(), building=building)
                try:
                    done.put(carry_out(beds[sim], task))
                except BaseException as error:  # an error of nicbed: the caller's thread raises it
                    done.put(error)
                    return
            for bed in beds.values():
                bed.close()

        for _ in range(self._workers):
            threading.Thread(target=work, daemon=True).start()
        try:
            for _ in tasks:
                found = done.get()
                if isinstance(found, BaseException):
                    raise found
                yield found
        finally:
            stop.set()


def carry_out(bed: Testbed, task: Task) -> Outcome:
    """The outcome of ``task`` on ``bed``; what a user can cause is a line in it."""
    try:
        result = bed.measure(task.wanted)
    except UserError as error:
        return Outcome(task.number, error=str(error))
    return Outcome(task.number, result.document, stored=result.stored)


class _Silent(Listener):
    def printed(self, text: str) -> None:
        pass
