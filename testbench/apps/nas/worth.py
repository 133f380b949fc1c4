"""What a cycle of o, of g and of L is worth to a kernel: each is changed alone, and measured.

- o: the library's own paths cost more (``mpi.path_scale``). Measured as the CPU's time in a 4-byte
  ping-pong over MPI, at both ends of a message.
- L: links are longer (``link.latency``). Measured as half the round trip without o.
- g: links are slower (``link.bytes_per_cycle``). Measured for packets of the NIC's MTU, as what
  16 KB more in a ping-pong take, over the packets in 16 KB.

A kernel's time is that of its whole run, or of some iterations and their slope. Its worth is the
kernel's additional cycles over the parameter's; the elasticity says by how many per cent the
kernel's time grows for each per cent by which the parameter does.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from ....host.apps.nas.kernel import Kernel
from ....layouts.description import Description
from ....layouts.trace import TICKS
from ...benches.mpi.pingpong import Plan, measure_plan
from ...benches.mpi.split import split
from ...estimate.compare import check
from ...lab import apply_settings
from ...report.document import number, plain
from ...testbed.measurement import Measurement
from .measurement import evaluate, kernel_of, measure

__all__ = ["PARAMETERS", "changes", "iterations", "measurement", "parameters", "run"]

PARAMETERS = ("o", "g", "L")
PART = 10
"""Of a kernel's iterations that many times fewer are run, but at least LEAST: the slope of few
makes much of what differs between two of them by chance."""
LEAST = 2
LATENCY = 20
LONG, SHORT = 32768, 16384


def parameters(names: Sequence[str], size: str) -> dict[str, Any]:
    """The kernels ``names`` of class ``size``, with arithmetic charged alone."""
    return {"kernels": list(names), "class": size, "compute": "charged"}


def measurement(like: Measurement, names: Sequence[str], size: str) -> Measurement:
    """What the kernels ``names`` of class ``size`` are to show, on the description and the back end
    of ``like``, one of them."""
    chosen = parameters(names, size)
    return replace(like, name="worth", parameters=chosen, function=f"{__name__}:run",
                   arguments={"parameters": chosen}, module=f"{__name__}_report")


def changes(description: Description) -> dict[str, dict[str, Any]]:
    """The knob that changes each parameter, and its changed value."""
    return {"o": {"mpi.path_scale": description.mpi.path_scale + 1},
            "g": {"link.bytes_per_cycle": description.link.bytes_per_cycle * Fraction(4, 5)},
            "L": {"link.latency": description.link.latency + LATENCY}}


def iterations(kernel: Kernel) -> int:
    """How many iterations of ``kernel`` are run; 0: all."""
    return max(LEAST, kernel.iterations // PART) if kernel.iterations > LEAST else 0


async def run(lab: Any, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters and kernels, as the description has them and with each parameter changed."""
    settings = {"": {}, **changes(lab.description)}
    costs: dict[str, dict[str, Fraction]] = {}
    times: dict[str, dict[str, float]] = {name: {} for name in parameters["kernels"]}
    checks = []
    steps = len(settings) * (1 + len(times))
    for index, (changed, knobs) in enumerate(settings.items()):
        what = f"with another {changed}" if changed else "as it is"
        lab.progress(f"o, g and L {what}", index * (1 + len(times)), steps)
        costs[changed] = await _costs(lab, knobs)
        for place, name in enumerate(times):
            kernel = kernel_of(name, parameters, lab.description.fabric.nodes)
            some = iterations(kernel)
            lab.progress(f"{name} {what}", index * (1 + len(times)) + 1 + place, steps)
            found = await measure(_Quiet(lab), kernel, {**parameters, "iterations": some}, knobs)
            outcome = evaluate(found, kernel, {**parameters, "iterations": some}, 1.0)
            checks += [{**one, "check": f"{name} {what}: {one['check']}"}
                       for one in outcome["checks"] if not one["ok"]]
            results = outcome["results"]
            times[name][changed] = results.get("slope", results)["cycles"]
    moved = {one: costs[one][one] - costs[""][one] for one in PARAMETERS}
    checks.append(check("each change raises its parameter", all(by > 0 for by in moved.values()),
                        ", ".join(f"{one} by {float(by):.1f}" for one, by in moved.items())))
    return plain({
        "results": {"costs": {one: number(value) for one, value in costs[""].items()},
                    "kernels": {name: _worth(found, costs[""], moved)
                                for name, found in times.items()}},
        "points": {"costs": {changed: {one: number(value) for one, value in each.items()}
                             for changed, each in costs.items()}, "kernels": times},
        "checks": [*checks, *lab.account.checks()]})


class _Quiet:
    """``lab``, whose progress is the comparison's."""

    def __init__(self, lab: Any) -> None:
        self.description = lab.description
        self.run = lab.run
        self.progress = lambda *_: None


async def _costs(lab: Any, knobs: Mapping[str, Any]) -> dict[str, Fraction]:
    """o, g and L of a message over MPI, in cycles."""
    description = apply_settings(lab.description, knobs)
    runs = {size: await measure_plan(lab, Plan(size, settings=knobs))
            for size in (4, SHORT, LONG)}
    half = {size: Fraction(sum(one["trips"]), 2 * len(one["trips"]) * TICKS)
            for size, one in runs.items()}
    parts, _ = split(runs[4], description, len(runs[4]["trips"]))
    # A round trip has o_s and o_r of rank 0: as much as one message at both ends.
    overhead = sum(parts.values()) - parts["waiting"]
    packets = -(-(LONG - SHORT) // description.nic.mtu)
    return {"o": overhead, "g": (half[LONG] - half[SHORT]) / packets, "L": half[4] - overhead}


def _worth(times: Mapping[str, float], costs: Mapping[str, Fraction],
           moved: Mapping[str, Fraction]) -> dict[str, Any]:
    """A kernel's time, and by parameter what a cycle is worth, and the elasticity."""
    base = times[""]
    found: dict[str, Any] = {"cycles": base}
    for one in PARAMETERS:
        worth = (times[one] - base) / float(moved[one]) if moved[one] > 0 else 0.0
        found[one] = {"worth": worth, "elasticity": worth * float(costs[one]) / base}
    return found
