"""Runs a kernel, verifies it, and reports where its time went and which messages were sent."""

from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import isfinite
from typing import Any

from ....host.apps.nas.kernel import BY_DATA, Kernel, Messages
from ....host.apps.nas.kernels import get
from ....host.apps.nas.process import Process
from ....host.mpi import Mpi, MpiError
from ....host.port.node import Node
from ....layouts.trace import TICKS
from ...errors import UserError
from ...estimate.compare import check
from ...results.document import cycles, number, plain
from ...truth.spans import spans
from .timing import KINDS, Timed, timed

__all__ = ["evaluate", "kernel_of", "measure", "run"]

BINS = 200
"""Stretches of the time line."""
MANY = 8
"""Lengths of a call's messages beyond which they share a row."""


def kernel_of(name: str, parameters: Mapping[str, Any], nodes: int) -> Kernel:
    """The kernel ``name`` of a class on ``nodes`` processes."""
    return get(name)(parameters["class"], nodes)


async def run(lab: Any, name: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Run kernel ``name`` on all nodes, in the simulator's process; the outcome is plain data."""
    kernel = kernel_of(name, parameters, lab.description.fabric.nodes)
    found = await measure(lab, kernel, parameters)
    outcome = evaluate(found, kernel, parameters, float(lab.description.nic.clock_mhz))
    return plain({**outcome, "checks": [*outcome["checks"], *lab.account.checks()]})


async def measure(lab: Any, kernel: Kernel, parameters: Mapping[str, Any],
                  settings: Mapping[str, Any] | None = None) -> Any:
    """The run. Each node's result is its part of the answer, and what it sent in the timed part.

    Raises
    ------
    UserError
        MPI refuses a call, or a node's memory is full.
    """
    whole = parameters["compute"] == "whole" or kernel.by_data
    clock = float(lab.description.nic.clock_mhz)
    told = [0, parameters["iterations"] or kernel.iterations]

    def tell(done: int, total: int) -> None:
        told[:] = done, total

    def progress(cycle: int) -> None:
        lab.progress(f"{cycle / clock / 1000:,.1f} ms of target", *told)

    async def program(node: Node) -> tuple[Any, Counter[Any]]:
        async with Mpi(node) as mpi:
            process = Process(mpi, whole=whole, most=parameters["iterations"], tell=tell)
            answer = await kernel.run(process)
            return answer, process.sent

    progress(0)
    name = kernel.name.lower()
    try:
        return await lab.run([program] * kernel.procs, settings=settings, progress=progress)
    except MpiError as error:
        raise UserError(f"{name}: {error}", status=1) from None
    except MemoryError:
        raise UserError(f"{name}: a node's memory is full: memory.bytes = "
                        f"{lab.description.memory.bytes}; try --set memory.bytes="
                        f"{2 * lab.description.memory.bytes}", status=1) from None


def evaluate(run: Any, kernel: Kernel, parameters: Mapping[str, Any], clock_mhz: float
             ) -> dict[str, Any]:
    """Results, points and checks of a run."""
    found = timed(spans(run.marks))
    begin = min(one.begin for one in found.values())
    end = max(one.end for one in found.values())
    sent = [counts for _, counts in run.results]
    ends = [max(each) for each in zip(*(one.iterations for one in found.values()), strict=True)]
    done = len(ends)
    verified = _verification(kernel, [answer for answer, _ in run.results],
                             done == kernel.iterations
                             and (parameters["compute"] == "whole" or kernel.by_data))
    seconds = (end - begin) / TICKS / clock_mhz / 1e6
    results: dict[str, Any] = {
        "cycles": cycles(end - begin), "seconds": seconds, "iterations": done,
        "of": kernel.iterations, "verification": verified,
        "processes": [{kind: cycles(one.ticks(kind)) for kind in KINDS}
                      for _, one in sorted(found.items())],
        "messages": _by_call(sent)}
    if done < kernel.iterations:
        first = max(one.first for one in found.values())
        results["slope"] = {**_slope(first, ends, end - begin, kernel.iterations, clock_mhz),
                            "messages": _of_all(kernel, sent, done)}
    checks = [_as_expected(kernel, sent, done), _complete(found)]
    if verified["verdict"] != "NOT PERFORMED":
        checks.insert(0, check("the run verifies", verified["verdict"] == "SUCCESSFUL",
                               verified["detail"]))
    return {
        "results": results,
        "points": {
            "sent": [[{"call": one.call.name, "to": one.rank, "bytes": one.length,
                       "messages": count} for one, count in sorted(counts.items())]
                     for counts in sent],
            "iterations": [cycles(one - begin) for one in ends],
            "timeline": [[[number(share) for share in stretch]
                          for stretch in one.shares(begin, end, BINS)]
                         for _, one in sorted(found.items())]},
        "checks": checks}


def _verification(kernel: Kernel, answers: Sequence[Any], whole: bool) -> dict[str, Any]:
    """What NPB prints, and the figures behind it."""
    if not whole:
        return {"verdict": "NOT PERFORMED", "detail": "the run is not whole", "values": []}
    values = kernel.verify(answers)
    wrong = [value for value in values if not value.ok]
    worst = max(values, key=lambda value: value.error if isfinite(value.error) else float("inf"))
    shown = wrong or [worst]
    return {
        "verdict": "UNSUCCESSFUL" if wrong else "SUCCESSFUL",
        "detail": "; ".join(f"{one.name}: {one.found:.13g}, published {one.wanted:.13g}, error "
                            f"{one.error:.1e}" for one in shown[:4])
                  + (f"; and {len(shown) - 4} more" if len(shown) > 4 else ""),
        "values": [{"name": one.name, "found": one.found if isfinite(one.found) else None,
                    "published": one.wanted, "tolerance": one.tolerance} for one in values]}


def _slope(first: int, ends: Sequence[int], ticks: int, iterations: int, clock_mhz: float
           ) -> dict[str, Any]:
    """The whole run's time, if the iterations that were left out take as long as those from the
    second on; or as the only one. In ticks: ``first``, when the last process began the first one;
    ``ends``, when the last process ended each; ``ticks``, the run."""
    since = [first, *ends] if len(ends) == 1 else ends
    each = Fraction(since[-1] - since[0], len(since) - 1)
    whole = ticks + each * (iterations - len(ends))
    return {"iteration": cycles(each), "cycles": cycles(whole),
            "seconds": float(whole) / TICKS / clock_mhz / 1e6}


def _by_call(sent: Sequence[Counter[Any]]) -> list[dict[str, Any]]:
    """Messages of all processes by call and length; of lengths that are many, least and most."""
    found: Messages = Counter()
    for counts in sent:
        for one, count in counts.items():
            found[one.call.name, one.length] += count
    return _rows(found)


def _of_all(kernel: Kernel, sent: Sequence[Counter[Any]], done: int) -> list[dict[str, Any]]:
    """The same of a whole run, by the kernel's description; of lengths that the data decide, in
    proportion to those that were sent."""
    whole = sum((kernel.messages(rank, kernel.iterations) for rank in range(kernel.procs)),
                Counter())
    by_data = {call for call, length in whole if length == BY_DATA}
    more = Fraction(kernel.iterations, done)
    rows = [row | {key: round(row[key] * more) for key in ("messages", "bytes")}
            for row in _by_call(sent) if row["call"] in by_data]
    rows += _rows(Counter({kind: count for kind, count in whole.items() if kind[1] != BY_DATA}))
    return sorted(rows, key=lambda row: (row["call"], row["least"]))


def _rows(messages: Messages) -> list[dict[str, Any]]:
    """A row for each call and length; for each call, if its lengths are many."""
    by_call: dict[str, list[int]] = {}
    for call, length in sorted(messages):
        by_call.setdefault(call, []).append(length)
    rows = []
    for call, lengths in by_call.items():
        groups = [[length] for length in lengths] if len(lengths) <= MANY else [lengths]
        rows += [{"call": call, "messages": sum(messages[call, one] for one in group),
                  "bytes": sum(one * messages[call, one] for one in group),
                  "least": group[0], "most": group[-1]} for group in groups]
    return rows


def _as_expected(kernel: Kernel, sent: Sequence[Counter[Any]], iterations: int) -> dict[str, Any]:
    """Whether each process sent what the kernel's description says."""
    wrong = []
    for rank, counts in enumerate(sent):
        wanted = +kernel.messages(rank, iterations)
        by_data = {call for call, length in wanted if length == BY_DATA}
        had: Counter[tuple[str, int]] = Counter()
        for one, count in counts.items():
            name = one.call.name
            had[name, BY_DATA if name in by_data else one.length] += count
        if had != wanted:
            off = sorted((had - wanted) + (wanted - had))
            wrong.append(f"rank {rank}: " + ", ".join(
                f"{had[kind]} of {wanted[kind]} by {kind[0]} of "
                f"{'any' if kind[1] == BY_DATA else kind[1]} B" for kind in off[:3]))
    total = sum(sum(counts.values()) for counts in sent)
    return check("messages are those of the algorithm", not wrong,
                 "; ".join(wrong) or f"{total} in the timed part")


def _complete(found: Mapping[int, Timed]) -> dict[str, Any]:
    """Whether computation, communication and waiting are the whole time."""
    gaps = [one.end - one.begin - sum(one.ticks(kind) for kind in KINDS) for one in found.values()]
    return check("computation, communication and waiting are the whole time", not any(gaps),
                 f"{cycles(sum(gaps))} cycles of all processes are none of them")
