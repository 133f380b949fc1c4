"""Runs a program, compares its answer, and splits its time into phases."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from ...host.apps.phases import Phase, Phases
from ...host.port.node import Node
from ...host.splitc import SplitC, SplitCError
from ...layouts.doors import LAYERS, Layer
from ...layouts.trace import Activity, Mark
from ..errors import UserError
from ..estimate.compare import check
from ..results.document import cycles
from ..truth.phases import PhaseTime, phases
from ..truth.spans import spans
from . import get

__all__ = ["Told", "evaluate", "measure", "run", "run_sizes"]


class Told(NamedTuple):
    """The result of a process: its part of the answer, its counts of messages by kind, and its
    messages by receiver."""

    answer: Any
    counts: dict[str, dict[str, int]]
    to: Mapping[int, int] = {}


async def run(lab: Any, name: str, parameters: Mapping[str, Any], layer: str | None = None
              ) -> dict[str, Any]:
    """Run program ``name`` over ``layer`` (default: its own), in the simulator's process; the
    outcome is plain data."""
    from ..results.document import plain

    app = get(name)
    module, over = app.module, LAYERS.get(layer or app.layer)
    lab.progress(name, 0, 0)
    try:
        found, given = await measure(lab, module, parameters, over, name)
    except SplitCError as error:
        raise UserError(f"{name}: {error}", status=1) from None
    outcome = evaluate(module, found, given, parameters, over.places(lab.description))
    return plain({**outcome, "checks": [*outcome["checks"], *lab.account.checks()]})


async def run_sizes(lab: Any, name: str, several: Sequence[Mapping[str, Any]],
                    layer: str | None = None) -> dict[str, Any]:
    """Run program ``name`` with each of ``several`` parameters, one after the other, over ``layer``
    (default: its own). The results have a list of each run's; all checks are there."""
    found = [await run(lab, name, one, layer) for one in several]
    return {"results": {"runs": [{"parameters": dict(one), **outcome["results"]}
                                 for one, outcome in zip(several, found, strict=True)]},
            "points": {},
            "checks": [check for outcome in found for check in outcome["checks"]]}


async def measure(lab: Any, module: Any, parameters: Mapping[str, Any], layer: Layer,
                  name: str = "") -> tuple[Any, Any]:
    """The run, over ``layer``, and the program's data. Each process's result is a :class:`Told`,
    without receivers where the program does not say where its messages go; the lab is told of the
    phases of program ``name``."""
    where = layer.places(lab.description)
    given = module.inputs(parameters, len(where))

    async def program(node: Node) -> tuple[Any, ...]:
        process = module.Program(node, given, parameters)
        async with SplitC(node, process.procedures, layer) as sc:
            begins = _telling(lab, module, parameters, name) if name and not sc.MYPROC else _silent
            answer = await process.run(sc, Phases(node.port, module.PHASES, begins))
            counts = sc.statistics.plain()
            if not hasattr(module, "traffic"):
                return answer, counts
            return Told(answer, counts, dict(sc.statistics.to))

    nodes, cpus = range(lab.description.fabric.nodes), range(lab.description.node.cpus)
    if where == [(node, 0) for node in nodes]:
        return await lab.run([program for _ in nodes]), given
    return await lab.run([[program if (node, cpu) in where else None for cpu in cpus]
                          for node in nodes]), given


def _silent(phase: str) -> None:
    """Nobody is told of a phase."""


def _telling(lab: Any, module: Any, parameters: Mapping[str, Any], name: str
             ) -> Callable[[str], None]:
    """Tells of the phases of a process, of which there are as many as the module's ``turns``
    says, if it has that."""
    turns = getattr(module, "turns", None)
    total = turns(parameters) if turns else 0
    done = 0

    def begins(phase: str) -> None:
        nonlocal done
        lab.progress(f"{name}: {phase}", done, total)
        done += 1

    return begins


def _by_process(run: Any, where: Sequence[tuple[int, int]]) -> tuple[list[Told], Iterable[Mark]]:
    """Results and marks of the processes: a mark's node is the process's number."""
    numbers = {place: number for number, place in enumerate(where)}
    found = [run.results[node][cpu] if isinstance(run.results[node], list) else run.results[node]
             for node, cpu in where]
    results = [Told(*one) for one in found]
    if all(place == (number, 0) for place, number in numbers.items()):
        return results, run.marks
    marks = (Mark(ticks, numbers[node, cpu], 0, *rest) for ticks, node, cpu, *rest in run.marks
             if (node, cpu) in numbers)
    return results, marks


def evaluate(module: Any, run: Any, given: Any, parameters: Mapping[str, Any],
             where: Sequence[tuple[int, int]]) -> dict[str, Any]:
    """Results, points and checks of a run whose processes were on the CPUs ``where``."""
    results, marks = _by_process(run, where)
    nodes = len(where)
    times, limits = phases(spans(marks))
    begin = min(first for first, _ in limits.values())
    end = max(last for _, last in limits.values())
    answer, told = module.check([one.answer for one in results], given, parameters)
    counts = [one.counts for one in results]
    traffic, checks = _traffic(module, results, given, parameters, where)
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
            "messages": _total(counts), **traffic},
        "points": {"messages": counts,
                   "limits": [[cycles(first - begin), cycles(last - begin)]
                              for _, (first, last) in sorted(limits.items())]},
        "checks": [
            check("the answer is numpy's" if not traffic else "the answer is right", answer, told),
            check("messages are as many as the algorithm sends", sent == expected,
                  f"{sum(map(_sum, sent))} sent, {sum(map(_sum, expected))} expected"),
            *checks,
            check("the phases are the whole time", not any(gaps),
                  f"{cycles(sum(gaps))} cycles of all processes are in none")]}


def _traffic(module: Any, results: Sequence[Told], given: Any, parameters: Mapping[str, Any],
             where: Sequence[tuple[int, int]]) -> tuple[dict[str, Any], list[Any]]:
    """Messages of each process that left its node and that stayed within, replies and collective
    calls not counted; and the check that they went where the algorithm sends them. Nothing for a
    program that does not say where that is."""
    if not hasattr(module, "traffic"):
        return {}, []
    found = [{"off": sum(count for other, count in one.to.items()
                         if where[other][0] != where[me][0]),
              "within": sum(count for other, count in one.to.items()
                            if where[other][0] == where[me][0])}
             for me, one in enumerate(results)]
    expected = module.traffic(given, parameters, len(where))
    wrong = sum(one.to != other for one, other in zip(results, expected, strict=True))
    return {"traffic": found}, [check("messages go where the algorithm sends them", not wrong,
                                      f"those of {wrong} of {len(where)} processes do not")]


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
