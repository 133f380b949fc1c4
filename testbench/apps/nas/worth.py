"""Measures what a cycle of o, of g and of L is worth to a kernel: each is changed alone.

What is changed is in :mod:`.changes`. How far o, g and L moved is measured, each time, in
ping-pongs over MPI, as a knob is no parameter:

- o: the CPU's time for a 4-byte message, at both ends.
- L: half the round trip without o.
- g: for packets of the NIC's MTU, what 16 KB more in a ping-pong take, over the packets in 16 KB.

A kernel's time is that of its whole run, or of some iterations and their slope. Its worth is the
kernel's additional cycles over the parameter's, by the larger of two changes; by the smaller one it
is a little different, and that is the spread. The elasticity says by how many per cent the kernel's
time grows for each per cent by which the parameter does.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from ....host.apps.nas.kernel import Kernel
from ....host.apps.nas.kernels import get
from ....layouts.description import Description
from ....layouts.trace import TICKS
from ...benches.mpi.pingpong import Plan, measure_plan
from ...benches.mpi.split import split
from ...estimate.compare import check
from ...lab import apply_settings
from ...results.document import build, plain
from ...testbed.measurement import Measurement
from .changes import SIZES, changes
from .extent import TOLD_SECONDS, calibrated, seconds, told, within
from .measurement import evaluate, kernel_of, measure

__all__ = ["COSTS", "iterations", "measurements", "run", "summary", "together"]

COSTS = "o, g and L"
"""The part that is no kernel."""

PART = 10
MOST_SECONDS = 1.45
"""A kernel's iterations are a tenth of all, or as many as take so long, whichever is more: the
slope of few makes much of what differs between two of them by chance."""
LONG, SHORT = 32768, 16384
LINE = Fraction(1, 4)
"""How far the worths by two changes may be apart, as a share, or the slope is not sound."""
SMALL = 1e-3
"""Of a kernel's time: a difference that does not matter."""


def measurements(like: Measurement, names: Sequence[str], size: str) -> dict[str, Measurement]:
    """The parts of what the kernels ``names`` of class ``size`` are to show, on the description and
    the back end of ``like``, one of them: o, g and L, and each kernel, each of which is kept for
    itself. What all take together is told with the first."""
    def part(name: str, outlook: str) -> Measurement:
        chosen = _parameters({"part": name}, size)
        return replace(like, name="worth", parameters=chosen, function=f"{__name__}:run",
                       arguments={"parameters": chosen}, module=f"{__name__}_report",
                       outlook=outlook)

    return {COSTS: part(COSTS, _outlook(like, names, size, "all kernels, each ")),
            **{name: part(name, _outlook(like, [name], size)) for name in names}}


def together(like: Measurement, names: Sequence[str], size: str,
             documents: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """The document of all parts, of those of each (:func:`measurements`)."""
    description = like.description
    settings = _settings(description)

    def found(part: str) -> dict[Any, Any]:
        measured = documents[part]["points"]["measured"]
        return {changed: measured[_name(changed)] for changed in ((), *settings)}

    costs = {changed: {one: Fraction(value) for one, value in each.items()}
             for changed, each in found(COSTS).items()}
    times = {name: {changed: float(Fraction(value)) for changed, value in found(name).items()}
             for name in names}
    outcome = summary(settings, costs, times)
    outcome["checks"] = [*(one for part in (COSTS, *names) for one in documents[part]["checks"]),
                         *outcome["checks"]]
    return build("worth", like.layer, like.sim, description,
                 _parameters({"kernels": list(names)}, size), outcome)


def _parameters(of: Mapping[str, Any], size: str) -> dict[str, Any]:
    """Of class ``size``, with arithmetic charged alone."""
    return {**of, "class": size, "compute": "charged"}


def _settings(description: Description) -> dict[tuple[str, int], dict[str, Any]]:
    """Each change, of a parameter and a size, and the knobs that make it."""
    return {(name, size): knobs for size in SIZES
            for name, knobs in changes(description, size).items()}


def _outlook(like: Measurement, names: Sequence[str], size: str, what: str = "") -> str:
    """How long the runs of the kernels ``names`` take, with nothing changed and with each change;
    "" if that is little, or not known."""
    description = like.description
    if not calibrated(description, like.sim, "charged"):
        return ""
    runs = 1 + len(SIZES) * len(changes(description))
    kernels = [get(name)(size, description.fabric.nodes) for name in names]
    found = runs * sum(seconds(kernel, iterations(kernel)) for kernel in kernels)
    return f"{what}{runs} runs: {told(found)}" if found >= TOLD_SECONDS else ""


def iterations(kernel: Kernel) -> int:
    """Returns how many iterations of ``kernel`` are run; 0: all."""
    found = within(kernel, MOST_SECONDS)
    return found and max(found, kernel.iterations // PART)


async def run(lab: Any, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """A part, as the description has it and with each change: o, g and L, or a kernel's time. The
    points have exact fractions as text."""
    part = parameters["part"]
    measured: dict[str, Any] = {}
    checks = []
    runs = {(): {}, **_settings(lab.description)}
    for index, (changed, knobs) in enumerate(runs.items()):
        what = f"{part} with another {changed[0]}, {changed[1]}" if changed else f"{part} as it is"
        lab.progress(what, index, len(runs))
        if part == COSTS:
            costs = await _costs(lab, knobs)
            measured[_name(changed)] = {one: str(value) for one, value in costs.items()}
            continue
        kernel = kernel_of(part, parameters, lab.description.fabric.nodes)
        some = {**parameters, "iterations": iterations(kernel)}
        outcome = evaluate(await measure(_Quiet(lab), kernel, some, knobs), kernel, some, 1.0)
        checks += [{**one, "check": f"{what}: {one['check']}"}
                   for one in outcome["checks"] if not one["ok"]]
        results = outcome["results"]
        measured[_name(changed)] = str(Fraction(results.get("slope", results)["cycles"]))
    checks += [{**one, "check": f"{part}: {one['check']}"} for one in lab.account.checks()]
    return {"points": {"measured": measured}, "checks": checks}


def summary(settings: Mapping[Any, Mapping[str, Any]], costs: Mapping[Any, Mapping[str, Fraction]],
            times: Mapping[str, Mapping[Any, float]]) -> dict[str, Any]:
    """The outcome, of what was measured: with nothing changed, ``()``, and with each of
    ``settings``, a parameter and the size of its change."""
    base, names = costs[()], list(dict.fromkeys(name for name, _ in settings))
    moved = {name: {one: costs[name, SIZES[-1]][one] - base[one] for one in base}
             for name in names}
    worths = {name: _worth(found, costs, names) for name, found in times.items()}
    return plain({
        "results": {
            "costs": base,
            "changes": {name: {"knobs": {knob: str(value) for knob, value
                                         in settings[name, SIZES[-1]].items()},
                               "moved": moved[name]} for name in names},
            "kernels": worths},
        "points": {
            "costs": {_name(changed): each for changed, each in costs.items()},
            "kernels": {kernel: {_name(changed): time for changed, time in found.items()}
                        for kernel, found in times.items()}},
        "checks": [_raised(base, costs), _sound(worths, {name: moved[name][name]
                                                         for name in names})]})


def _name(changed: Any) -> str:
    return " ".join(map(str, changed)) or "base"


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


def _worth(times: Mapping[Any, float], costs: Mapping[Any, Mapping[str, Fraction]],
           names: Sequence[str]) -> dict[str, Any]:
    """A kernel's time, and by parameter what a cycle is worth, the spread of that, and the
    elasticity, which what is not above 0 has none of."""
    base = times[()]
    found: dict[str, Any] = {"cycles": base}
    for one in names:
        slopes = []
        for size in SIZES:
            moved = costs[one, size][one] - costs[()][one]
            slopes.append((times[one, size] - base) / float(moved) if moved > 0 else 0.0)
        share = float(costs[()][one]) / base
        found[one] = {"worth": slopes[-1], "spread": max(slopes) - min(slopes),
                      "elasticity": slopes[-1] * share if share > 0 else None}
    return found


def _raised(base: Mapping[str, Fraction], costs: Mapping[Any, Mapping[str, Fraction]]
            ) -> dict[str, Any]:
    moved = {changed: each[changed[0]] - base[changed[0]]
             for changed, each in costs.items() if changed}
    return check("each change raises its parameter", all(by > 0 for by in moved.values()),
                 ", ".join(f"{_name(one)} by {float(by):.1f}" for one, by in moved.items()))


def _sound(worths: Mapping[str, Mapping[str, Any]], moved: Mapping[str, Fraction]
           ) -> dict[str, Any]:
    """Whether a change of twice the size has twice the effect, unless both have next to none."""
    bad = [f"{kernel}: a cycle of {name} {one['worth']:.0f}, or {one['spread']:.0f} beside it"
           for kernel, found in worths.items() for name, one in found.items()
           if name != "cycles" and one["spread"] > LINE * abs(one["worth"])
           and one["spread"] * float(moved[name]) > SMALL * found["cycles"]]
    return check("the effects of both changes lie on a line", not bad, "; ".join(bad))
