"""The LogP signature of Active Messages II: as of Active Messages, but for o_s, which is of bursts
that the receiver takes later."""

from dataclasses import replace
from fractions import Fraction
from typing import Any, ClassVar

from ....layouts.description import Description
from ...results.document import number
from ..am.logp import AmLogp, SignatureParameters
from ..benchmark import Tell
from ..fields import Outcome
from .bursts import measure_bursts
from .logp_results import Am2LogpResults, Traced

__all__ = ["Am2Logp"]

SENDS = 8


class Am2Logp(AmLogp):
    """In shared memory a round trip takes as long as three sends: there are no others that only
    send, and these differ by what the receiver does meanwhile."""

    Results: ClassVar[type] = Am2LogpResults

    async def measure(self, lab: Any, layer: str, parameters: SignatureParameters, tell: Tell
                      ) -> dict[str, Any]:
        """A signature, and bursts."""
        found = await super().measure(lab, layer, parameters, tell)
        tell("bursts", 0, 1)
        run = await measure_bursts(lab, parameters.words, SENDS)
        begin, *ends = run["last"]
        return {**found, "burst": {
            "delay": 0, "begin": begin, "issued": [end - begin for end in ends],
            "handled": [0] * len(ends), "marks": run["marks"], "events": run["events"]}}

    def evaluate(self, raw: Any, description: Description, parameters: SignatureParameters
                 ) -> Outcome:
        """The same, and o_s, o_r and L from the trace."""
        found = super().evaluate(raw, description, parameters)
        o_s, o_r, rtt = (Fraction(found.truth[name]) for name in ("o_s", "o_r", "rtt"))
        traced = Traced(o_s=number(o_s), o_r=number(o_r), L=number(rtt / 2 - o_s - o_r))
        return replace(found, results=Am2LogpResults(**vars(found.results), traced=traced))
