"""Does a worker's part in a cluster: it checks that it measures the same, and measures.

The scheduler imports this module, too, when it gets a task. What goes over the network is plain
data and, of a measurement, bytes: they are opened only where the sources are the same.
"""

import pickle
import threading
import traceback
from collections.abc import Callable, Mapping, Sequence
from typing import Any

__all__ = ["Answer", "carry_out", "make", "receive"]

Answer = dict[str, Any]
"""What became of it: the ``document``, or the ``build``; the line of its ``error``; the traceback
of a ``fault`` of nicbed; why the worker is ``refused``; or that it waits for the build that is
``missing`` at the worker of this address; or that files of one's own are ``lacking`` there."""

_mine = threading.local()
_building = threading.Lock()


def carry_out(asked: Mapping[str, str], sim: str, synthesis: bool, job: bytes,
              outside: Sequence[str] = ()) -> Answer:
    """Measure ``job`` (:class:`~..testbed.measurement.Measurement`, limit, build), if the
    :func:`~..store.keys.identity` of this worker for ``sim`` and ``synthesis`` is what is
    ``asked`` for.

    A worker whose simulator has another name than ``build``, on another machine or in another
    place, builds its own; one that could use the build and has it not asks for it, and so for the
    files of one's own whose names in the cache are ``outside``.
    """
    def measured() -> Answer:
        from . import builds

        different = _different(asked, sim, synthesis)
        if different:
            return {"refused": f"the worker {_address()} measures with {different}"}
        if not all(map(builds.present, outside)):
            return {"lacking": _address()}
        wanted, limit, build = _opened(job)
        mine = builds.name(wanted)
        if mine == build and build is not None and not builds.present(build):
            return {"missing": _address()}
        return {"document": _beds(limit).document(wanted)}

    return _answer(measured)


def make(job: bytes) -> Answer:
    """Build what ``job``, as of :func:`carry_out`, needs."""
    def made() -> Answer:
        from ..backends.session import built_simulator
        from . import builds

        wanted, _, _ = _opened(job)
        built_simulator(wanted.description, wanted.sim)
        return {"build": builds.collected(str(builds.name(wanted)), wanted.description)}

    return _answer(made)


def receive(build: Any) -> Answer:
    """Keep ``build`` in the cache."""
    from . import builds

    builds.kept(build)
    return {}


def _opened(job: bytes) -> Any:
    """The ``job``, with the files of one's own as they have come."""
    from ...layouts.doors.finding import COPIES
    from ..simulators import cache
    from . import builds

    copies = cache.root() / builds.OUTSIDE
    if copies not in COPIES:
        COPIES.append(copies)
    return pickle.loads(job)


def _answer(work: Callable[[], Answer]) -> Answer:
    from ...layouts.doors.blame import blamed
    from ..errors import UserError

    try:
        return work()
    except UserError as error:
        return {"error": str(error)}
    except OSError as error:  # of the machine, such as a full disk
        return {"error": _told(error)}
    except Exception as error:
        if line := blamed(error):
            return {"error": line}
        return {"fault": f"{_told(error)}\n{traceback.format_exc()}"}


def _told(error: Exception) -> str:
    """An error of this worker in one line."""
    return f"{type(error).__name__}: {' '.join(str(error).split())}, on {_address()}"


def _different(asked: Mapping[str, str], sim: str, synthesis: bool) -> str:
    """The first thing that is another one than ``asked``; empty if nothing is."""
    from ..store.keys import identity

    for name, here in {**dict.fromkeys(asked, "none"), **identity(sim, synthesis)}.items():
        there = asked.get(name, "none")
        if here != there:
            return (f"other sources of nicbed ({here[:10]}, here {there[:10]})"
                    if name == "sources" else f"{name} {here} (here {there})")
    return ""


def _address() -> str:
    from distributed import get_worker

    return get_worker().address


def _beds(limit: int | None) -> Any:
    """The beds of this thread for ``limit``."""
    from ..sweeps.executor import Beds

    found = _mine.__dict__.setdefault("beds", {})
    if limit not in found:
        found[limit] = Beds(limit, _building)
    return found[limit]
