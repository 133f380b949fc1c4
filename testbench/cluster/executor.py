"""An executor whose measurements a Dask cluster carries out.

Looking into the store, holding a key while it is measured, and keeping the result are done here, by
a thread for each measurement on its way. So a measurement that the cluster carries out twice,
because a worker has ended, is kept once.
"""

import pickle
import threading
import time
from collections import Counter
from collections.abc import Generator, Sequence
from contextlib import ExitStack, suppress
from typing import Any, Self

from ..backends import BOARDS
from ..errors import UserError
from ..simulators.simulator import same_simulator
from ..store.keys import identity
from ..sweeps.executor import Ended, Keeping, Outcome, Task, in_threads
from ..testbed.measurement import Measurement
from . import builds, worker
from .connection import connected

__all__ = ["AT_ONCE", "Cluster"]

AT_ONCE = 256
"""Measurements that are on their way to the cluster at the same time, each with an open file."""
PATIENCE = 2
"""Seconds after which is looked whether there are still workers."""

SENDINGS = 2
"""Times that a worker is sent a build for one measurement."""


class Cluster:
    """An executor (:class:`~..sweeps.executor.Executor`) that measures on a Dask cluster. It
    connects when there is something to be measured. As a context manager it keeps the connection
    from one call to the next.

    Parameters
    ----------
    address
        Of the scheduler, such as ``tcp://host:8786``; the scheduler's file; or a client of Dask.
    keeping
        As of :class:`~..sweeps.executor.Keeping`.
    """

    def __init__(self, address: Any, **keeping: Any) -> None:
        self._address = address
        self._keeping = Keeping(**keeping)
        self._users = 0
        self._connection = _Connection(address, self._keeping)

    def __enter__(self) -> Self:
        if self._users == 0:
            self._connection = _Connection(self._address, self._keeping)
        self._users += 1
        return self

    def __exit__(self, *_: object) -> None:
        self._users -= 1
        if self._users == 0:
            self._connection.end()

    def outcomes(self, tasks: Sequence[Task]) -> Generator[Outcome, None, None]:
        """As of :class:`~..sweeps.executor.Executor`. An interrupt takes back what has not begun.

        Raises
        ------
        Ended
            There is no cluster, or it has gone, or a worker would measure something else; or Dask
            is not installed.
        """
        with self:
            connection = self._connection
            try:
                yield from in_threads(tasks, min(len(tasks), AT_ONCE), self._keeping,
                                      lambda: connection)
            finally:
                connection.take_back()


class _Connection:
    """A worker (:class:`~..sweeps.executor.Worker`) for all threads, of which the first one that
    measures connects to the cluster at ``address``."""

    def __init__(self, address: Any, keeping: Keeping) -> None:
        self._address, self._keeping = address, keeping
        self._alone = threading.Lock()
        self._open = ExitStack()
        self._link: Link | None = None
        self._over: Ended | None = None
        """Why there is no link any more, or never was."""

    def document(self, wanted: Measurement) -> dict[str, Any]:
        """As of :class:`~..sweeps.executor.Worker`."""
        return self._linked().document(wanted)

    def close(self) -> None:
        """As of :class:`~..sweeps.executor.Worker`: nothing waits."""

    def take_back(self) -> None:
        """Give up what is under way."""
        if self._link is not None:
            self._link.take_back()

    def end(self) -> None:
        """End the connection; nothing is measured over it any more."""
        with self._alone:
            self._over = self._over or Ended(f"--dask {self._address}: the connection has ended")
            self._open.close()

    def _linked(self) -> "Link":
        with self._alone:
            if self._over is not None:
                raise self._over
            if self._link is None:
                try:
                    client = self._open.enter_context(connected(self._address))
                except Ended as error:
                    self._over = error
                    raise
                self._link = Link(client, str(self._address), self._keeping)
            return self._link


class Link:
    """A worker (:class:`~..sweeps.executor.Worker`) for all threads: ``client``'s cluster.

    Parameters
    ----------
    name
        What the cluster is called.
    keeping
        Of its executor.
    """

    def __init__(self, client: Any, name: str, keeping: Keeping) -> None:
        self._client, self._name, self._keeping = client, name, keeping
        self._under_way: set[Any] = set()
        self._alone = threading.Lock()
        self._told = False
        self._there: set[str] = set()
        self._looked = 0.0
        self._names: dict[tuple[str, ...], str | None] = {}
        self._locks: dict[tuple[str, ...], threading.Lock] = {}
        self._builds: dict[str, builds.Build] = {}
        self._sent: set[tuple[str, str]] = set()

    def document(self, wanted: Measurement) -> dict[str, Any]:
        """As of :class:`~..sweeps.executor.Worker`.

        Raises
        ------
        UserError
            It depends on files of this machine, or writes some.
        """
        if not wanted.pure and wanted.sim not in BOARDS:
            raise UserError(f"{wanted.name} has files of its own, which are not where the workers "
                            f"of {self._name} are: measure it without the cluster")
        build = self._named(wanted)
        job = pickle.dumps((wanted, self._keeping.limit, build))
        outside = [f"{builds.OUTSIDE}/{one.digest}" for one in wanted.outside if one.folder]
        asked: Counter[str] = Counter()
        while True:
            answer = self._done(worker.carry_out, identity(wanted.sim, wanted.synthesis),
                                wanted.sim, wanted.synthesis, job, outside)
            if "document" in answer:
                return answer["document"]
            if lacking := answer.get("lacking"):
                if asked[f"{lacking} {builds.OUTSIDE}"] == SENDINGS:
                    raise UserError(f"the worker {lacking} was sent the files of "
                                    f"{' and '.join(wanted.outside)} {SENDINGS} times and has not "
                                    "kept them", status=1)
                asked[f"{lacking} {builds.OUTSIDE}"] += 1
                with suppress(_Gone):
                    self._done(worker.receive, builds.outside(wanted), to=lacking)
                continue
            to = answer["missing"]
            if asked[to] == SENDINGS:
                raise UserError(f"the worker {to} was sent the build {build} {SENDINGS} times and "
                                "has not kept it", status=1)
            self._send(str(build), to, wanted, job, again=asked[to] > 0)
            asked[to] += 1

    def close(self) -> None:
        """As of :class:`~..sweeps.executor.Worker`: nothing waits."""

    def take_back(self) -> None:
        """Give up what is under way."""
        with self._alone:
            futures = list(self._under_way)
        if futures:
            self._client.cancel(futures)

    def _named(self, wanted: Measurement) -> str | None:
        """The name of the build that ``wanted`` needs, on this machine."""
        key = (wanted.sim, str(wanted.synthesis), *same_simulator(wanted.description))
        with self._alone:
            if key not in self._names:
                self._names[key] = builds.name(wanted)
            return self._names[key]

    def _send(self, build: str, to: str, wanted: Measurement, job: bytes, *, again: bool) -> None:
        """Send ``build`` to the worker ``to``, once, unless the same measurement asks ``again``;
        if nobody has it yet, that worker builds it."""
        with self._lock(build, to), suppress(_Gone):  # if it has ended, another one will ask
            if (to, build) in self._sent and not again:
                return
            with self._lock(build):
                if again:
                    self._builds.pop(build, None)
                if not builds.present(build):
                    builds.kept(self._done(worker.make, job, to=to)["build"])
                    self._sent.add((to, build))
                    return
                if build not in self._builds:
                    self._builds[build] = builds.collected(build, wanted.description)
            self._done(worker.receive, self._builds[build], to=to)
            self._sent.add((to, build))

    def _lock(self, *what: str) -> threading.Lock:
        with self._alone:
            return self._locks.setdefault(what, threading.Lock())

    def _done(self, function: Any, *arguments: Any, to: str | None = None) -> worker.Answer:
        """What ``function`` answers on a worker; the cluster repeats it if the worker ends. Or on
        the worker ``to`` alone.

        Raises
        ------
        _Gone
            That one has ended.
        """
        from distributed import CancelledError, KilledWorker

        future = self._client.submit(function, *arguments, pure=False, workers=to and [to],
                                     priority=1 if to else 0)
        with self._alone:
            self._under_way.add(future)
        try:
            answer = self._result(future, to)
        except _Gone:
            future.cancel()
            raise
        except CancelledError:
            raise Ended(f"--dask {self._name}: the cluster has gone; what was measured is in the "
                        "store") from None
        except KilledWorker:
            raise UserError("every worker that measured it ended before it was done",
                            status=1) from None
        except Exception as error:
            raise Ended(f"--dask {self._name}: {type(error).__name__}: {error}; scheduler and "
                        "workers need the same nicbed as here, with its group cluster") from None
        finally:
            with self._alone:
                self._under_way.discard(future)
        if "refused" in answer:
            raise Ended(f"{answer['refused']}: results would mix; install the same there and start "
                        "it anew")
        if "error" in answer:
            raise UserError(answer["error"], status=1)
        if "fault" in answer:
            raise RuntimeError(answer["fault"])
        return answer

    def _result(self, future: Any, to: str | None) -> worker.Answer:
        while True:
            try:
                return future.result(timeout=PATIENCE)
            except TimeoutError:
                if future.status == "error":
                    raise future.exception() from None
            workers = self._workers()
            if not workers:
                self._tell_of_none()
            if to and to not in workers:  # Dask would wait for it
                raise _Gone

    def _workers(self) -> set[str]:
        """The addresses of the workers, as of a short time ago."""
        with self._alone:
            if time.monotonic() - self._looked > PATIENCE:
                with suppress(OSError):  # the scheduler has ended; so has what it had to do
                    self._there = set(self._client.nthreads())
                self._looked = time.monotonic()
            return self._there

    def _tell_of_none(self) -> None:
        with self._alone:
            tell, self._told = not self._told, True
        if tell:
            self._keeping.warn(f"--dask {self._name}: the cluster has no worker; waiting for one")


class _Gone(Exception):
    """The worker has ended that was to do it."""
