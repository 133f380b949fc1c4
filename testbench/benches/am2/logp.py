"""The LogP signature of Active Messages II: as of Active Messages, but for o_s, which is of bursts
that the receiver takes later."""

from typing import Any

from ..am.logp import AmLogp, SignatureParameters
from ..benchmark import Tell
from .bursts import measure_bursts

__all__ = ["Am2Logp"]

SENDS = 8


class Am2Logp(AmLogp):
    """In shared memory a round trip takes as long as three sends: there are no others that only
    send, and these differ by what the receiver does meanwhile."""

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
