"""Measures one description: figures, work of a round trip, a fingerprint of its runs.

The benchmarks are ``logp`` with few computation times and ``bandwidth`` with two sizes: what they
leave out gives the same figures within a hundredth, and takes several times as long.
"""

import hashlib
from collections.abc import Mapping
from typing import Any

from ...layouts.description import Description
from ..benches import BENCHES
from ..benches import run as run_bench
from ..testbed.measurement import Measurement
from ..why.round_trip import in_simulator, traced

__all__ = ["BANDWIDTH", "FIGURES", "NAME", "SIZE", "measurement", "run"]

NAME = "whatif"
FIGURES = ("o_s", "o_r", "g", "L", "RTT")
"""Figures in cycles."""
BANDWIDTH = "bandwidth"
"""And one in bytes a cycle."""
SIZE = 4096
"""Bytes of a message of the bandwidth."""
_LEAST = 64


def measurement(description: Description, layer: str) -> Measurement:
    """Returns the measurements of ``description``, which is one for ``layer``."""
    logp = BENCHES.get("logp").module(layer)
    short = {**logp.parameters(description), **getattr(logp, "SHORT", {})}
    bulk = {**BENCHES.get(BANDWIDTH).module(layer).parameters(description), "sizes": [_LEAST, SIZE]}
    parameters = {"logp": short, BANDWIDTH: bulk}
    return Measurement(NAME, layer, "verilator", description, parameters, f"{__name__}:run",
                       {"layer": layer, "parameters": parameters}, __name__)


async def run(lab: Any, layer: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Measure, in the simulator's process."""
    watched = _Watched(lab)
    outcomes = {name: await run_bench(watched, name, layer, dict(parameters[name]))
                for name in ("logp", BANDWIDTH)}
    trip = await in_simulator(watched, layer) if traced(layer) else {"cpus": (), "work": ()}
    found, bulk = (BENCHES.get(name).module(layer).bench.results(outcomes[name])
                   for name in ("logp", BANDWIDTH))
    return {
        "results": {**{name: getattr(found, name) for name in FIGURES[:-1]}, "RTT": found.rtt,
                    BANDWIDTH: bulk.bandwidth[str(SIZE)], "bound": found.bound.block},
        "truth": {"cpus": [str(cycles) for cycles in trip["cpus"]],
                  "work": [{item: [str(count), str(price)]
                            for item, (count, price) in one.items()} for one in trip["work"]]},
        "points": {"fingerprint": watched.digest.hexdigest()},
        "checks": [one for name in outcomes for one in outcomes[name]["checks"]],
    }


class _Watched:
    """A lab that takes the hash of all marks and events of its runs."""

    def __init__(self, lab: Any) -> None:
        self._lab = lab
        self.digest = hashlib.sha256()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._lab, name)

    async def run(self, programs: Any, **more: Any) -> Any:
        done = await self._lab.run(programs, **more)
        self.digest.update(repr((done.cycles, done.marks, done.events)).encode())
        return done
