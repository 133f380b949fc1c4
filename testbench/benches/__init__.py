"""The microbenchmarks, one module each.

A benchmark's module has ``LAYERS``; ``parameters(description)``, its plain parameters;
``async measure(lab, layer, parameters, tell)``, which runs host programs on a lab and returns plain
data; ``evaluate(raw, description, parameters)``, a pure function from that data to results, truth,
points and checks; ``tables(document)`` and, where there is a plot, ``draw(document, figure)``.
"""

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from ..errors import UserError, nearest

__all__ = ["BENCHES", "LAYERS", "Bench", "get", "run"]

LAYERS = {"am": "Generic Active Messages 1.1 over the rings of the NIC"}

Tell = Callable[[str, int, int], None]
"""Told what is being done, how much of it is done, and of how much."""


@dataclass(frozen=True)
class Bench:
    """A benchmark: its module's name, the nodes it needs (and takes by default), what it tells."""

    name: str
    nodes: int
    title: str

    @property
    def module(self) -> ModuleType:
        """The module, imported when first needed."""
        return importlib.import_module(f"{__name__}.{self.name.replace('-', '_')}")


BENCHES = {bench.name: bench for bench in [
    Bench("rtt", 2, "round trip of a request and its reply, 1 to 4 words, leg by leg"),
    Bench("overhead", 2, "cost of requests and replies, of an empty poll, of a poll that finds"),
    Bench("logp", 2, "the LogP signature: o_s, o_r, g, L, RTT beside the truth"),
    Bench("prtt", 2, "o_s, g and G the LogGP way, as a cross-check"),
    Bench("bulk", 2, "store, store_async and get over sizes: bandwidth, r_inf, n_1/2, g(n), G"),
    Bench("pipelined", 2, "asynchronous stores of a fixed total, cut into requests"),
    Bench("exchange", 3, "both nodes send at once, started by a third"),
    Bench("pairs", 4, "all pairs at once: is each as fast as one pair alone?"),
    Bench("one-to-many", 4, "one node sends to many: the gap by number of receivers"),
    Bench("many-to-one", 4, "many nodes send to one: the gap by number of senders"),
]}


def get(name: str) -> Bench:
    """The benchmark called ``name``.

    Raises
    ------
    UserError
        There is none.
    """
    if name not in BENCHES:
        raise UserError(f"no benchmark is called {name}{nearest(name, list(BENCHES))}")
    return BENCHES[name]


async def run(lab: Any, name: str, layer: str, parameters: dict[str, Any]) -> dict[str, Any]:
    """Measure and evaluate, in the simulator's process; the outcome is plain JSON-able data."""
    from ..report.document import plain

    module = get(name).module
    raw = await module.measure(lab, layer, parameters, lab.progress)
    return plain(module.evaluate(raw, lab.description, parameters))
