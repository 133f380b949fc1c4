"""Round trips past the layer: a program that drives the layer's own way to the NIC, with no window,
no sequence numbers and no handlers, beside Active Messages over the same way. The difference is the
layer's."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ....host.port.node import Node
from ....layouts.description import Description
from ...errors import UserError
from ...estimate.compare import check
from ...results.document import cycles
from ...results.tables import amount, micro, table
from ..benchmark import Benchmark, Tell
from ..common.headline import Headline
from ..common.programs import Stamp, programs, stamp, ticks_between
from ..fields import Outcome, figure, setting
from .logp import TRIPS, measure_trips
from .packets import Packets

__all__ = ["Bare", "BareParameters", "BareResults", "BareTrips"]

FIGURES = ("bare RTT", "RTT, 1 word")
WARM_UP = 8
LAYERS = {"bare": "bare", "am": "Active Messages"}


@dataclass(frozen=True)
class BareParameters:
    """Round trips of one packet each way."""

    trips: int = setting(TRIPS, "round trips that count")


@dataclass(frozen=True)
class BareTrips:
    """Round trips, one way or the other."""

    rtt: float = figure("cycles", "mean")
    min: float = figure("cycles", "least")
    max: float = figure("cycles", "most")


@dataclass(frozen=True)
class BareResults:
    """Round trips without the layer and with it."""

    bare: BareTrips = figure("cycles", "round trips without the layer")
    am: BareTrips = figure("cycles", "round trips of Active Messages")
    layer: float = figure("cycles", "what the layer adds to a round trip")


class Bare(Benchmark):
    """A round trip without the layer, and what the layer adds."""

    Parameters = BareParameters
    Results = BareResults
    FIGURES = FIGURES

    def parameters(self, description: Description) -> BareParameters:
        """Nothing is left to choose.

        Raises
        ------
        UserError
            Faults lose packets, or bring them twice.
        """
        for name in ("drop", "corrupt", "duplicate"):
            if probability := getattr(description.faults, name):
                raise UserError(f"bench bare: needs a fabric that loses nothing and brings nothing "
                                f"twice: faults.{name} = {probability}")
        return BareParameters()

    async def measure(self, lab: Any, layer: str, parameters: BareParameters, tell: Tell
                      ) -> dict[str, Any]:
        """Round trips without the layer, and with it."""
        trips = parameters.trips

        async def requester(node: Node) -> list[tuple[Stamp, Stamp]]:
            packets = Packets(node)
            await packets.open()
            found = []
            for _ in range(WARM_UP + trips):
                start = stamp(node)
                await packets.send(node.address_on(1))
                await packets.receive()
                found.append((start, stamp(node)))
            return found[WARM_UP:]

        async def replier(node: Node) -> None:
            packets = Packets(node)
            await packets.open()
            for _ in range(WARM_UP + trips):
                await packets.receive()
                await packets.send(node.address_on(0))
            await node.port.flush()

        tell("without the layer", 0, 2)
        run = await lab.run(programs(lab, {0: requester, 1: replier}),
                            trace=False)
        tell("with the layer", 1, 2)
        return {"bare": [ticks_between(*trip) for trip in run.results[0]],
                "am": (await measure_trips(lab, layer))["trips"]}

    def evaluate(self, raw: Any, description: Description, parameters: BareParameters) -> Outcome:
        """Both round trips, and the difference."""
        mean = {name: Fraction(sum(trips), len(trips)) for name, trips in raw.items()}
        layer = cycles(mean["am"] - mean["bare"])
        found = {name: BareTrips(cycles(mean[name]), cycles(min(trips)), cycles(max(trips)))
                 for name, trips in raw.items()}
        return Outcome(results=BareResults(**found, layer=layer),
                       points={name: [cycles(trip) for trip in trips]
                               for name, trips in raw.items()},
                       checks=[check("the layer costs time", layer > 0, f"{layer} cycles")])

    def tables(self, document: Mapping[str, Any]) -> list[Any]:
        """A row without the layer, one with it, and the difference."""
        results, clock = self.results(document), document["clock_mhz"]
        rows = []
        for name, title in LAYERS.items():
            one = getattr(results, name)
            rows.append([title, amount(one.rtt), amount(one.min), amount(one.max),
                         micro(one.rtt, clock)])
        rows.append(["the layer, both ways", amount(results.layer), "", "",
                     micro(results.layer, clock)])
        return [table("Round trip of one packet each way (cycles)",
                      ["", "mean", "min", "max", "µs"], rows)]

    def draw(self, document: Mapping[str, Any], figure: Any) -> None:
        """The round trip with the layer, and what of it is the layer's."""
        from ...results.plots import PALETTE

        results, clock = self.results(document), document["clock_mhz"]
        axes = figure.add_subplot()
        axes.barh(0, results.bare.rtt, color="#a9cbe8", height=0.5, label="NIC, network, polls")
        axes.barh(0, results.layer, left=results.bare.rtt, color=PALETTE[0], height=0.5,
                  label="Active Messages")
        axes.set_ylim(-0.8, 0.8)
        axes.set_yticks([])
        axes.set_xlabel("cycles")
        axes.secondary_xaxis("top", functions=(
            lambda value: value / clock, lambda value: value * clock)).set_xlabel("µs")
        axes.legend(loc="lower right")
        axes.set_title("Round trip: the layer and what is below it", pad=12)

    def headline(self, document: Mapping[str, Any]) -> list[Headline]:
        """Both round trips."""
        results = self.results(document)
        return [Headline(name, one.rtt)
                for name, one in zip(FIGURES, (results.bare, results.am), strict=True)]
