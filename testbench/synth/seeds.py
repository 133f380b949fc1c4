"""Places a netlist with several seeds and keeps the best result."""

import os
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass

from .flow.placement import Placement
from .flow.routing import DoesNotRoute
from .flow.timing import fmax
from .flow.tools import Progress

__all__ = ["Best", "PlaceOne", "best_of"]

PlaceOne = Callable[[int, Progress, Callable[[], None]], Placement]
"""Places with a seed, reports progress, and calls the last argument twice a second; an exception of
that ends it."""


class _Stopped(BaseException):
    """Another seed failed, or the user interrupted."""


@dataclass(frozen=True)
class Best:
    """The placement with the highest fmax, its seed, and the result of each seed: MHz, or None if
    the router did not end."""

    placed: Placement
    seed: int
    reached: Mapping[int, float | None]

    @property
    def fmax_mhz(self) -> float:
        """fmax of the best placement, in MHz."""
        return fmax(self.placed.report)


def best_of(seeds: Sequence[int], place: PlaceOne, progress: Progress = lambda *_: None,
            at_once: int | None = None) -> Best:
    """The best placement of ``seeds``, each made by ``place``; of equal ones the first wins.

    Each seed costs a whole placing and routing: as much CPU time and memory as the first.
    ``at_once`` seeds run in parallel, by default as many as there are cores.

    Raises
    ------
    DoesNotRoute
        The router ends with no seed; this is the first seed's exception.
    Exception
        Any other exception of ``place``; the other seeds are stopped.
    """
    if not seeds:
        raise ValueError("seeds must have at least one")
    stop = threading.Event()
    shares = dict.fromkeys(seeds, 0.0)
    told = threading.Lock()

    def alive() -> None:
        if stop.is_set():
            raise _Stopped

    def one(seed: int) -> Placement:
        def tell(what: str, done: int, total: int) -> None:
            with told:
                shares[seed] = done / total if total else 0.0
                label = what if len(seeds) == 1 else f"seed {seed}: {what}"
                progress(label, round(1000 * sum(shares.values()) / len(seeds)), 1000)

        alive()
        return place(seed, tell, alive)

    pool = ThreadPoolExecutor(at_once or min(len(seeds), os.cpu_count() or 1))
    found = {seed: pool.submit(one, seed) for seed in seeds}
    try:
        _all_over(found.values())
    finally:
        stop.set()
        pool.shutdown(cancel_futures=True)
    reached = {seed: None if future.exception() else fmax(future.result().report)
               for seed, future in found.items()}
    best = max(seeds, key=lambda seed: reached[seed] or 0.0)
    # If none was routed, this raises the first one's DoesNotRoute.
    return Best(found[best].result(), best, reached)


def _all_over(futures: Iterable[Future[Placement]]) -> None:
    """Wait for all; raise the exception of any of them, except for a router that does not end."""
    pending = set(futures)
    while pending:
        # With short time-outs, so that an interrupt is handled.
        done, pending = wait(pending, timeout=0.5, return_when=FIRST_COMPLETED)
        for future in done:
            error = future.exception()
            if error is not None and not isinstance(error, DoesNotRoute):
                raise error
