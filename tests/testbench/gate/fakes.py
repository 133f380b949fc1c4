"""Observations and measured entries that no run made."""

import dataclasses
from fractions import Fraction

from nicbed.layouts.description import Description
from nicbed.testbench.benches.common.headline import Headline
from nicbed.testbench.gate.measuring import Measured
from nicbed.testbench.gate.record import Kept
from nicbed.testbench.why.observation import Observation

SPLIT = Observation(
    figures={"o_s": 20.0, "g": 50.0}, total=Fraction(100), cpus=(Fraction(30), Fraction(20)),
    flights=([("uplink", Fraction(7)), ("receive DMA", Fraction(18))], [("uplink", Fraction(25))]),
    work=({"load": (Fraction(10), Fraction(1, 3))}, {"store": (Fraction(4), Fraction(2))}),
    blocks={"host, node 0": 1.0, "link, node 0": 0.5}, bound="host", events=[],
    clock_mhz=Fraction(66))
MOVED = dataclasses.replace(
    SPLIT, total=Fraction(101),
    flights=([("uplink", Fraction(7)), ("receive DMA", Fraction(19))], SPLIT.flights[1]))
CONFIG = Description().model_dump(mode="json")
KEPT = Kept(CONFIG, SPLIT)


def now(o_s: float | None = 20.5, kept: Kept = KEPT) -> Measured:
    """An entry that shows ``o_s``."""
    return Measured({"logp": (Headline("o_s", o_s), Headline("g", None))}, kept)
