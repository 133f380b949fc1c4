"""Cycles of a NIC processor for each message, by function and source line, to the cycle.

Cycles are counted by program counter while the processor is awake; counting takes no target time. A
ping-pong of twice as many round trips begins like the shorter one, so their difference is the cost
of the second half: start-up, connections and the first messages, with cold caches, cancel.
"""

from collections.abc import Mapping
from typing import Any

from ..errors import UserError

__all__ = ["SIZE", "TRIPS", "check", "run"]

SIZE = 4
TRIPS = 16
WARM = 2


class _Profiled:
    """A lab whose runs are profiled; the last run is kept."""

    def __init__(self, lab: Any) -> None:
        self._lab = lab
        self.last: Any = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._lab, name)

    async def run(self, *arguments: Any, **options: Any) -> Any:
        self.last = await self._lab.run(*arguments, **options, profile=True)
        return self.last


def check(description: Any, sim: str) -> None:
    """Refuse a description without a processor, or a simulator that does not count.

    Raises
    ------
    UserError
        There is no processor, or the simulator does not count.
    """
    if description.nic.processor == "none":
        raise UserError("nic.processor = none: there is no NIC processor to profile; try --set "
                        "nic.processor=picorv32")
    if sim != "verilator":
        raise UserError(f"--sim {sim}: profile needs verilator; cycles are the same on both")


async def run(lab: Any, layer: str, size: int) -> dict[str, Any]:
    """In the simulator's process: cycles of one round trip of ``size`` bytes on each node, by
    function and by line."""
    from ..benches.latency import trips_of
    from ..results.document import plain

    measure = trips_of(layer)
    profiled = _Profiled(lab)
    counts, trips = [], []
    for step, count in enumerate((TRIPS, 2 * TRIPS)):
        lab.progress(f"{count} round trips", step, 2)
        trips = (await measure(profiled, size, count, WARM))["trips"]
        counts.append(profiled.last.profiles)
    nodes = [_node(before, after, image) for before, after, image in zip(
        *counts, profiled.last.firmware, strict=True) if image is not None]
    half = sum(trips[TRIPS:]) / (2 * TRIPS) / 256
    return plain({"results": {"nodes": nodes, "half": half, "size": size},
                  "checks": lab.account.checks()})


def _node(before: Mapping[int, int], after: Mapping[int, int], image: Any) -> dict[str, Any]:
    spent = {pc: (count - before.get(pc, 0)) / TRIPS for pc, count in after.items()}
    functions: dict[str, float] = {}
    lines: dict[tuple[str, str, str], float] = {}
    for pc, cycles in spent.items():
        found = image.owner(pc)
        name = found.function if found else "?"
        place = (found.file, str(found.number), name) if found else ("?", "", name)
        functions[name] = functions.get(name, 0) + cycles
        lines[place] = lines.get(place, 0) + cycles
    return {"firmware": image.name, "core": image.core, "cycles": sum(spent.values()),
            "functions": [[name, cycles] for name, cycles in _most(functions) if cycles],
            "lines": [[*place, cycles] for place, cycles in _most(lines) if cycles]}


def _most(spent: Mapping[Any, float]) -> list[tuple[Any, float]]:
    """The items of ``spent``, the largest first."""
    return sorted(spent.items(), key=lambda item: item[1], reverse=True)
