"""Predicts what a change of a knob should do, to first order, from the work of a round trip.

A round trip is charged so many of each cost item; with other prices it takes the difference longer,
if nothing else happens. Its packets cross so many links and switches. Of other knobs there is no
prediction: how often a round trip waits for them is not among what is counted.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from ...host.port.costs import Costs
from ...layouts.description import Description
from ...layouts.description.declared import DECLARED
from ...layouts.fabric import graph_of
from ...layouts.trace import TICKS

__all__ = ["predicted", "work_of"]

Work = Sequence[Mapping[str, Fraction]]
"""Of each end: how many of each cost item a round trip takes."""

_ENDS = (0, 1)
_OF_ALL_PRICES = ("nic.clock_mhz", "cpu.clock_mhz", "cpu.path_scale")


def work_of(truth: Mapping[str, Any]) -> Work | None:
    """The work of a round trip, from the truth of a probe; None where it was not counted, or
    where a CPU is charged more than its calls take on the path: it is charged for polls while it
    waits, and they are no part of it."""
    found = []
    for cpu, work in zip(truth["cpus"], truth["work"], strict=True):
        counts = {item: Fraction(count) for item, (count, _) in work.items()}
        if sum(counts[item] * Fraction(price) for item, (_, price) in work.items()
               ) > Fraction(cpu):
            return None
        found.append(counts)
    return found or None


def predicted(knob: str, before: Description, after: Description, work: Work | None
              ) -> dict[str, Fraction]:
    """Cycles by which RTT and L grow when ``knob`` changes ``before`` into ``after``; what is not
    in it is not predicted."""
    section, key = knob.split(".")
    if knob in _OF_ALL_PRICES or (section in DECLARED and key in Costs(before).price):
        if work is None:
            return {}
        return {"RTT": sum((count * (_price(after, item) - _price(before, item))
                            for one in work for item, count in one.items()), Fraction(0))}
    graph = graph_of(before)
    switches = [len(graph.way(*ends)) for ends in (_ENDS, _ENDS[::-1])]
    crossed = {"link.latency": sum(switches) + len(switches), "switch.latency": sum(switches)}
    if knob not in crossed:
        return {}
    more = crossed[knob] * Fraction(_value(after, knob) - _value(before, knob))
    return {"RTT": more, "L": more / len(switches)}


def _value(description: Description, name: str) -> Any:
    section, key = name.split(".")
    return getattr(getattr(description, section), key)


def _price(description: Description, item: str) -> Fraction:
    """Target cycles of one ``item``."""
    costs = Costs(description)
    return costs.price.get(item, 0) * costs.scale * Fraction(costs.numerator,
                                                             costs.denominator * TICKS)
