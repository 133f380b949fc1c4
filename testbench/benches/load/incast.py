"""K nodes send to one, on any layer: goodput, shares and packets sent again over K, message sizes
and loss, beside the prediction from the stages' services at K = 1."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from ....host.endpoint import Exchange
from ....layouts.description import Description
from ....layouts.doors import LAYERS, NicDesign
from ....layouts.fabric import graph_of
from ....layouts.trace import TICKS
from ...estimate.compare import check
from ...results.document import number
from ...results.tables import table
from ...run.sent_again import loses
from ...truth.service import OWN, from_many, plain_services, service_times
from ...truth.spans import spans
from ...wording import counted
from ..benchmark import Benchmark, Tell
from ..common.bulk_report import size_text
from ..common.headline import Headline, Series
from ..common.one_nic import nic_0
from ..common.processes import Processes, alike
from ..common.processes import wires as wires_of
from ..common.streams import starving
from ..fields import Outcome, figure, setting
from ..latency import carried
from .cells import (
    COLUMNS,
    LOTS_MOST,
    MOST,
    LoadCell,
    cell,
    count_of,
    levels,
    row,
    sizes_of,
    together,
)
from .traffic import measure_traffic

__all__ = ["Incast", "IncastCell", "IncastParameters", "IncastResults"]

RECEIVER = 0
BUDGET = 64 << 10
LOSSES = (0.001, 0.01)


@dataclass(frozen=True)
class IncastParameters:
    """Senders of 64 KB each, with and without loss."""

    senders: Sequence[int] = setting([1], "nodes that send at once")
    sizes: Sequence[int] = setting([16], "bytes of a message", unit="bytes")
    bytes: int = setting(BUDGET, "bytes of each sender, about", unit="bytes")
    loss: Sequence[float] = setting([0.0], "share of packets lost")


@dataclass(frozen=True, kw_only=True)
class IncastCell(LoadCell):
    """Figures of a run; shares are of senders."""

    predicted: float | None = figure("bytes/cycle", "the goodput that is predicted without loss",
                                     optional=True)
    stage: str | None = figure("", "the stage that bounds it", optional=True)


@dataclass(frozen=True)
class IncastResults:
    """Figures of each run."""

    incast: Mapping[str, Mapping[str, Mapping[str, IncastCell]]] = figure(
        "", "by bytes of a message, loss and number of senders")


def _services(run: Mapping[str, Any], receiver: int, design: NicDesign) -> Any:
    """From the second half of the first sender's messages."""
    (flow, times), *_ = sorted(run["arrived"].items())
    half = len(times) // 2
    return service_times(run["events"], spans(run["marks"]), times[half], times[-1],
                         Fraction(len(times) - 1 - half), (flow[0], receiver), design)


def _points(run: Mapping[str, Any]) -> dict[str, Any]:
    """When each sender began, and its messages were there, in cycles."""
    return {str(flow[0]): {"begin": number(Fraction(run["begin"][flow[0]], TICKS)),
                           "arrived": [number(Fraction(time, TICKS)) for time in times]}
            for flow, times in run["arrived"].items()}


def _lines(results: IncastResults) -> list[tuple[str, str, list[tuple[str, IncastCell]]]]:
    """A size and a loss as people read them, and the figures by number of senders."""
    return [(size_text(int(size)), f"{100 * float(loss):g} %", list(by_senders.items()))
            for size, by_loss in results.incast.items() for loss, by_senders in by_loss.items()]


def _bounds(by_senders: Sequence[tuple[str, IncastCell]]) -> str:
    """What the prediction says bounds how many senders."""
    return "; ".join(f"{senders} from {found.stage}" if found.stage != OWN else
                     f"{senders} from {OWN} stages" for senders, found in by_senders
                     if found.stage is not None)


class Incast(Benchmark):
    """Many nodes send to one."""

    Parameters = IncastParameters
    Results = IncastResults

    def parameters(self, description: Description) -> IncastParameters:
        """Those of as many parties as there are nodes."""
        return self.usual(description, description.fabric.nodes)

    def usual(self, description: Description, parties: int) -> IncastParameters:
        """1 to N - 1 senders of 64 KB each, without loss, and with one of 1,000 and of 100 packets
        lost (or with the faults that the description has). Layers that send nothing again stand no
        loss."""
        faults = [0.0] if loses(description) else [0.0, *LOSSES]
        return IncastParameters(levels(parties - 1), sizes_of(description), BUDGET, faults)

    async def measure(self, lab: Any, layer: str, parameters: IncastParameters, tell: Tell
                      ) -> dict[str, Any]:
        """A run a size, loss and number of senders."""
        runs: dict[tuple[int, float, int], Any] = {}
        endpoint = LAYERS.get(layer).endpoint_class
        losses = [loss for loss in parameters.loss if not loss or not endpoint.lossy]
        sizes = carried(parameters.sizes, layer, lab.description)
        steps = [(size, loss, senders) for size in sizes for loss in losses
                 for senders in parameters.senders]
        fewest = min(parameters.senders)
        for index, (size, loss, senders) in enumerate(steps):
            tell(f"{counted(senders, 'sender')}, {size} bytes, loss {loss}", index, len(steps))
            most = LOTS_MOST if endpoint.lot > 1 else MOST
            exchange = Exchange(size, count_of(size, parameters.bytes, most),
                        {sender: [RECEIVER] for sender in range(1, senders + 1)},
                        crowd=max(parameters.senders))
            runs[size, loss, senders] = await measure_traffic(
                lab, layer, exchange, trace=senders == fewest and not loss,
                settings={"faults.drop": loss} if loss else None)
        return {"runs": runs, **({"places": lab.places} if isinstance(lab, Processes) else {})}

    def evaluate(self, raw: Any, description: Description, parameters: IncastParameters) -> Outcome:
        """Figures of each run; without loss beside the prediction."""
        results: dict[str, dict[str, dict[str, IncastCell]]] = {}
        truth: dict[str, Any] = {}
        points: dict[str, Any] = {}
        checks: list[dict[str, Any]] = []
        graph = graph_of(description)
        wires = wires_of(raw["places"], description) if "places" in raw else nic_0(description)
        services = {size: (_services(run, RECEIVER, description.design), together(run).gap)
                    for (size, _, _), run in raw["runs"].items() if "events" in run}
        for (size, loss, senders), run in raw["runs"].items():
            shared = together(run)
            found = IncastCell(**vars(cell(run, size, shared)))
            if "events" in run:
                truth[str(size)] = {"services": plain_services(services[size][0])}
            if not loss and not loses(description) and alike(raw.get("places", ()), senders + 1):
                served, gap = services[size]
                made = from_many(served, gap, RECEIVER, range(1, senders + 1), graph, wires)
                found = replace(found, predicted=number(size * senders * TICKS / made.gap),
                                stage=made.stage)
                name = f"{senders} senders of {size} bytes"
                checks.append(check(
                    f"{name} get what the stage that they share has",
                    shared.gap <= made.gap * Fraction(11, 10),
                    f"{found.goodput} of {found.predicted} bytes a cycle ({made.stage})"))
                checks.append(starving(shared, f"of {name}"))
            results.setdefault(str(size), {}).setdefault(str(loss), {})[str(senders)] = found
            points.setdefault(str(size), {}).setdefault(str(loss), {})[str(senders)] = _points(run)
        return Outcome(results=IncastResults(results), truth=truth, points=points, checks=checks)

    def tables(self, document: Mapping[str, Any]) -> list[Any]:
        """One row a size, loss and number of senders."""
        rows, lines = [], _lines(self.results(document))
        for size, loss, by_senders in lines:
            for senders, found in by_senders:
                predicted = "-" if found.predicted is None else f"{found.predicted:.4f}"
                rows.append((size, loss, senders, *row(found), predicted))
        made = table("Incast: many nodes send to one",
                     ["n", "lost", "senders", *COLUMNS, "predicted"], rows)
        return [made, *(f"{size}: {_bounds(by_senders)}"
                        for size, loss, by_senders in lines
                        if any(found.stage is not None for _, found in by_senders))]

    def draw(self, document: Mapping[str, Any], figure: Any) -> None:
        """Goodput over the number of senders, and its prediction."""
        from ...results.plots import INK, line

        lines, clock = _lines(self.results(document)), document["clock_mhz"]
        axes = figure.add_subplot()
        for index, (size, loss, by_senders) in enumerate(lines):
            axes.plot([int(one) for one, _ in by_senders],
                      [found.goodput * clock for _, found in by_senders],
                      label=f"{size}, {loss} lost",
                      **line(index, len(lines)))
            predicted = {int(one): found.predicted * clock for one, found in by_senders
                         if found.predicted is not None}
            if predicted:
                axes.plot(list(predicted), list(predicted.values()), color=INK, ls=(0, (5, 3)),
                          lw=1)
        axes.set_xticks(sorted({int(one) for *_, by_senders in lines for one, _ in by_senders}))
        axes.set_ylim(bottom=0)
        axes.set_xlabel("senders, K (dashed: predicted)")
        axes.set_ylabel("goodput of all (MB/s)")
        axes.legend(loc="best")
        axes.set_title(f"Incast, {document['layer']}")

    def headline(self, document: Mapping[str, Any]) -> list[Headline]:
        """Goodput and Jain's index with the most senders."""
        found = []
        for size, loss, by_senders in _lines(self.results(document)):
            senders, last = by_senders[-1]
            name = f"{senders} senders, {size}, {loss} lost"
            found += [Headline(f"goodput, {name}", last.goodput, "bytes/cycle"),
                      Headline(f"Jain's index, {name}", last.jain, "")]
        return found

    def series(self, document: Mapping[str, Any]) -> Series:
        """Goodput of the longest messages over senders, without loss."""
        lines = _lines(self.results(document))
        _, _, by_senders = next(one for one in lines if one[0] == lines[-1][0])
        return Series("senders", "goodput of all (bytes/cycle)",
                      [(int(senders), found.goodput) for senders, found in by_senders])
