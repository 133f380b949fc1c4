"""CPU costs of single calls: requests and replies by words, empty polls, successful polls."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ....layouts.description import Description
from ....layouts.trace import Activity
from ...estimate.compare import check
from ...estimate.fits import fit
from ...results.document import cycles
from ...results.tables import amount, micro, table
from ...truth.spans import spans
from ...truth.steady import mean_own
from ...wording import counted
from ..benchmark import Benchmark, Tell
from ..common.headline import Headline
from ..fields import Outcome, figure, setting
from .single_calls import measure_calls, measure_finding, measure_polls

__all__ = ["Overhead", "OverheadParameters", "OverheadResults"]

FIGURES = ("am_request_1", "am_reply_1", "am_poll, empty", "a message found")
APART = 1000
PROCESSOR_APART = 6000
"""Cycles in which all messages arrive and no timer of the layer expires: without a NIC processor,
and with one."""


@dataclass(frozen=True)
class OverheadParameters:
    """0 to 4 words; 0 to 16 messages waiting for a poll."""

    words: Sequence[int] = setting([0, 1, 2, 3, 4], "words of a request and its reply",
                                   unit="words")
    repeats: int = setting(8, "calls of each kind")
    waiting: Sequence[int] = setting([0, 1, 2, 4, 8, 16], "messages that a poll finds")


@dataclass(frozen=True)
class OverheadResults:
    """Mean costs of calls."""

    request: Mapping[str, float] = figure("cycles", "am_request, by words")
    reply: Mapping[str, float] = figure("cycles", "am_reply, by words")
    poll: float = figure("cycles", "am_poll that finds nothing")
    poll_finding: Mapping[str, float] = figure("cycles", "am_poll, by the messages that it finds")
    per_message: float = figure("cycles", "each message found: the slope over them")
    per_message_residual: float = figure("cycles", "of that line")


class Overhead(Benchmark):
    """CPU costs of single calls."""

    Parameters = OverheadParameters
    Results = OverheadResults
    FIGURES = FIGURES

    async def measure(self, lab: Any, layer: str, parameters: OverheadParameters, tell: Tell
                      ) -> dict[str, Any]:
        """Calls far apart, each between two readings of the CPU's clock."""
        repeats = parameters.repeats
        apart = APART if lab.description.nic.processor == "none" else PROCESSOR_APART
        found: dict[str, Any] = {"request": {}, "reply": {}, "waiting": {}}
        steps = len(parameters.words) + len(parameters.waiting) + 1
        for index, words in enumerate(parameters.words):
            tell(f"requests of {counted(words, 'word')}", index, steps)
            found["request"][words], found["reply"][words] = await measure_calls(
                lab, words, repeats)
        tell("empty polls", len(parameters.words), steps)
        found["poll"] = await measure_polls(lab, layer, repeats)
        for index, count in enumerate(parameters.waiting):
            tell(f"a poll that finds {count}", len(parameters.words) + 1 + index, steps)
            found["waiting"][count] = await measure_finding(lab, count, apart)
        return found

    def evaluate(self, raw: Any, description: Description, parameters: OverheadParameters
                 ) -> Outcome:
        """Mean costs beside the traced ones; the cost of each message found, from the slope."""
        request = {words: _mean(one["ticks"]) for words, one in raw["request"].items()}
        reply = {words: _mean(one["ticks"]) for words, one in raw["reply"].items()}
        traced = {words: _traced_calls(one) for words, one in raw["request"].items()}
        checks = []
        for words, pair in traced.items():
            for name, measured, true in zip(("request", "reply"), (request[words], reply[words]),
                                            pair, strict=True):
                checks.append(check(f"am_{name}_{words} costs what the trace says",
                                    abs(measured - true) <= max(true / 50, 16),
                                    f"{cycles(measured)} measured, {cycles(true)} traced"))
        waiting = {count: one["ticks"] for count, one in raw["waiting"].items()}
        for count, one in raw["waiting"].items():
            checks.append(check(f"a poll finds all {count} messages", one["handled"] == count,
                                f"it found {one['handled']}"))
        line = fit(list(waiting), list(waiting.values()))
        poll = raw["poll"]
        return Outcome(
            results=OverheadResults(
                request=_all_of(request), reply=_all_of(reply),
                poll=cycles(Fraction(poll["ticks"], poll["count"])),
                poll_finding=_all_of(waiting), per_message=cycles(line.slope),
                per_message_residual=cycles(line.residual)),
            truth={"request": _all_of({words: pair[0] for words, pair in traced.items()}),
                   "reply": _all_of({words: pair[1] for words, pair in traced.items()}),
                   "poll": cycles(mean_own(spans(poll["marks"]), Activity.EMPTY_POLL, 0,
                                           (poll["begin"], poll["end"]))),
                   "per_message": cycles(_traced_message(raw["waiting"][max(raw["waiting"])]))},
            points={name: {str(words): [cycles(ticks) for ticks in one["ticks"]]
                           for words, one in raw[name].items()} for name in ("request", "reply")},
            checks=checks)

    def tables(self, document: Mapping[str, Any]) -> list[Any]:
        """Costs by words, and of polls by messages waiting."""
        results, truth, clock = self.results(document), document["truth"], document["clock_mhz"]
        rows = [(f"am_{name}_{words}", amount(value), micro(value, clock),
                 amount(truth[name][words]))
                for name, by_words in (("request", results.request), ("reply", results.reply))
                for words, value in by_words.items()]
        rows.append(("am_poll, empty", amount(results.poll), micro(results.poll, clock),
                     amount(truth["poll"])))
        found = [(count, amount(value), micro(value, clock))
                 for count, value in results.poll_finding.items()]
        return [table("Cost of a call (a request's includes the check that ends it)",
                      ["call", "cycles", "µs", "traced"], rows),
                table("am_poll against the messages waiting", ["messages", "cycles", "µs"], found),
                f"each message found costs {amount(results.per_message)} cycles "
                f"({amount(truth['per_message'])} traced: its handling and its reply)"]

    def draw(self, document: Mapping[str, Any], figure: Any) -> None:
        """Two panels: calls by words, polls by messages found."""
        from ...results.plots import PALETTE

        left, right = figure.subplots(1, 2)
        results = self.results(document)
        for colour, name, by_words in zip(PALETTE, ("request", "reply"),
                                          (results.request, results.reply), strict=False):
            words = [int(key) for key in by_words]
            left.plot(words, list(by_words.values()), color=colour, marker="o")
            left.annotate(f"am_{name}_N", (words[-1], list(by_words.values())[-1]),
                          xytext=(-4, 8), textcoords="offset points", ha="right", color=colour)
        left.axhline(results.poll, color=PALETTE[6], ls=(0, (5, 3)), lw=1)
        left.annotate("am_poll, empty", (0, results.poll), xytext=(2, 4),
                      textcoords="offset points", color=PALETTE[6])
        left.set_ylim(0, 1.12 * max(*results.request.values(), *results.reply.values()))
        left.set_xticks(range(5))
        left.set_xlabel("words, N")
        left.set_ylabel("cycles")
        left.set_title("Cost of a call")
        found = {int(key): value for key, value in results.poll_finding.items()}
        right.plot(list(found), list(found.values()), color=PALETTE[2], marker="o")
        right.annotate(f"{amount(results.per_message)} cycles a message",
                       (max(found) / 2, max(found.values()) / 2), xytext=(-8, 8),
                       textcoords="offset points", ha="right", color=PALETTE[2])
        right.set_ylim(bottom=0)
        right.set_xlabel("messages waiting")
        right.set_title("Cost of am_poll")

    def headline(self, document: Mapping[str, Any]) -> list[Headline]:
        """Calls of one word, a poll, a message found."""
        results = self.results(document)
        values = (results.request.get("1"), results.reply.get("1"), results.poll,
                  results.per_message)
        return [Headline(*one) for one in zip(FIGURES, values, strict=True)]


def _mean(values: Sequence[int]) -> Fraction:
    return Fraction(sum(values), len(values))


def _all_of(values: Mapping[int, Any]) -> dict[str, Any]:
    return {str(key): cycles(value) for key, value in values.items()}


def _traced_calls(run: Mapping[str, Any]) -> tuple[Fraction, Fraction]:
    """Traced ticks of a request, with the check that ends it, and of a reply."""
    marks, between = spans(run["marks"]), (run["begin"], run["end"])
    empty = [span.own for span in marks if span.activity == Activity.EMPTY_POLL
             and span.number and not span.node and between[0] <= span.begin < between[1]]
    return (mean_own(marks, Activity.REQUEST_SEND, 0, between) + _mean(empty),
            mean_own(marks, Activity.REPLY_SEND, 1, between))


def _traced_message(run: Mapping[str, Any]) -> Fraction:
    """Traced ticks of a message that a poll finds: its handling and its reply."""
    marks, between = spans(run["marks"]), (run["begin"], run["end"])
    return (mean_own(marks, Activity.REQUEST_HANDLE, 1, between)
            + mean_own(marks, Activity.REPLY_SEND, 1, between))
