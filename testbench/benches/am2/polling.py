"""The cost of a second protocol under one poll: local traffic with shared memory alone and with
both protocols, traffic of the network likewise, over the ways of polling; and how often polls look
at the network as the share of its messages varies."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ....layouts.description import Description
from ...errors import UserError
from ...estimate.compare import check
from ...results.document import cycles
from ...results.tables import amount, percent, table
from ..benchmark import Benchmark, Tell
from ..common.headline import Headline, Series
from ..common.processes import Processes
from ..fields import Outcome, figure, setting
from .polled_traffic import Under, measure_mix, measure_pair

__all__ = ["PairCosts", "PollMix", "Polling", "PollingParameters", "PollingResults"]

LOCAL, NETWORK = "local", "network"
PAIRS = {LOCAL: [(0, 0), (0, 1)], NETWORK: [(0, 0), (1, 0)]}
ALONE = {LOCAL: "shared", NETWORK: "network"}
MIX = [(0, 0), (0, 1), (1, 0)]
LEAST, MOST = 8, 32
"""Polls in which adaptive polling looks at the network once."""
FIGURES = {"rtt": "RTT", "o_s": "o_s", "poll": "its poll", "o_r": "o_r", "g": "g"}


@dataclass(frozen=True)
class PollingParameters:
    """Each traffic by its own protocol alone, then by both."""

    every: Sequence[int] = setting([1, 8, 32], "k of fractional polling")
    trips: int = setting(16, "round trips that count")
    issues: int = setting(64, "requests of a stream")
    messages: int = setting(1024, "messages of a mix that come in shared memory, back to back")
    shares: Sequence[int] = setting([0, 32, 96, 192],
                                    "messages that come by the network meanwhile")
    mixed: Sequence[int] = setting([8], "k of fractional polling of mixes")
    apart: int = setting(500, "cycles that each of the former takes, about", unit="cycles")


@dataclass(frozen=True)
class PairCosts:
    """Requests of one word between two processes."""

    rtt: float = figure("cycles", "a round trip")
    o_s: float = figure("cycles", "a send of the round trips, without its poll")
    poll: float = figure("cycles", "the poll in it")
    o_r: float = figure("cycles", "a request at its receiver, without the reply")
    g: float = figure("cycles", "gap of the stream")


@dataclass(frozen=True)
class PollMix:
    """Polls of a process to which messages of both protocols come."""

    polls: int = figure("", "how many there were")
    network_polls: int = figure("", "how many of them looked at the network")
    apart: float | None = figure("polls", "polls in which one looked at the network")


@dataclass(frozen=True)
class PollingResults:
    """Costs by traffic and way of polling, "alone" without the other protocol."""

    costs: Mapping[str, Mapping[str, PairCosts]] = figure("", "by traffic and way of polling")
    mix: Mapping[str, Mapping[str, PollMix]] = figure(
        "", "by way of polling and messages of the network")


def _ways(every: Sequence[int]) -> dict[str, dict[str, Any]]:
    """Names of the ways of polling, and the knobs of each."""
    return {**{f"1 in {k}": {"am2.poll": "fractional", "am2.poll_every": k} for k in every},
            "adaptive": {"am2.poll": "adaptive"}}


class Polling(Benchmark):
    """The polling of two protocols."""

    every_nic = True
    Parameters = PollingParameters
    Results = PollingResults

    async def measure(self, lab: Any, layer: str, parameters: PollingParameters, tell: Tell
                      ) -> dict[str, Any]:
        """A round trip and a stream for each traffic and way of polling; a run for each mix."""
        description = lab.description
        if description.am2.protocol != "both" or description.node.cpus < 2:
            raise UserError("polling is of processes with both protocols: it needs node.cpus of "
                            "at least 2, and am2.protocol = both")
        ways = _ways(parameters.every)
        pairs: dict[str, dict[str, Any]] = {}
        mixed = _ways(parameters.mixed)
        steps = 2 * (len(ways) + 1) + len(mixed) * len(parameters.shares)
        done = 0
        for traffic, places in PAIRS.items():
            knobs = {"alone": {"am2.protocol": ALONE[traffic]}, **ways}
            for way, given in knobs.items():
                tell(f"{traffic} traffic, {way}", done, steps)
                done += 1
                pairs.setdefault(traffic, {})[way] = await measure_pair(
                    Processes(Under(lab, given), places), layer, parameters.trips,
                    parameters.issues)
        mix: dict[str, dict[int, Any]] = {}
        for way, given in mixed.items():
            for share in parameters.shares:
                tell(f"{parameters.messages} and {share} by the network, {way}", done, steps)
                done += 1
                mix.setdefault(way, {})[share] = await measure_mix(
                    Under(lab, given), MIX, (parameters.messages, share), parameters.apart)
        return {"pairs": pairs, "mix": mix}

    def evaluate(self, raw: Any, description: Description, parameters: PollingParameters
                 ) -> Outcome:
        """Costs, counts, and the checks of these."""
        costs = {traffic: {way: PairCosts(**{name: cycles(run[name]) for name in FIGURES})
                           for way, run in by_way.items()}
                 for traffic, by_way in raw["pairs"].items()}
        mix = {way: {str(share): PollMix(
                    run["polls"], run["network_polls"],
                    run["polls"] / run["network_polls"] if run["network_polls"] else None)
                for share, run in by_share.items()} for way, by_share in raw["mix"].items()}
        lost = [f"{way}, {share}" for way, by_share in raw["mix"].items()
                for share, run in by_share.items()
                if (run["network_messages"], run["messages"]) != (
                    share, parameters.messages + share)]
        often = [(way, share) for way, by_share in raw["mix"].items()
                 for share, run in by_share.items() if not _as_often(way, run)]
        return Outcome(
            results=PollingResults(costs, mix),
            points={way: {str(share): dict(run) for share, run in by_share.items()}
                    for way, by_share in raw["mix"].items()},
            checks=[check("polls found each message once, by its protocol", not lost,
                          ", ".join(lost) or "all"),
                    check("polls look at the network as often as they may", not often,
                          f"{often[0][0]}, {often[0][1]} by the network" if often else "all")])

    def tables(self, document: Mapping[str, Any]) -> list[Any]:
        """Each traffic by ways of polling; polls between two looks at the network by mix."""
        results = self.results(document)
        found = []
        for traffic, by_way in results.costs.items():
            alone = by_way["alone"]
            rows = []
            for way in _ordered(by_way):
                one, row = by_way[way], [way if way != "alone" else f"{ALONE[traffic]} alone"]
                for name in FIGURES:
                    row.append(amount(getattr(one, name)))
                rows.append((*row, percent(one.rtt / alone.rtt - 1), percent(one.g / alone.g - 1)))
            found.append(table(f"Requests between two processes, {traffic} (cycles)",
                               ["polls of the network", *FIGURES.values(), "RTT more", "g more"],
                               rows))
        shares = sorted(next(iter(results.mix.values())), key=int)
        total = document["parameters"]["messages"]
        found.append(table(
            f"Polls for each that looks at the network, by its messages beside {total} others",
            ["polls of the network", *shares],
            [(way, *(amount(results.mix[way][share].apart) for share in shares))
             for way in _ordered(results.mix)]))
        return found

    def draw(self, document: Mapping[str, Any], figure: Any) -> None:
        """Polls for each that looks at the network, over the share of its messages."""
        from ...results.plots import line

        results = self.results(document)
        axes = figure.add_subplot()
        for index, way in enumerate(_ordered(results.mix)):
            points = _points(document, results.mix[way])
            axes.plot([x for x, _ in points], [y for _, y in points], label=way,
                      **line(index, len(results.mix)))
        axes.set_ylim(bottom=0)
        axes.set_xlabel("messages that come by the network (%)")
        axes.set_ylabel("polls for each that looks at the network")
        axes.legend(loc="best")
        axes.set_title("Polls of the network")

    def headline(self, document: Mapping[str, Any]) -> list[Headline]:
        """Cycles that adaptive polling adds to each traffic."""
        return [Headline(f"{FIGURES[name]} more, {traffic}",
                         getattr(by_way["adaptive"], name) - getattr(by_way["alone"], name))
                for traffic, by_way in self.results(document).costs.items()
                for name in ("rtt", "g")]

    def series(self, document: Mapping[str, Any]) -> Series:
        """Adaptive polling over the share of the network's messages."""
        return Series("messages that come by the network (%)",
                      "polls for each that looks at the network",
                      _points(document, self.results(document).mix["adaptive"]))


def _points(document: Mapping[str, Any], by_share: Mapping[str, PollMix]
            ) -> list[tuple[float, float]]:
    """Polls for each that looks at the network, over the percentage of its messages."""
    others = document["parameters"]["messages"]
    return sorted((100 * int(share) / (int(share) + others), one.apart)
                  for share, one in by_share.items() if one.apart is not None)


def _as_often(way: str, run: Mapping[str, int]) -> bool:
    """Whether polls looked at the network once in k times; with adaptive polling once in LEAST to
    MOST times."""
    least, most = (LEAST, MOST) if way == "adaptive" else (int(way.split()[-1]),) * 2
    polls, looked = run["polls"], run["network_polls"]
    return (polls - most) / most <= looked <= (polls + least) / least


def _ordered(ways: Mapping[str, Any]) -> list[str]:
    """The names of ways of polling in order: files have them by letters."""
    return sorted(ways, key=lambda way: (way != "alone", way == "adaptive",
                                         int(way.split()[-1]) if way[0] == "1" else 0))
