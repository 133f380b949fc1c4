"""Measurement and evaluation."""

from collections.abc import Hashable, Mapping
from fractions import Fraction
from typing import Any

from .....layouts.description import Description
from .....layouts.trace import TICKS
from ....estimate.compare import check
from ....results.document import cycles, number
from ...benchmark import Benchmark, Tell
from ...common.headline import Headline, Series
from ...fields import Outcome
from . import report
from .exchange import Plan, measure_exchanges, wrong_calls
from .grid import BASE, WITHIN, Cell, cells_of, full_grid, reduced_grid
from .model import dominated, fit, ranked
from .protocols import by_name
from .results import CommtestParameters, CommtestResults, Row

__all__ = ["Commtest"]

Runs = Mapping[str, Mapping[int, Mapping[str, Any]]]


class Commtest(Benchmark):
    """Exchanges of ranks by all protocols."""

    nodes = 4
    Parameters = CommtestParameters
    Results = CommtestResults

    def parameters(self, description: Description) -> CommtestParameters:
        """A part of the grid that takes about two and a half minutes of CPU."""
        return CommtestParameters(reduced_grid(description), False, description.node.cpus)

    def full(self, description: Description) -> CommtestParameters:
        """The whole grid, as far as the nodes' memory has room."""
        return CommtestParameters(full_grid(description), True, description.node.cpus)

    async def measure(self, lab: Any, layer: str, parameters: CommtestParameters, tell: Tell
                      ) -> dict[str, Any]:
        """An exchange from reset for each cell, protocol and number of messages."""
        found: dict[str, Any] = {}
        alike: dict[Hashable, list[tuple[str, Plan]]] = {}
        for cell, counts in cells_of(parameters.cells):
            found[cell.name] = {one.name: dict.fromkeys(counts) for one in cell.protocols}
            for protocol in cell.protocols:
                for count in counts:
                    plan = cell.plan(protocol, count)
                    alike.setdefault(plan.beginning, []).append((cell.name, plan))
        done, total = 0, sum(map(len, alike.values()))
        for steps in alike.values():
            def begins(index: int, steps: list[tuple[str, Plan]] = steps, done: int = done
                       ) -> None:
                name, plan = steps[index]
                tell(f"{name}, {plan.protocol.name}, {plan.messages} messages", done + index,
                     total)

            runs = await measure_exchanges(lab, [plan for _, plan in steps], begins)
            for (name, plan), run in zip(steps, runs, strict=True):
                found[name][plan.protocol.name][plan.messages] = run
            done += len(steps)
        return found

    def evaluate(self, raw: Mapping[str, Runs], description: Description,
                 parameters: CommtestParameters) -> Outcome:
        """The model of each protocol in each cell, the fastest protocols, those that are
        dominated."""
        rows: dict[str, dict[str, Row]] = {}
        fastest: dict[str, Any] = {}
        points: dict[str, Any] = {}
        within = None
        for cell, counts in cells_of(parameters.cells):
            eager = cell.eager(description)
            if cell.placement == WITHIN:
                within = eager
            runs = raw[cell.name]
            times = {name: {count: _slowest(run) for count, run in by_count.items()}
                     for name, by_count in runs.items()}
            rows[cell.name] = {name: _row(one, name, cell, eager) for name, one in times.items()}
            fastest[cell.name] = {str(count): {
                kind: ranked({name: one[count] for name, one in times.items() if name[0] == kind})
                for kind in sorted({name[0] for name in times})} for count in counts}
            points[cell.name] = {name: {str(count): {"slowest": cycles(_slowest(run) * TICKS),
                                                     "span": cycles(_span(run) * TICKS)}
                                        for count, run in by_count.items()}
                                 for name, by_count in runs.items()}
        return Outcome(
            results=CommtestResults(cells=rows, fastest=fastest, dominated=_dominated(
                raw, parameters), eager=BASE.eager(description), eager_within=within),
            points=points, checks=_checks(raw, description, parameters))

    def tables(self, document: Mapping[str, Any]) -> list[Any]:
        """The protocols, their models, and which is fastest where."""
        return report.tables(document, self.results(document), self.parameters_of(document))

    def draw(self, document: Mapping[str, Any], figure: Any) -> None:
        """Swap bandwidth over message size."""
        report.draw(document, self.parameters_of(document), figure)

    def headline(self, document: Mapping[str, Any]) -> list[Headline]:
        """Of the fastest protocol of each kind: latency, and swap bandwidth."""
        return report.headline(document, self.results(document), self.parameters_of(document))

    def series(self, document: Mapping[str, Any]) -> Series:
        """Swap bandwidth of Irecv, Isend, Wait over message size."""
        return report.series(document, self.parameters_of(document))


def _slowest(run: Mapping[str, Any]) -> Fraction:
    """Cycles that the slowest rank took."""
    return Fraction(max(end - begin for begin, end in zip(run["begin"], run["end"], strict=True)),
                    TICKS * run["repeats"])


def _span(run: Mapping[str, Any]) -> Fraction:
    """Cycles from the first rank's begin to the last one's end."""
    return Fraction(max(run["end"]) - min(run["begin"]), TICKS * run["repeats"])


def _row(times: Mapping[int, Fraction], name: str, cell: Cell, eager: int) -> Row:
    """Of an ordered protocol each message has the network for itself: a is two messages, and the
    bandwidth of a swap is that of one way that is idle the other. Of an unordered one both ways are
    busy at once."""
    found = fit(times, cell.bytes, eager)
    ordered = name.startswith("o")
    latency = None if found.a is None else number(found.a / (2 if ordered else 1))
    return Row(a=None if found.a is None else number(found.a), b=number(found.b),
               latency=latency, swap=number(2 / found.b),
               one_way=number((2 if ordered else 1) / found.b), errors=found.errors)


def _dominated(raw: Mapping[str, Runs], parameters: CommtestParameters) -> dict[str, str]:
    """Over all cells that have the protocols: the unordered, the ordered, the preposted ones."""
    found: dict[str, str] = {}
    for preposted in (False, True):
        runs = [raw[cell.name] for cell, _ in cells_of(parameters.cells)
                if cell.preposted == preposted]
        names = list(runs[0]) if runs else []
        for kind in "uo":
            found |= dominated({name: [_slowest(run) for one in runs for run in one[name].values()]
                                for name in names if name.startswith(kind)})
    return found


def _checks(raw: Mapping[str, Runs], description: Description, parameters: CommtestParameters
            ) -> list[dict[str, Any]]:
    rate = description.link.bytes_per_cycle
    unsound, miscalled, fast = [], [], []
    for cell, counts in cells_of(parameters.cells):
        for name, by_count in raw[cell.name].items():
            for count in counts:
                run, what = by_count[count], f"{cell.name}, {name}, {count} messages"
                if not run["sound"]:
                    unsound.append(what)
                if said := wrong_calls(cell.plan(by_name(name), count), run):
                    miscalled.append(f"{what}: {said}")
                if cell.placement != WITHIN and _span(run) * rate < cell.bytes:
                    fast.append(what)
    return [check("all data that come are those that were sent", not unsound,
                  unsound[0] if unsound else "in every run"),
            check("each rank makes the calls of its protocol and no others", not miscalled,
                  miscalled[0] if miscalled else "in every run"),
            check("no exchange is faster than its bytes on the link", not fast,
                  fast[0] if fast else "none is")]
