"""The results of the LogP signature of Active Messages II."""

from dataclasses import dataclass

from ..common.logp_results import LogpResults
from ..fields import figure

__all__ = ["Am2LogpResults", "Traced"]


@dataclass(frozen=True, kw_only=True)
class Traced:
    """The parameters from marks, which say where a message's cost begins."""

    o_s: float = figure("cycles", "a send, with the empty poll in it")
    o_r: float = figure("cycles", "a reply, from the beginning of the poll that finds it")
    L: float = figure("cycles", "half of a round trip without these two")


@dataclass(frozen=True, kw_only=True)
class Am2LogpResults(LogpResults):
    """The same of a layer whose requests poll. From a signature the sum of o_s and o_r is known,
    but not where it is to be cut: an issue without a reply has an empty poll in it, one with a
    reply has a poll that finds it instead, so the estimate of o_r is without an empty poll."""

    traced: Traced = figure("", "the parameters from the trace")
