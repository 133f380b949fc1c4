"""CPU costs of single calls: requests and replies by words, empty polls, successful polls."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from ....host.am.endpoint import AmEndpoint
from ....host.endpoint import Exchange
from ....host.port.node import Node
from ....layouts.description import Description
from ....layouts.trace import Activity
from ...estimate.compare import check
from ...estimate.fits import fit
from ...results.document import cycles
from ...results.tables import amount, micro, table
from ...truth.spans import spans
from ...truth.steady import mean_own
from ...wording import counted
from ..common.headline import Headline
from ..common.programs import (
    REQUESTS,
    Stamp,
    close_to,
    on,
    open_to,
    programs,
    server,
    stamp,
    ticks_between,
)

__all__ = ["FIGURES", "draw", "evaluate", "headline", "measure", "parameters", "tables"]

FIGURES = ("am_request_1", "am_reply_1", "am_poll, empty", "a message found")
APART = 1000
PROCESSOR_APART = 6000
"""Cycles in which all messages arrive and no timer of the layer expires: without a NIC processor,
and with one."""


class _TimedReplies(AmEndpoint):
    """``times``: the words of each reply, and when its call began and ended."""

    def __init__(self, node: Node, exchange: Exchange) -> None:
        super().__init__(node, exchange)
        self.times: list[tuple[int, Stamp, Stamp]] = []

    async def reply(self, am: Any, words: tuple[int, ...]) -> None:
        begin = stamp(self.node)
        await super().reply(am, words)
        self.times.append((len(words), begin, stamp(self.node)))


def parameters(description: Description) -> dict[str, Any]:
    """0 to 4 words; 0 to 16 messages waiting for a poll."""
    return {"words": [0, 1, 2, 3, 4], "repeats": 8, "waiting": [0, 1, 2, 4, 8, 16]}


async def measure(lab: Any, layer: str, parameters: Mapping[str, Any], tell: Any) -> dict[str, Any]:
    """Calls far apart, each between two readings of the CPU's clock."""
    nodes, repeats = lab.description.fabric.nodes, parameters["repeats"]
    apart = APART if lab.description.nic.processor == "none" else PROCESSOR_APART
    found: dict[str, Any] = {"request": {}, "reply": {}, "poll": None, "waiting": {}}
    steps = len(parameters["words"]) + len(parameters["waiting"]) + 1
    for index, words in enumerate(parameters["words"]):
        tell(f"requests of {counted(words, 'word')}", index, steps)

        async def caller(node: Node, words: int = words) -> Any:
            side = AmEndpoint(node, REQUESTS)
            await open_to(side, [1])
            times = []
            for _ in range(repeats):
                wanted = side.replied + 1
                start = stamp(node)
                await side.request(1, *range(words))
                times.append((start, stamp(node)))
                await side.wait(lambda wanted=wanted: side.replied >= wanted)
            await close_to(side, [1])
            return times

        async def replier(node: Node) -> Any:
            side = _TimedReplies(node, REQUESTS)
            await side.open()
            await side.serve(1)
            await side.close()
            return side.times

        run = await lab.run(programs(nodes, {0: caller, 1: replier}), trace=True)
        first = run.results[0][0][0][0]
        found["request"][words] = {
            "ticks": [ticks_between(*pair) for pair in run.results[0]], "begin": first,
            "end": run.results[0][-1][1][0] + 1, "marks": run.marks}
        found["reply"][words] = {
            "ticks": [ticks_between(start, stop) for count, start, stop in run.results[1]
                      if start[0] > first][:repeats]}
    tell("empty polls", len(parameters["words"]), steps)

    async def poller(node: Node) -> Any:
        side = AmEndpoint(node, REQUESTS)
        await open_to(side, [1])
        await side.am.poll()
        start = stamp(node)
        for _ in range(repeats):
            await side.am.poll()
        stop = stamp(node)
        await close_to(side, [1])
        return start, stop

    run = await lab.run(programs(nodes, {0: poller, 1: server(on(layer))}), trace=True)
    start, stop = run.results[0]
    found["poll"] = {"ticks": ticks_between(start, stop), "count": repeats, "begin": start[0],
                     "end": stop[0], "marks": run.marks}
    for index, count in enumerate(parameters["waiting"]):
        tell(f"a poll that finds {count}", len(parameters["words"]) + 1 + index, steps)

        async def sender(node: Node, count: int = count) -> None:
            side = AmEndpoint(node, REQUESTS)
            await open_to(side, [1])
            await node.port.delay(apart)
            for _ in range(count):
                await side.request(1, 1)
            await node.port.delay(4 * apart)
            await close_to(side, [1])

        async def finder(node: Node, count: int = count) -> Any:
            side = AmEndpoint(node, REQUESTS)
            await side.open()
            await side.wait(lambda: side.received >= 8)
            await side.am.poll()
            await node.port.delay(5 * apart // 2)
            start = stamp(node)
            await side.am.poll()
            stop = stamp(node)
            handled = side.received - 8
            await side.wait(lambda: side.stopped)
            await side.close()
            return start, stop, handled

        run = await lab.run(programs(nodes, {0: sender, 1: finder}), trace=True)
        start, stop, handled = run.results[1]
        found["waiting"][count] = {"ticks": ticks_between(start, stop), "handled": handled,
                                   "begin": start[0], "end": stop[0], "marks": run.marks}
    return found


def evaluate(raw: Mapping[str, Any], description: Description, parameters: Mapping[str, Any]
             ) -> dict[str, Any]:
    """Mean costs beside the traced ones; the cost of each message found, from the slope."""

    def mean(values: list[int]) -> Fraction:
        return Fraction(sum(values), len(values))

    request, reply, truth_request, truth_reply, checks = {}, {}, {}, {}, []
    for words, one in raw["request"].items():
        marks = spans(one["marks"])
        between = (one["begin"], one["end"])
        request[words] = mean(one["ticks"])
        empty = [span.own for span in marks if span.activity == Activity.EMPTY_POLL
                 and span.number and not span.node and between[0] <= span.begin < between[1]]
        truth_request[words] = mean_own(marks, Activity.REQUEST_SEND, 0, between) + mean(empty)
        reply[words] = mean(raw["reply"][words]["ticks"])
        truth_reply[words] = mean_own(marks, Activity.REPLY_SEND, 1, between)
        for name, measured, traced in (("request", request[words], truth_request[words]),
                                       ("reply", reply[words], truth_reply[words])):
            checks.append(check(f"am_{name}_{words} costs what the trace says",
                                abs(measured - traced) <= max(traced / 50, 16),
                                f"{cycles(measured)} measured, {cycles(traced)} traced"))
    poll = Fraction(raw["poll"]["ticks"], raw["poll"]["count"])
    waiting = {count: one["ticks"] for count, one in raw["waiting"].items()}
    for count, one in raw["waiting"].items():
        checks.append(check(f"a poll finds all {count} messages", one["handled"] == count,
                            f"it found {one['handled']}"))
    line = fit(list(waiting), list(waiting.values()))
    most = max(raw["waiting"])
    marks = spans(raw["waiting"][most]["marks"])
    between = (raw["waiting"][most]["begin"], raw["waiting"][most]["end"])
    handle = (mean_own(marks, Activity.REQUEST_HANDLE, 1, between)
              + mean_own(marks, Activity.REPLY_SEND, 1, between))
    traced_polls = spans(raw["poll"]["marks"])
    traced_poll = mean_own(traced_polls, Activity.EMPTY_POLL, 0,
                           (raw["poll"]["begin"], raw["poll"]["end"]))

    def all_of(values: Mapping[int, Any]) -> dict[str, Any]:
        return {str(key): cycles(value) for key, value in values.items()}

    return {
        "results": {"request": all_of(request), "reply": all_of(reply), "poll": cycles(poll),
                    "poll_finding": all_of(waiting), "per_message": cycles(line.slope),
                    "per_message_residual": cycles(line.residual)},
        "truth": {"request": all_of(truth_request), "reply": all_of(truth_reply),
                  "poll": cycles(traced_poll), "per_message": cycles(handle)},
        "points": {"request": {str(words): [cycles(ticks) for ticks in one["ticks"]]
                               for words, one in raw["request"].items()},
                   "reply": {str(words): [cycles(ticks) for ticks in one["ticks"]]
                             for words, one in raw["reply"].items()}},
        "checks": checks,
    }


def tables(document: Mapping[str, Any]) -> list[Any]:
    """Costs by words, and of polls by messages waiting."""
    clock = document["clock_mhz"]
    results, truth = document["results"], document["truth"]
    rows = [(f"am_{name}_{words}", amount(value), micro(value, clock), amount(truth[name][words]))
            for name in ("request", "reply") for words, value in results[name].items()]
    rows.append(("am_poll, empty", amount(results["poll"]), micro(results["poll"], clock),
                 amount(truth["poll"])))
    found = [(count, amount(value), micro(value, clock))
             for count, value in results["poll_finding"].items()]
    return [table("Cost of a call (a request's includes the check that ends it)",
                  ["call", "cycles", "µs", "traced"], rows),
            table("am_poll against the messages waiting", ["messages", "cycles", "µs"], found),
            f"each message found costs {amount(results['per_message'])} cycles "
            f"({amount(truth['per_message'])} traced: its handling and its reply)"]


def draw(document: Mapping[str, Any], figure: Any) -> None:
    """Two panels: calls by words, polls by messages found."""
    from ...results.plots import PALETTE

    left, right = figure.subplots(1, 2)
    results = document["results"]
    for colour, name in zip(PALETTE, ("request", "reply"), strict=False):
        words = [int(key) for key in results[name]]
        left.plot(words, list(results[name].values()), color=colour, marker="o")
        left.annotate(f"am_{name}_N", (words[-1], list(results[name].values())[-1]),
                      xytext=(-4, 8), textcoords="offset points", ha="right", color=colour)
    left.axhline(results["poll"], color=PALETTE[6], ls=(0, (5, 3)), lw=1)
    left.annotate("am_poll, empty", (0, results["poll"]), xytext=(2, 4),
                  textcoords="offset points", color=PALETTE[6])
    left.set_ylim(0, 1.12 * max(*results["request"].values(), *results["reply"].values()))
    left.set_xticks(range(5))
    left.set_xlabel("words, N")
    left.set_ylabel("cycles")
    left.set_title("Cost of a call")
    found = {int(key): value for key, value in results["poll_finding"].items()}
    right.plot(list(found), list(found.values()), color=PALETTE[2], marker="o")
    right.annotate(f"{amount(results['per_message'])} cycles a message",
                   (max(found) / 2, max(found.values()) / 2), xytext=(-8, 8),
                   textcoords="offset points", ha="right", color=PALETTE[2])
    right.set_ylim(bottom=0)
    right.set_xlabel("messages waiting")
    right.set_title("Cost of am_poll")


def headline(document: Mapping[str, Any]) -> list[Headline]:
    """Calls of one word, a poll, a message found."""
    results = document["results"]
    values = (results["request"].get("1"), results["reply"].get("1"), results["poll"],
              results["per_message"])
    return [Headline(*one) for one in zip(FIGURES, values, strict=True)]
