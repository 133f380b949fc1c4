"""Common part of the latency benchmarks: half round trips by variant over x, their legs from the
trace, the difference of a variant to the plain one; tables, plot, headline figures.

A run is a dictionary: ``trips`` in ticks and, where it was traced, ``begin`` and ``end`` (ticks),
``marks`` and ``events``.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any

from ....layouts.description import Description
from ....layouts.doors import NicDesign
from ....layouts.trace import TICKS
from ...estimate.compare import check
from ...estimate.one_way import half_trip
from ...results.document import cycles
from ...results.tables import amount, micro, table
from ...truth.breakdown import via_life
from ...truth.messages import mean_half, trips
from ...truth.spans import spans
from ..fields import figure, read
from .bulk_report import size_text
from .headline import Headline, Series

__all__ = ["LEGS", "HalfTrips", "Latencies", "faster_than_light", "ordered"]

LEGS = {"o_s": "o_s: the send call", "flight": "flight, until landed",
        "seen": "until the CPU looks", "o_r": "o_r: the call that finds it",
        "turn": "between the calls, interrupts"}

Runs = Mapping[str, Mapping[int, Mapping[str, Any]]]


def ordered(found: Iterable[str]) -> list[str]:
    """Each x of ``found`` once, as a number and in order; the keys of a result file are sorted as
    text."""
    return sorted(set(found), key=int)


def faster_than_light(runs: Runs, rate: Fraction, size: Callable[[int], int],
                      carrier: str = "link") -> dict[str, Any]:
    """Check that no message was faster than its bytes on the ``carrier``. ``size`` gives the bytes
    at an x; ``rate`` is in bytes a cycle."""
    wrong = [(variant, x) for variant, by_x in runs.items() for x, run in by_x.items()
             if min(run["trips"]) < 2 * TICKS * size(x) / rate]
    return check(f"no message is faster than its bytes on the {carrier}", not wrong,
                 f"{wrong[0][0]} at {wrong[0][1]}" if wrong else "none is")


@dataclass(frozen=True, kw_only=True)
class HalfTrips:
    """Half round trips by variant and x."""

    half: Mapping[str, Mapping[str, float]] = figure(
        "cycles", "half the mean round trip, by variant and by what is on the x axis")
    extra: Mapping[str, Mapping[str, float]] | None = figure(
        "cycles", "what that is beyond the plain variant", optional=True)


@dataclass(frozen=True)
class Latencies:
    """Evaluation of a latency benchmark's runs.

    ``title``: title of table and plot. ``x``: the quantity on the x axis (``sizes``: it is in
    bytes). ``base``: the variant to compare the others with. ``chosen``: the values of ``x`` for
    headlines (default: the least and the most)."""

    title: str
    x: str
    sizes: bool = False
    base: str | None = None
    chosen: tuple[str, ...] = ()

    def text(self, x: int | str) -> str:
        """``x`` in words."""
        return size_text(int(x)) if self.sizes else f"{x}"

    def evaluate(self, runs: Runs, description: Description, *_: Any) -> dict[str, Any]:
        """Half round trips, the truth leg by leg, and the checks."""
        halves = {variant: {x: half_trip(run["trips"]) for x, run in by_x.items()}
                  for variant, by_x in runs.items()}
        truth: dict[str, dict[str, Any]] = {}
        checks, lives = [], {}
        for variant, by_x in runs.items():
            for x, run in by_x.items():
                if not run.get("marks"):
                    continue
                found, said, life = _legs(run, description.design)
                if found is not None:
                    truth.setdefault(variant, {})[str(x)] = found
                    text = self.text(x)
                    lives[text if len(runs) == 1 else f"{variant}, {text}"] = life
                checks.append(check(f"{variant}, {self.text(x)}: half the round trip is the sum of "
                                    "its legs", not said, said or "to the tick"))
        results: dict[str, Any] = {"half": {
            variant: {str(x): cycles(half.mean) for x, half in by_x.items()}
            for variant, by_x in halves.items()}}
        if self.base is not None:
            base = halves[self.base]
            results["extra"] = {
                variant: {str(x): cycles(half.mean - base[x if x in base else min(base)].mean)
                          for x, half in by_x.items()}
                for variant, by_x in halves.items() if variant != self.base}
        return {"results": results, "truth": truth, "checks": checks, "breakdown": lives,
                "points": {variant: {str(x): [cycles(trip) for trip in run["trips"]]
                                     for x, run in by_x.items()} for variant, by_x in runs.items()}}

    def tables(self, document: Mapping[str, Any]) -> list[Any]:
        """Half round trips, one row for each x; then their legs."""
        clock, results = document["clock_mhz"], read(HalfTrips, document["results"])
        half, extra = results.half, results.extra
        every = ordered(x for by_x in half.values() for x in by_x)
        shown: list[Any] = [self._table(self.title + " (cycles)", half, every, clock)]
        if extra:
            shown.append(self._table(f"What that is beyond: {self.base} (cycles)", extra, every,
                                     clock))
        if document["truth"]:
            shown.append(self._legs_table(document["truth"]))
        return shown

    def draw(self, document: Mapping[str, Any], figure: Any) -> None:
        """One line for each variant."""
        from ...results.plots import line, microseconds, octaves, plain_log

        axes = figure.add_subplot()
        half = read(HalfTrips, document["results"]).half
        for index, (variant, by_x) in enumerate(half.items()):
            axes.plot([int(x) for x in by_x], list(by_x.values()), label=variant,
                      **line(index, len(half)))
        across = [int(x) for by_x in half.values() for x in by_x]
        values = [value for by_x in half.values() for value in by_x.values()]
        octaves(axes, min(across), max(max(across), 2), "bytes, n" if self.sizes else self.x,
                sizes=self.sizes)
        if self.sizes:
            plain_log(axes, min(values) / 1.5, max(values) * 1.5)
        else:
            axes.set_ylim(0, max(values) * 1.15)
        axes.set_ylabel("half the round trip (cycles)")
        microseconds(axes, document["clock_mhz"])
        if len(half) > 1:
            axes.legend(loc="best")
        axes.set_title(self.title)

    def headline(self, document: Mapping[str, Any]) -> list[Headline]:
        """Each variant at the least and the most x (or at ``chosen``), and its difference to
        ``base`` there."""
        found = []
        results = read(HalfTrips, document["results"])
        for variant, by_x in results.half.items():
            every = list(by_x)
            names = [x for x in self.chosen if x in by_x] or list(
                dict.fromkeys([every[0], every[-1]]))
            found += [Headline(f"{variant}, {self.text(x)}", by_x[x]) for x in names]
            more = (results.extra or {}).get(variant)
            if more:
                found += [Headline(f"  − {self.base}", more[x]) for x in names[:1]]
        return found

    def series(self, document: Mapping[str, Any], variant: str | None = None) -> Series:
        """Half the round trip over x, of ``variant`` (default: the last)."""
        half = read(HalfTrips, document["results"]).half
        name = variant or list(half)[-1]
        return Series(self.x, f"half the round trip, {name} (cycles)",
                      [(int(x), value) for x, value in half[name].items()], sizes=self.sizes,
                      log=self.sizes)

    def _table(self, title: str, found: Mapping[str, Mapping[str, float]], every: Sequence[str],
               clock: float) -> Any:
        """One column for each variant, with microseconds beside it if there are few columns."""
        columns, rows = [self.x], []
        wide = len(found) <= 3
        for variant in found:
            columns += [variant, "µs"] if wide else [variant]
        for x in every:
            row = [self.text(x)]
            for by_x in found.values():
                row += [amount(by_x.get(x)), micro(by_x.get(x), clock)] if wide else [
                    amount(by_x.get(x))]
            rows.append(row)
        return table(title, columns, rows)

    def _legs_table(self, truth: Mapping[str, Any]) -> Any:
        if len(truth) == 1:
            [(_, by_x)] = truth.items()
            every = ordered(by_x)
            chosen = every[::max(1, -(-len(every) // 5))]
            columns = {self.text(x): by_x[x] for x in chosen}
            where = ""
        else:
            columns = {variant: by_x[ordered(by_x)[0]] for variant, by_x in truth.items()}
            where = f" at {self.text(ordered(next(iter(truth.values())))[0])}"
        rows = [(title, *(amount(one["legs"][leg]) for one in columns.values()))
                for leg, title in LEGS.items()]
        rows.append(("sum", *(amount(one["half"]) for one in columns.values())))
        return table(f"The truth: half a round trip leg by leg{where} (cycles)", ["leg", *columns],
                     rows)


def _legs(run: Mapping[str, Any], design: NicDesign
          ) -> tuple[dict[str, Any] | None, str, list[Any]]:
    """The legs of a run, errors in them, and the mean life of its messages by stage."""
    pairs = trips(spans(run["marks"]), run["events"], run["begin"], run["end"], design,
                  run.get("stops"))
    if not pairs:
        return None, "the trace holds no round trip", []
    half = mean_half(pairs)
    found = {"half": cycles(half.total),
             "legs": {name: cycles(value) for name, value in asdict(half).items()}}
    life = via_life(pairs, run["events"], design)
    if len(pairs) != len(run["trips"]):
        return found, f"{len(pairs)} traced, {len(run['trips'])} measured", life
    wrong = [(pair.total, trip) for pair, trip in zip(pairs, run["trips"], strict=True)
             if pair.total != trip]
    if wrong:
        return found, (f"{len(wrong)} of {len(pairs)} differ, the first: {cycles(wrong[0][1])} "
                       f"measured, {cycles(wrong[0][0])} traced"), life
    return found, "", life
