"""Measurement and evaluation."""

from collections.abc import Hashable, Mapping
from fractions import Fraction
from typing import Any

from .....layouts.description import Description
from .....layouts.trace import TICKS
from ....estimate.compare import check
from ....results.document import cycles, number
from .exchange import Plan, measure_exchanges, wrong_calls
from .grid import BASE, WITHIN, Cell, cells_of, full_grid, reduced_grid
from .model import dominated, fit, ranked
from .protocols import by_name
from .report import draw, headline, series, tables

__all__ = ["draw", "evaluate", "full", "headline", "measure", "parameters", "series", "tables"]

Runs = Mapping[str, Mapping[int, Mapping[str, Any]]]


def parameters(description: Description) -> dict[str, Any]:
    """A part of the grid that takes about two and a half minutes of CPU."""
    return {"cells": reduced_grid(description), "whole": False,
            "cpus": description.node.cpus}


def full(description: Description) -> dict[str, Any]:
    """The whole grid, as far as the nodes' memory has room."""
    return {**parameters(description), "cells": full_grid(description), "whole": True}


async def measure(lab: Any, layer: str, parameters: Mapping[str, Any], tell: Any) -> dict[str, Any]:
    """An exchange from reset for each cell, protocol and number of messages."""
    found: dict[str, Any] = {}
    alike: dict[Hashable, list[tuple[str, Plan]]] = {}
    for cell, counts in cells_of(parameters):
        found[cell.name] = {one.name: dict.fromkeys(counts) for one in cell.protocols}
        for protocol in cell.protocols:
            for count in counts:
                plan = cell.plan(protocol, count)
                alike.setdefault(plan.beginning, []).append((cell.name, plan))
    done, total = 0, sum(map(len, alike.values()))
    for steps in alike.values():
        def begins(index: int, steps: list[tuple[str, Plan]] = steps, done: int = done) -> None:
            name, plan = steps[index]
            tell(f"{name}, {plan.protocol.name}, {plan.messages} messages", done + index, total)

        runs = await measure_exchanges(lab, [plan for _, plan in steps], begins)
        for (name, plan), run in zip(steps, runs, strict=True):
            found[name][plan.protocol.name][plan.messages] = run
        done += len(steps)
    return found


def slowest(run: Mapping[str, Any]) -> Fraction:
    """Cycles that the slowest rank took."""
    return Fraction(max(end - begin for begin, end in zip(run["begin"], run["end"], strict=True)),
                    TICKS * run["repeats"])


def span(run: Mapping[str, Any]) -> Fraction:
    """Cycles from the first rank's begin to the last one's end."""
    return Fraction(max(run["end"]) - min(run["begin"]), TICKS * run["repeats"])


def evaluate(raw: Mapping[str, Runs], description: Description, parameters: Mapping[str, Any]
             ) -> dict[str, Any]:
    """The model of each protocol in each cell, the fastest protocols, those that are dominated."""
    results: dict[str, Any] = {"cells": {}, "fastest": {}, "dominated": {},
                               "eager": BASE.eager(description)}
    points: dict[str, Any] = {}
    for cell, counts in cells_of(parameters):
        if cell.placement == WITHIN:
            results["eager_within"] = cell.eager(description)
        runs = raw[cell.name]
        times = {name: {count: slowest(run) for count, run in by_count.items()}
                 for name, by_count in runs.items()}
        results["cells"][cell.name] = {name: _row(one, name, cell, cell.eager(description))
                                       for name, one in times.items()}
        results["fastest"][cell.name] = {str(count): {
            kind: ranked({name: one[count] for name, one in times.items() if name[0] == kind})
            for kind in sorted({name[0] for name in times})} for count in counts}
        points[cell.name] = {name: {str(count): {"slowest": cycles(slowest(run) * TICKS),
                                                 "span": cycles(span(run) * TICKS)}
                                    for count, run in by_count.items()}
                             for name, by_count in runs.items()}
    results["dominated"] = _dominated(raw, parameters)
    return {"results": results, "truth": {}, "points": points,
            "checks": _checks(raw, description, parameters)}


def _row(times: Mapping[int, Fraction], name: str, cell: Cell, eager: int) -> dict[str, Any]:
    """Of an ordered protocol each message has the network for itself: a is two messages, and the
    bandwidth of a swap is that of one way that is idle the other. Of an unordered one both ways are
    busy at once."""
    found = fit(times, cell.bytes, eager)
    ordered = name.startswith("o")
    latency = None if found.a is None else number(found.a / (2 if ordered else 1))
    return {"a": None if found.a is None else number(found.a), "b": number(found.b),
            "latency": latency, "swap": number(2 / found.b),
            "one_way": number((2 if ordered else 1) / found.b),
            "errors": {which: error._asdict() for which, error in found.errors.items()}}


def _dominated(raw: Mapping[str, Runs], parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Over all cells that have the protocols: the unordered, the ordered, the preposted ones."""
    found: dict[str, str] = {}
    for preposted in (False, True):
        runs = [raw[cell.name] for cell, _ in cells_of(parameters) if cell.preposted == preposted]
        names = list(runs[0]) if runs else []
        for kind in "uo":
            found |= dominated({name: [slowest(run) for one in runs for run in one[name].values()]
                                for name in names if name.startswith(kind)})
    return found


def _checks(raw: Mapping[str, Runs], description: Description, parameters: Mapping[str, Any]
            ) -> list[dict[str, Any]]:
    rate = description.link.bytes_per_cycle
    unsound, miscalled, fast = [], [], []
    for cell, counts in cells_of(parameters):
        for name, by_count in raw[cell.name].items():
            for count in counts:
                run, what = by_count[count], f"{cell.name}, {name}, {count} messages"
                if not run["sound"]:
                    unsound.append(what)
                if said := wrong_calls(cell.plan(by_name(name), count), run):
                    miscalled.append(f"{what}: {said}")
                if cell.placement != WITHIN and span(run) * rate < cell.bytes:
                    fast.append(what)
    return [check("all data that come are those that were sent", not unsound,
                  unsound[0] if unsound else "in every run"),
            check("each rank makes the calls of its protocol and no others", not miscalled,
                  miscalled[0] if miscalled else "in every run"),
            check("no exchange is faster than its bytes on the link", not fast,
                  fast[0] if fast else "none is")]
