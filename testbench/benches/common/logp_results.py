"""LogP parameters as a benchmark's results: what a signature gives on any layer."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ...estimate.logp import Curve, LogP
from ...results.document import cycles
from ..fields import figure
from .gap_bound import GapBound

__all__ = ["DelayCost", "DelayedReceive", "LogpResults", "RegimeEnds", "SignatureResults",
           "costs_by_delay", "signature_figures"]


@dataclass(frozen=True)
class DelayedReceive:
    """The receive overhead at one D beyond the knee."""

    delay: float = figure("cycles", "D")
    o_r: float = figure("cycles", "receive overhead")


@dataclass(frozen=True)
class DelayCost:
    """The cost of an issue at one D, D included."""

    delay: float = figure("cycles", "D")
    cost: float = figure("cycles", "mean over the second half of the run")


@dataclass(frozen=True)
class RegimeEnds:
    """The issues at which the signature at D = 0 changes its regime."""

    send_only: int = figure("", "the last issue that only sends")
    steady: int = figure("", "the first issue in steady state; 0: none is")


@dataclass(frozen=True, kw_only=True)
class SignatureResults:
    """The parameters of LogP, from a signature."""

    o_s: float = figure("cycles", "send overhead")
    o_r: float = figure("cycles", "receive overhead")
    g: float = figure("cycles", "gap: the slope in steady state")
    L: float = figure("cycles", "latency: half a round trip without the overheads")
    rtt: float = figure("cycles", "round trip")
    idle: float = figure("cycles", "g without o_s and o_r")
    g_residual: float = figure("cycles", "of the line that g is the slope of")
    g_visible: bool = figure("", "g is more than the host's own cost")
    o_r_by_delay: Sequence[DelayedReceive] = figure("", "receive overhead by D beyond the knee")
    regimes: RegimeEnds = figure("", "regimes of the signature")
    cost_by_delay: Sequence[DelayCost] | None = figure("", "cost of an issue by D", optional=True)
    """None in files of version 0.2."""
    bound: GapBound = figure("", "what bounds the gap")

    @property
    def rate(self) -> float:
        """The gap, visible or not."""
        return self.g


@dataclass(frozen=True, kw_only=True)
class LogpResults(SignatureResults):
    """The same of a sender that waits for the network."""

    knee: float = figure("cycles", "D from which on the sender is the bottleneck")
    o_r_spread: float = figure("cycles", "most difference of the receive overhead over D")


def signature_figures(found: LogP, curves: Sequence[Curve]) -> dict[str, Any]:
    """The fields of :class:`SignatureResults` that estimates give: all but the bound, and whether
    the gap is visible."""
    return {
        "o_s": cycles(found.o_s), "o_r": cycles(found.o_r), "g": cycles(found.g),
        "L": cycles(found.L), "rtt": cycles(found.rtt), "idle": cycles(found.idle),
        "g_residual": cycles(found.residual),
        "o_r_by_delay": [DelayedReceive(cycles(delay), cycles(value))
                         for delay, value in found.by_delay],
        "regimes": RegimeEnds(found.regimes.send_only, found.regimes.steady),
        "cost_by_delay": costs_by_delay(curves)}


def costs_by_delay(curves: Sequence[Curve]) -> list[DelayCost]:
    """The cost of an issue at each D."""
    found = []
    for curve in curves:
        half = len(curve.issued) // 2
        taken = Fraction(curve.issued[-1] - curve.issued[half - 1], len(curve.issued) - half)
        found.append(DelayCost(cycles(Fraction(curve.delay)), cycles(taken)))
    return found
