"""Runs a program, compares its answer, and splits its time into phases."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from ...host.apps.phases import Phase, Phases
from ...host.port.node import Node
from ...host.splitc import SplitC, SplitCError
from ...layouts.trace import Activity
from ..errors import UserError
from ..estimate.compare import check
from ..results.document import cycles
from ..truth.phases import PhaseTime, phases
from ..truth.spans import spans
from . import get

__all__ = ["evaluate", "measure", "run", "run_sizes"]


async def run(lab: Any, name: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Run program ``name`` on all nodes, in the simulator's process; the outcome is plain data."""
    from ..results.document import plain

    module = get(name).module
    lab.progress(name, 0, 0)
    try:
        found, given = await measure(lab, module, parameters)
    except SplitCError as error:
        raise UserError(f"{name}: {error}", status=1) from None
    outcome = evaluate(module, found, given, parameters, lab.description.fabric.nodes)
    return plain({**outcome, "checks": [*outcome["checks"], *lab.account.checks()]})


async def run_sizes(lab: Any, name: str, several: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Run program ``name`` with each of ``several`` parameters, one after the other. The results
    have a list of each run's; all checks are there."""
    found = [await run(lab, name, one) for one in several]
    return {"results": {"runs": [{"parameters": dict(one), **outcome["results"]}
                                 for one, outcome in zip(several, found, strict=True)]},
            "points": {},
            "checks": [check for outcome in found for check in outcome["checks"]]}


async def measure(lab: Any, module: Any, parameters: Mapping[str, Any]) -> tuple[Any, Any]:
    """The run and the program's data. Each node's result is its part of the answer and its counts
    of messages."""
    nodes = lab.description.fabric.nodes
    given = module.inputs(parameters, nodes)

    async def program(node: Node) -> tuple[Any, dict[str, dict[str, int]]]:
        process = module.Program(node, given, parameters)
        async with SplitC(node, process.procedures) as sc:
            answer = await process.run(sc, Phases(node.port, module.PHASES))
            return answer, sc.statistics.plain()

    return await lab.run([program] * nodes), given


def evaluate(module: Any, run: Any, given: Any, parameters: Mapping[str, Any], nodes: int
             ) -> dict[str, Any]:
    """Results, points and checks of a run."""
    times, limits = phases(spans(run.marks))
    begin = min(first for first, _ in limits.values())
    end = max(last for _, last in limits.values())
    answer, told = module.check([answer for answer, _ in run.results], given, parameters)
    counts = [count for _, count in run.results]
    expected = module.messages(given, parameters, nodes)
    sent = [{kind: one["messages"] for kind, one in mine.items()
             if one["messages"] and kind != "collective"} for mine in counts]
    gaps = [last - first - sum(one.whole for (node, *_), one in times.items() if node == number)
            for number, (first, last) in sorted(limits.items())]
    return {
        "results": {
            "cycles": cycles(end - begin), "answer": told,
            "phases": _by_phase(module.PHASES, times, nodes),
            "processes": [_by_kind(times, node) for node in range(nodes)],
            "messages": _total(counts)},
        "points": {"messages": counts,
                   "limits": [[cycles(first - begin), cycles(last - begin)]
                              for _, (first, last) in sorted(limits.items())]},
        "checks": [
            check("the answer is numpy's", answer, told),
            check("messages are as many as the algorithm sends", sent == expected,
                  f"{sum(map(_sum, sent))} sent, {sum(map(_sum, expected))} expected"),
            check("the phases are the whole time", not any(gaps),
                  f"{cycles(sum(gaps))} cycles of all processes are in none")]}


def _sum(counts: Mapping[str, int]) -> int:
    return sum(counts.values())


def _by_phase(which: Sequence[Phase], times: Mapping[tuple[int, int, int], PhaseTime], nodes: int
              ) -> list[dict[str, Any]]:
    """Each phase's cycles on each node; phases that did not come are left out."""
    found = []
    for number, phase in enumerate(which):
        each = [times.get((node, phase.activity, number), PhaseTime()).whole
                for node in range(nodes)]
        if any(each):
            found.append({"name": phase.name, "kind": "computation" if phase.activity
                          == Activity.COMPUTE else "communication",
                          "cycles": [cycles(one) for one in each]})
    return found


def _by_kind(times: Mapping[tuple[int, int, int], PhaseTime], node: int) -> dict[str, Any]:
    """The cycles of a node by kind of phase, and what of them it waited or spent on messages."""
    found = {}
    for name, activity in (("computation", Activity.COMPUTE),
                           ("communication", Activity.COMMUNICATE)):
        mine = [one for (number, kind, _), one in times.items()
                if number == node and kind == activity]
        found[name] = {"cycles": cycles(sum(one.whole for one in mine)),
                       "messages": cycles(sum(one.messages for one in mine)),
                       "waiting": cycles(sum(one.waiting for one in mine))}
    return found


def _total(counts: Sequence[Mapping[str, Mapping[str, int]]]) -> dict[str, dict[str, int]]:
    """Counts of all processes together."""
    whole: dict[str, Counter[str]] = {}
    for mine in counts:
        for kind, one in mine.items():
            whole.setdefault(kind, Counter()).update(one)
    return {kind: {key: one[key] for key in ("messages", "bytes", "local")}
            for kind, one in sorted(whole.items())}
