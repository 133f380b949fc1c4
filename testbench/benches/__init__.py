"""The microbenchmarks, one object each, behind the door BENCHES: built in, by an entry point of
group ``nicbed.benches``, or by path.

A benchmark is a :class:`.benchmark.Benchmark`; one with a part for each layer is a
:class:`.variants.Variants`, whose parts are of that class, too. It has ``parameters(description)``
and, if those leave out the runs that take long, ``full(description)``; ``async measure(lab, layer,
parameters, tell)``, which runs host programs on a lab and returns plain data; ``evaluate(raw,
description, parameters)``, a pure function from that data to results, truth, points and checks;
``tables(document)`` and, where there is a plot, ``draw(document, figure)``. For ``nicbed compare``
it has ``headline(document)``, which returns a :class:`.common.headline.Headline` for each figure to
compare with another NIC's, ``FIGURES``, their names, where these are the same for all descriptions,
and, if there is a curve to compare, ``series(document)``.

In the order in which to read:

- :mod:`.benchmark`: A benchmark as one object: what a user writes to plug one in
- :mod:`.fields`: Fields of parameters and results, with units and meanings
- :mod:`.presented`: A benchmark in plain data, as result files have it
- :mod:`.parameters`: Parameters of a benchmark in place of its usual ones
- :mod:`.variants`: A benchmark with a part of its own for each layer that it is on
- :mod:`.builtin`: The benchmarks that are built in, one object each
- :mod:`.bandwidth`: Bandwidth: messages back to back; the clock stops at the acknowledgement of the
  last
- :mod:`.latency`: Latency: half the round trip of equal messages, the same buffers throughout
- :mod:`.memory`: The memory system of a node: what an access takes by where the line is, and what
  CPUs share
- :mod:`.am`: Benchmarks of Active Messages
- :mod:`.am2`: Benchmarks of Active Messages II
- :mod:`.via`: The benchmarks of the Virtual Interface Architecture: programs on VIPL
- :mod:`.one_way`: Benchmarks of layers whose messages go one way: GM, FM, MPL and TCP
- :mod:`.mpi`: Benchmarks of MPI, beside those of the layer below
- :mod:`.rpc`: Benchmarks of RPC
- :mod:`.load`: Benchmarks under load: many nodes send at once, on every layer
- :mod:`.common`: Common parts of benchmarks: programs, evaluations, tables
"""

from typing import Any

from ...layouts.doors import Door
from ..errors import UserError, nearest
from .benchmark import Benchmark, Tell, Uncarried
from .fields import Outcome, figure, setting

__all__ = ["BENCHES", "Benchmark", "Outcome", "Tell", "check", "every",
           "figure", "get", "named", "run", "setting"]

_BUILT_IN = (
    "rtt", "bare", "overhead", "logp", "prtt", "bulk", "pipelined", "exchange", "pairs",
    "one-to-many", "many-to-one", "incast", "alltoall", "nics", "latency", "memory", "bandwidth",
    "buffers", "connections", "vis", "blocking", "gather", "wildcard", "overlap", "collectives",
    "commtest", "cq", "send-cost", "polling")

BENCHES: Door[Benchmark] = Door("benchmark", "nicbed.benches", [
    f"{name} = nicbed.testbench.benches.builtin:{name.upper().replace('-', '_')}"
    for name in _BUILT_IN], Benchmark, home=__name__)


def get(name: str) -> Benchmark:
    """The benchmark called ``name``, or at that path.

    Raises
    ------
    UserError
        There is none.
    """
    if not BENCHES.is_path(name) and name not in BENCHES.names():
        raise UserError(f"no benchmark is called {name}{nearest(name, BENCHES.names())}")
    return BENCHES.get(name)


def every() -> list[tuple[str, Benchmark]]:
    """All benchmarks that can be loaded, by their names."""
    return BENCHES.working()


def named(name: str) -> tuple[str, Benchmark]:
    """The benchmark called ``name``, or at that path, and its name: one of a benchmark from outside
    says where it is from.

    Raises
    ------
    UserError
        There is none.
    """
    found = get(name)
    return (name if BENCHES.is_builtin(name) else BENCHES.resolve(name)), found


def check(name: str, layer: str) -> None:
    """Refuse a benchmark on a layer that cannot carry it.

    Raises
    ------
    UserError
        There is no such benchmark or layer, or it cannot.
    """
    try:
        get(name).check(layer)
    except Uncarried as error:
        there = [one for one, bench in every() if layer in bench.layers]
        raise UserError(f"{error}; with --layer {layer} there are: "
                        f"{', '.join(there) or 'none'}") from None


async def run(lab: Any, name: str, layer: str, parameters: dict[str, Any]) -> dict[str, Any]:
    """Measure and evaluate, in the simulator's process; the outcome is plain JSON-able data. It
    includes the benchmark's checks and the check that nothing was sent again. On nodes with several
    NICs a benchmark is on NIC 0 of each, unless it is on all, or the layer has processes."""
    from ..results.document import plain
    from .common.one_nic import OneNic
    from .common.processes import Processes, as_counted

    module = get(name).module(layer)
    chosen = lab if module.EVERY_NIC else as_counted(lab, layer)
    where: dict[str, Any] = {}
    if isinstance(chosen, OneNic):
        where["nic"] = 0
    elif isinstance(chosen, Processes):
        where["processes"] = chosen.places
    raw = await module.measure(chosen, layer, parameters, lab.progress)
    outcome = module.evaluate(raw, lab.description, parameters)
    return plain({**outcome, **where, "checks": [*outcome["checks"], *lab.account.checks()]})
