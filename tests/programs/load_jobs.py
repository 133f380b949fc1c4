"""Benchmarks under load, as a job for a lab: many rows in one simulator."""

from typing import Any

from nicbed.host.endpoint import Exchange
from nicbed.layouts.trace import TICKS
from nicbed.testbench import benches
from nicbed.testbench.benches.load.cells import together
from nicbed.testbench.benches.load.traffic import measure_traffic
from nicbed.testbench.lab import Lab, apply_settings


class _With:
    """A lab whose runs have ``settings``, and that makes no progress."""

    def __init__(self, lab: Any, settings: dict[str, Any]) -> None:
        self.description = apply_settings(lab.description, settings)
        self.parties = lab.parties
        self._lab, self._settings = lab, settings

    async def run(self, programs: Any, *, settings: Any = None, **options: Any) -> Any:
        return await self._lab.run(programs, settings={**self._settings, **(settings or {})},
                                   **options)


def _leaves(found: Any) -> list[dict[str, Any]]:
    """The figures of all cells of a benchmark's results."""
    if "goodput" in found:
        return [found]
    return [leaf for part in found.values() for leaf in _leaves(part)]


async def run(lab: Lab, *, rows: list[tuple[str, str, dict[str, Any], dict[str, Any]]]
              ) -> list[dict[str, Any]]:
    """Rows of a benchmark's name, a layer, parameters over the benchmark's own, and settings. Of
    each: the checks that failed, goodputs, packets sent again, the least and the most share."""
    made = []
    for name, layer, parameters, settings in rows:
        module = benches.get(name).module(layer)
        with_settings = _With(lab, settings)
        given = {**module.parameters(with_settings.description), **parameters}
        raw = await module.measure(with_settings, layer, given, lambda *_: None)
        outcome = module.evaluate(raw, with_settings.description, given)
        cells = _leaves(outcome["results"][name])
        made.append({"failed": [f"{check['check']}: {check['detail']}"
                                for check in outcome["checks"] if not check["ok"]],
                     "goodput": [cell["goodput"] for cell in cells],
                     "again": sum(cell["again"] for cell in cells),
                     "least": min(cell["least"] for cell in cells),
                     "most": max(cell["most"] for cell in cells)})
    return made


async def streams(lab: Lab, *, rows: list[tuple[str, str, dict[str, Any], dict[str, Any]]]
                  ) -> list[dict[str, Any]]:
    """Rows of many-to-one, as above: the checks that failed, packets sent again, and the cycles of
    the run with the most senders, from the first request to the last."""
    made = []
    for name, layer, parameters, settings in rows:
        module = benches.get(name).module(layer)
        with_settings = _With(lab, settings)
        given = {**module.parameters(with_settings.description), **parameters}
        before = lab.account.found.total()
        raw = await module.measure(with_settings, layer, given, lambda *_: None)
        outcome = module.evaluate(raw, with_settings.description, given)
        runs = raw[max(raw)]["streams"].values()
        begin = min(one["begin"] for one in runs)
        made.append({"failed": [f"{check['check']}: {check['detail']}"
                                for check in outcome["checks"] if not check["ok"]],
                     "again": lab.account.found.total() - before,
                     "cycles": (max(one["begin"] + one["issued"][-1] for one in runs) - begin)
                     / TICKS})
    return made


async def flows(lab: Lab, *, runs: list[tuple[int, int]], clients: int = 1, size: int = 4096,
                count: int = 12) -> list[dict[str, Any]]:
    """``count`` messages on each of so many VIs from each of ``clients`` nodes to node 0, with a
    time-out: cycles to the last arrival, packets sent again, the least share of a client."""
    made = []
    for vis, timeout in runs:
        plan = Exchange(size, count, {client: [0] for client in range(1, clients + 1)}, streams=vis)
        raw = await measure_traffic(lab, "via", plan, settings={"via.retry_timeout": timeout})
        last = max(times[-1] for times in raw["arrived"].values())
        made.append({"cycles": (last - max(raw["begin"].values())) / TICKS, "again": raw["again"],
                     "least": float(together(raw).least)})
    return made
