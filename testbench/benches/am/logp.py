"""The LogP signature of small messages: o_s, o_r, g, L and RTT, with the truth beside them.

M requests are issued in a row with D cycles of computation after each. The signature is the average
cost of an issue over M, one curve for each D. One run for each D gives its whole curve: the target
is deterministic, so a run of M issues is the beginning of a longer one.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from ....host.port.node import Node
from ....layouts.description import Description
from ....layouts.trace import TICKS
from ..benchmark import Tell
from ..common import logp_report
from ..common.logp_evaluation import evaluate
from ..common.logp_results import LogpResults
from ..common.programs import (
    close_to,
    on,
    open_to,
    programs,
    requests_to,
    round_trips,
    server,
    stream_of,
    ticks_between,
)
from ..common.reported import Reported
from ..fields import Outcome, setting

__all__ = ["AmLogp", "SignatureParameters", "issues", "measure_curve", "measure_trips"]

TRIPS = 16
CYCLES = 2_000_000
"""Approximate cycles of computation in the run of one D: a large D has fewer issues."""
FEWEST = 16


def issues(count: int, delay: int) -> int:
    """Number of issues at D = ``delay``, out of ``count``."""
    return min(count, max(FEWEST, CYCLES // delay)) if delay else count


@dataclass(frozen=True)
class SignatureParameters:
    """Issues in a row at several D."""

    issues: int = setting(512, "requests in a row")
    words: int = setting(1, "words of a request and its reply", unit="words")
    delays: Sequence[str] = setting(
        ["0", "1/32", "1/16", "1/8", "1/4", "1/2", "1", "3/2", "2"],
        "D, as fractions of the round trip")


class AmLogp(Reported):
    """LogP over a layer whose requests have replies.

    Attributes
    ----------
    SHORT
        Parameters in place of the usual ones that take less time and give the same figures within a
        hundredth.
    """

    Parameters: ClassVar[type] = SignatureParameters
    Results: ClassVar[type] = LogpResults
    report = logp_report
    FIGURES = logp_report.FIGURES
    SHORT: ClassVar[Mapping[str, Any]] = {"issues": 256, "delays": ["0", "3/2"]}

    def parameters(self, description: Description) -> SignatureParameters:
        """512 issues; D as fractions of the round trip, three of them beyond it."""
        return SignatureParameters()

    async def measure(self, lab: Any, layer: str, parameters: SignatureParameters, tell: Tell
                      ) -> dict[str, Any]:
        """The round trip, then one run for each D."""
        words, count = parameters.words, parameters.issues
        tell("round trip", 0, 1)
        found: dict[str, Any] = {"rtt": await measure_trips(lab, layer, words), "curves": []}
        rtt = -(-max(found["rtt"]["trips"]) // TICKS)
        chosen = sorted({int(-(-rtt * Fraction(share)) // 1) for share in parameters.delays})
        for index, delay in enumerate(chosen):
            tell(f"D = {delay}", index, len(chosen))
            found["curves"].append(await measure_curve(lab, layer, issues(count, delay), delay,
                                                       words))
        return found

    def evaluate(self, raw: Any, description: Description, parameters: SignatureParameters
                 ) -> Outcome:
        """Estimates, truth, points and checks."""
        return evaluate(raw, description.design)


async def measure_curve(lab: Any, layer: str, count: int, delay: int, words: int = 1
                        ) -> dict[str, Any]:
    """``count`` issues with ``delay`` cycles after each, from reset."""

    async def requester(node: Node) -> Any:
        side = make(node)
        await open_to(side, [1], words)
        found = await stream_of(side, requests_to(side, [1], words), count, delay)
        await close_to(side, [1])
        return found

    make = on(layer)
    run = await lab.run(programs(lab, {0: requester, 1: server(make)}), trace=True)
    return {**run.results[0].plain(), "marks": run.marks, "events": run.events}


async def measure_trips(lab: Any, layer: str, words: int = 1, peer: int = 1, count: int = TRIPS
                        ) -> dict[str, Any]:
    """``count`` round trips from node 0 to ``peer``, one after the other."""

    async def requester(node: Node) -> Any:
        side = make(node)
        await open_to(side, [peer], words)
        found = await round_trips(side, peer, count, words)
        await close_to(side, [peer])
        return found

    make = on(layer)
    run = await lab.run(programs(lab, {0: requester, peer: server(make)}), trace=True)
    trips = run.results[0]
    return {"trips": [ticks_between(start, stop) for start, stop in trips],
            "begin": trips[0][0][0], "end": trips[-1][1][0], "marks": run.marks,
            "events": run.events}

