"""Tells what the changes did: differences, elasticities, surprises, the order."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from ..results.document import number, plain
from .changes import FREE
from .probe import BANDWIDTH, FIGURES

__all__ = ["Effect", "Probed", "effects", "elasticities", "ordered", "surprises"]

ALL = (*FIGURES, BANDWIDTH)
SLACK = 2
"""Cycles by which a prediction may be off in any case: phases of clocks and polls."""
SHARE = Fraction(1, 5)
"""And the share of the larger of prediction and measurement."""


@dataclass(frozen=True)
class Probed:
    """The findings of a probe: values of :data:`ALL`, which block bounds g, and the fingerprint of
    the runs."""

    figures: Mapping[str, float]
    bound: str
    fingerprint: str

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> "Probed":
        """From the document of a probe."""
        results = document["results"]
        return cls({name: results[name] for name in ALL if results[name] is not None},
                   results["bound"], document["points"]["fingerprint"])


@dataclass(frozen=True)
class Effect:
    """One changed knob, and what was found with it; ``predicted``: cycles by which figures should
    grow."""

    knob: str
    how: str
    before: Any
    after: Any
    found: Probed
    predicted: Mapping[str, Fraction] = field(default_factory=dict)

    def grown(self, base: Probed) -> dict[str, float]:
        """By how much each figure grew over ``base``."""
        return {name: value - base.figures[name] for name, value in self.found.figures.items()
                if name in base.figures}

    def plain(self, base: Probed) -> dict[str, Any]:
        """As the result file has it."""
        return {"knob": self.knob, "how": self.how, "before": plain(self.before),
                "after": plain(self.after), "figures": plain(self.found.figures),
                "grown": plain(self.grown(base)), "predicted": plain(self.predicted),
                "bound": self.found.bound, "surprises": surprises(base, self)}


def surprises(base: Probed, effect: Effect) -> list[str]:
    """Returns what first order does not explain: a figure that is off its prediction by more than
    :data:`SLACK` and :data:`SHARE`, or another block that bounds g."""
    found = []
    grown = effect.grown(base)
    for name, wanted in effect.predicted.items():
        if name not in grown:
            continue
        off = grown[name] - wanted
        if abs(off) > max(SLACK, SHARE * max(abs(wanted), abs(Fraction(grown[name])))):
            found.append(f"{name} {number(round(off, 2)):+g}")
    if effect.found.bound != base.bound:
        found.append(f"g bound by {effect.found.bound}")
    return found


def elasticities(base: Probed, several: Sequence[Effect]) -> dict[str, float]:
    """d ln figure / d ln knob of one knob, between its halved and its doubled value, or from the
    base to that of the two which there is. A figure that is not positive has none."""
    ends = [(effect.after, effect.found) for effect in several
            if effect.how != FREE and effect.after > 0]
    if not ends:
        return {}
    if len(ends) == 1:
        ends.append((several[0].before, base))
    (low, one), (high, other) = sorted(ends, key=lambda end: end[0])
    steps = math.log(high / low)
    return {name: math.log(other.figures[name] / one.figures[name]) / steps for name in ALL
            if min(side.figures.get(name, 0) for side in (one, other)) > 0}


def effects(base: Probed, several: Sequence[Effect]) -> dict[str, Any]:
    """All effects as plain data: those of knobs that have one, knobs of the greatest elasticity
    first, and the names of those that have none."""
    by_knob: dict[str, list[Effect]] = {}
    for effect in several:
        by_knob.setdefault(effect.knob, []).append(effect)
    without = [knob for knob, each in by_knob.items()
               if all(one.found.fingerprint == base.fingerprint for one in each)]
    slopes = {knob: elasticities(base, each) for knob, each in by_knob.items()
              if knob not in without}
    return {"base": {**plain(base.figures), "bound": base.bound},
            "elasticities": [{"knob": knob, "value": plain(by_knob[knob][0].before),
                              "figures": plain(slopes[knob])} for knob in ordered(slopes)],
            "effects": [effect.plain(base) for knob in ordered(slopes)
                        for effect in by_knob[knob]],
            "without": without}


def ordered(slopes: Mapping[str, Mapping[str, float]]) -> list[str]:
    """The knobs, the one with the greatest elasticity of any figure first."""
    return sorted(slopes, key=lambda knob: (-max(map(abs, slopes[knob].values()), default=0.0),
                                            knob))
