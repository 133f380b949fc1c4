"""Round trips of a request and its reply, 1 to 4 words: measured, and leg by leg from the trace."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any

from ....layouts.description import Description
from ...estimate.compare import check
from ...results.document import cycles
from ...results.tables import amount, micro, table
from ...truth.exchange import mean_legs
from ...wording import counted
from ..benchmark import Benchmark, Tell
from ..common.headline import Headline, Series
from ..common.logp_report import LEGS
from ..common.logp_truth import life_of, traced_trips
from ..fields import Outcome, figure, setting
from .logp import measure_trips

__all__ = ["RttParameters", "RttResults", "Rtt", "Trip"]


@dataclass(frozen=True)
class RttParameters:
    """1 to 4 words, to node 1."""

    words: Sequence[int] = setting([1, 2, 3, 4], "words of a request and its reply", unit="words")
    peer: int = setting(1, "node of the replies", shown=False)


@dataclass(frozen=True)
class Trip:
    """Round trips of one number of words."""

    rtt: float = figure("cycles", "mean")
    min: float = figure("cycles", "least")
    median: float = figure("cycles", "median")
    max: float = figure("cycles", "most")
    half: float = figure("cycles", "half the mean")


@dataclass(frozen=True)
class RttResults:
    """Round trips."""

    rtt: float = figure("cycles", "mean round trip with the fewest words")
    words: Mapping[str, Trip] = figure("cycles", "round trips by number of words")


class Rtt(Benchmark):
    """Round trips of requests and their replies, leg by leg."""

    Parameters = RttParameters
    Results = RttResults

    async def measure(self, lab: Any, layer: str, parameters: RttParameters, tell: Tell
                      ) -> dict[int, Any]:
        """Sixteen round trips for each number of words."""
        found = {}
        for index, words in enumerate(parameters.words):
            tell(counted(words, "word"), index, len(parameters.words))
            found[words] = await measure_trips(lab, layer, words, peer=parameters.peer)
        return found

    def evaluate(self, raw: Any, description: Description, parameters: RttParameters) -> Outcome:
        """Round trips, their legs, and the check that the legs add up."""
        results, truth, points, checks, breakdown = {}, {}, {}, [], {}
        for words, run in raw.items():
            trips = sorted(run["trips"])
            pairs = traced_trips(run, description.design)
            legs = mean_legs(pairs)
            results[str(words)] = found = Trip(
                rtt=cycles(Fraction(sum(trips), len(trips))), min=cycles(trips[0]),
                median=cycles(trips[len(trips) // 2]), max=cycles(trips[-1]),
                half=cycles(Fraction(sum(trips), 2 * len(trips))))
            truth[str(words)] = {
                "rtt": cycles(legs.total),
                "legs": {name: cycles(value) for name, value in asdict(legs).items()}}
            points[str(words)] = [cycles(trip) for trip in run["trips"]]
            same = [pair.legs.total for pair in pairs] == list(run["trips"])
            checks.append(check(f"RTT of {words} words is the sum of its legs", same,
                                "to the tick" if same else f"{found.rtt} measured, "
                                f"{cycles(legs.total)} traced"))
            for title, stages in life_of(run, pairs, description.design).items():
                breakdown[f"{title} of {counted(words, 'word')}"] = stages
        least = str(min(raw))
        return Outcome(results=RttResults(results[least].rtt, results),
                       truth={"rtt": truth[least]["rtt"], "words": truth}, points=points,
                       checks=checks, breakdown=breakdown)

    def tables(self, document: Mapping[str, Any]) -> list[Any]:
        """Round trips by words, one row for each leg."""
        clock = document["clock_mhz"]
        results, truth = self.results(document).words, document["truth"]["words"]
        rows = [(title, *(amount(truth[words]["legs"][leg]) for words in truth))
                for leg, title in LEGS.items()]
        rows.append(("sum", *(amount(truth[words]["rtt"]) for words in truth)))
        rows.append(("measured RTT, mean", *(amount(one.rtt) for one in results.values())))
        rows.append(("  µs", *(micro(one.rtt, clock) for one in results.values())))
        rows.append(("  min", *(amount(one.min) for one in results.values())))
        rows.append(("  max", *(amount(one.max) for one in results.values())))
        return [table("Round trip of a request and its reply (cycles), by words",
                      ["leg", *results], rows)]

    def draw(self, document: Mapping[str, Any], figure: Any) -> None:
        """The legs of the round trip, stacked, one bar for each number of words."""
        from ...results.plots import PALETTE

        axes = figure.add_subplot()
        truth = document["truth"]["words"]
        colours = dict(zip(LEGS, (PALETTE[0], "#a9cbe8", "#dfe9f2", PALETTE[1], PALETTE[4],
                                  "#a9cbe8", "#dfe9f2", PALETTE[2]), strict=True))
        for place, one in enumerate(truth.values()):
            at = 0.0
            for leg, title in LEGS.items():
                size = one["legs"][leg]
                if size <= 0:
                    at += size
                    continue
                axes.barh(place, size, left=at, height=0.62, color=colours[leg], edgecolor="white",
                          linewidth=0.8)
                if size > one["rtt"] / 25:
                    light = leg.startswith(("flight", "seen"))
                    axes.text(at + size / 2, place, f"{title.strip()}\n{amount(size, 1)}",
                              ha="center", va="center", fontsize=7.2,
                              color="#2b2b2b" if light else "white")
                at += size
            axes.text(at, place, f"  {amount(one['rtt'], 1)}", va="center", fontsize=9,
                      fontweight="bold")
        axes.set_yticks(range(len(truth)), [counted(int(words), "word")
                                            for words in truth])
        axes.invert_yaxis()
        axes.grid(axis="y", visible=False)
        axes.set_xlabel("cycles")
        most = max(one["rtt"] for one in truth.values())
        axes.set_xlim(0, most * 1.1)
        clock = document["clock_mhz"]
        second = axes.secondary_xaxis("top", functions=(
            lambda value: value / clock, lambda value: value * clock))
        second.set_xlabel("µs")
        axes.set_title("Round trip, leg by leg", pad=12)

    def headline(self, document: Mapping[str, Any]) -> list[Headline]:
        """The round trip for each number of words."""
        return [Headline(f"RTT, {counted(int(words), 'word')}", one.rtt)
                for words, one in self.results(document).words.items()]

    def series(self, document: Mapping[str, Any]) -> Series:
        """The round trip over words."""
        return Series("words", "round trip (cycles)",
                      [(int(words), one.rtt)
                       for words, one in self.results(document).words.items()])
