"""The cost of a request between CPUs of a node, step by step: what the CPU works and what it waits
for memory, beside the published stack."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ....host.am2 import costs
from ....host.port.costs import Costs
from ....layouts.description import Description
from ....layouts.trace import TICKS, Activity
from ...errors import UserError
from ...estimate.compare import check
from ...results.document import cycles
from ...results.tables import amount, micro, percent, table
from ...truth.spans import Span, spans
from ...wording import counted
from ..benchmark import Benchmark, Tell
from ..common.headline import Headline, Series
from ..common.processes import Processes
from ..fields import Outcome, figure, setting
from .bursts import measure_bursts
from .send_stack import MEASURED, PUBLISHED, SendStep, stacked

__all__ = ["SendCost", "SendCostParameters", "SendCostResults"]

STEPS = {"call": "call and arguments", "check": "arguments, translation, tag",
         "poll": "poll of both heads", "advance": "a number is drawn from the tail",
         "claim": "the packet is claimed", "fill": "it is filled, and given"}
_OF = {Activity.CHECK: "check", Activity.EMPTY_POLL: "poll", Activity.ADVANCE: "advance",
       Activity.CLAIM: "claim", Activity.FILL: "fill"}
ROUNDS = {"first": "the packet was never used", "later": "the receiver has freed it"}


@dataclass(frozen=True)
class SendCostParameters:
    """Bursts of requests: the receiver looks for one when it has been sent."""

    arguments: Sequence[int] = setting([0, 2, 4, 8], "arguments of a request")
    sends: int = setting(8, "requests that count, of the first round of the queue and of a later")


@dataclass(frozen=True)
class SendCostResults:
    """Mean costs of a send, by round of the queue: "first", of packets that nobody has used, and
    "later", of packets that the receiver has freed."""

    o_s: Mapping[str, Mapping[str, float]] = figure("cycles", "a send, by round and arguments")
    steps: Mapping[str, Mapping[str, Mapping[str, SendStep]]] = figure(
        "", "its steps, by round and arguments")
    stack: Mapping[str, float] = figure(
        "cycles", "a send of the most arguments in a later round, by the published names")


class SendCost(Benchmark):
    """The steps of a send through a queue in shared memory."""

    every_nic = True
    Parameters = SendCostParameters
    Results = SendCostResults

    async def measure(self, lab: Any, layer: str, parameters: SendCostParameters, tell: Tell
                      ) -> dict[str, Any]:
        """A run for each number of arguments, between CPUs 0 and 1 of node 0."""
        description = lab.description
        if description.am2.protocol == "network" or description.node.cpus < 2:
            raise UserError("send-cost is of messages between CPUs of a node: it needs "
                            "node.cpus of at least 2, and am2.protocol = shared or both")
        pair, found = Processes(lab, [(0, 0), (0, 1)]), {}
        for index, count in enumerate(parameters.arguments):
            tell(counted(count, "argument"), index, len(parameters.arguments))
            found[count] = await measure_bursts(pair, count, parameters.sends)
        return found

    def evaluate(self, raw: Any, description: Description, parameters: SendCostParameters
                 ) -> Outcome:
        """Each step's means, split into work and memory; the checks that nothing is left out."""
        o_s: dict[str, dict[str, float]] = {name: {} for name in ROUNDS}
        steps: dict[str, dict[str, dict[str, SendStep]]] = {name: {} for name in ROUNDS}
        wrong, points = [], {}
        for count, run in raw.items():
            every = [span for span in spans(run["marks"], steps=True) if span.node == 0
                     and span.activity == Activity.REQUEST_SEND and span.begin >= run["begin"]
                     ][:len(run["ticks"])]
            each = [_steps(span) for span in every]
            wrong += [f"{count} arguments: {cycles(sum(one.values()))} of {cycles(ticks)}"
                      for one, ticks in zip(each, run["ticks"], strict=True)
                      if sum(one.values()) != ticks]
            work = _work(description, count)
            points[str(count)] = [cycles(ticks) for ticks in run["ticks"]]
            size = parameters.sends
            # Behind the first of a burst, which finds the queue's tail where others left it.
            for name, chosen in (("first", each[1:size + 1]), ("later", each[-size:])):
                means = {step: Fraction(sum(one[step] for one in chosen), len(chosen) * TICKS)
                         for step in STEPS}
                o_s[name][str(count)] = float(sum(means.values()))
                steps[name][str(count)] = {
                    step: SendStep(float(work[step]), float(mean - work[step]))
                    for step, mean in means.items()}
        most = str(max(raw))
        stack = stacked(steps["later"][most], _cas(description))
        return Outcome(
            results=SendCostResults(o_s, steps, stack), points=points,
            checks=[check("the steps of each send are what its program's clock measured",
                          not wrong, wrong[0] if wrong else "to the tick"),
                    check("the stack sums to the send", abs(
                        sum(stack.values()) - o_s["later"][most]) < 1 / TICKS,
                          f"{amount(sum(stack.values()))} of {amount(o_s['later'][most])} cycles"),
                    check("no step takes less than its work", all(
                        step.memory > -1 / TICKS for by_count in steps.values()
                        for one in by_count.values() for step in one.values()), "none does")])

    def tables(self, document: Mapping[str, Any]) -> list[Any]:
        """The steps with the most arguments; the send by arguments; the published stack."""
        results, clock = self.results(document), document["clock_mhz"]
        most = list(results.o_s["later"])[-1]
        first, later = (results.steps[name][most] for name in ROUNDS)
        rows = [(title, amount(later[step].work), amount(later[step].memory),
                 amount(later[step].total), amount(first[step].total))
                for step, title in STEPS.items()]
        work, memory = (sum(getattr(one, part) for one in later.values())
                        for part in ("work", "memory"))
        rows.append(("the send, o_s", amount(work), amount(memory), amount(work + memory),
                     amount(results.o_s["first"][most])))
        by_count = [(count, amount(value), micro(value, clock),
                     amount(results.o_s["first"][count]))
                    for count, value in results.o_s["later"].items()]
        beside = [(name, amount(published), amount(results.stack[name]))
                  for name, published in PUBLISHED.items()]
        whole, ours = sum(PUBLISHED.values()), sum(results.stack.values())
        beside.append(("sum", amount(whole), amount(ours)))
        return [table(f"A send of {most} arguments, step by step (cycles)",
                      ["step", "work", "memory", "sum", "first round"], rows),
                table("A send (first round: of packets that were never used)",
                      ["arguments", "cycles", "µs", "first round"], by_count),
                table("Beside the published stack (cycles)", ["", "published", "ours"], beside),
                f"published: {whole} add up, {MEASURED} measured; ours is "
                f"{percent(ours / MEASURED - 1)} of that away"]

    def draw(self, document: Mapping[str, Any], figure: Any) -> None:
        """A stacked bar for each number of arguments, and the published one."""
        from ...results.plots import INK, PALETTE

        results = self.results(document)
        cas = _cas(Description.model_validate(document["config"]))
        bars = {count: stacked(one, cas) for count, one in results.steps["later"].items()}
        bars["published, 8"] = dict(PUBLISHED)
        axes = figure.add_subplot()
        places, bottoms = range(len(bars)), [0.0] * len(bars)
        for colour, name in zip(PALETTE, PUBLISHED, strict=False):
            heights = [one[name] for one in bars.values()]
            axes.bar(places, heights, 0.62, bottom=list(bottoms), color=colour,
                     label=name)
            for at, height in zip(places, heights, strict=True):
                bottoms[at] += height
        for at in places:
            axes.annotate(amount(bottoms[at]), (at, bottoms[at]), xytext=(0, 3), ha="center",
                          textcoords="offset points", color=INK)
        axes.set_xticks(places, list(bars))
        axes.grid(axis="x", visible=False)
        axes.set_xlabel("arguments")
        axes.set_ylabel("cycles")
        handles, labels = axes.get_legend_handles_labels()
        axes.legend(handles[::-1], labels[::-1], loc="center left", bbox_to_anchor=(1.01, 0.5))
        axes.set_title("What a send between CPUs of a node costs")

    def headline(self, document: Mapping[str, Any]) -> list[Headline]:
        """The send, and its stack."""
        results = self.results(document)
        most = list(results.o_s["later"])[-1]
        return [Headline(f"o_s, {most} arguments", results.o_s["later"][most]),
                *(Headline(f"  {name}", value) for name, value in results.stack.items())]

    def series(self, document: Mapping[str, Any]) -> Series:
        """The send over its arguments."""
        return Series("arguments", "a send (cycles)", [
            (int(count), value) for count, value in self.results(document).o_s["later"].items()])


def _steps(span: Span) -> dict[str, int]:
    """Ticks of each step of a send."""
    found = Counter({"call": span.own})
    for inner in span.inner:
        found[_OF[Activity(inner.activity)]] += inner.end - inner.begin
    return {step: found[step] for step in STEPS}


def _work(description: Description, arguments: int) -> dict[str, Fraction]:
    """Cycles of each step's paths, with one attempt of each."""
    prices, scale = Costs(description), description.am2.path_scale
    choice = [costs.POLL_CHOICE] if description.am2.protocol == "both" else []
    paths = {"call": [costs.CALL[arguments]], "check": [costs.CHECK],
             "poll": [costs.POLL, costs.POLL_ENDPOINT, *choice],
             "advance": [costs.LOCATE, costs.DRAW], "claim": [costs.CLAIM],
             "fill": [costs.FILL[arguments]]}
    return {step: prices.ticks(sum(prices.cycles(path, scale) for path in each)) / TICKS
            for step, each in paths.items()}


def _cas(description: Description) -> float:
    """Cycles of a swap of a word whose line is owned."""
    return float(description.cpu.cas)
