"""The LogP parameters of VIA at one size from the clocks of its programs, a method a parameter."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from ....layouts.description import Description
from ....layouts.trace import TICKS
from ...estimate.fits import Line
from ...estimate.logp import Curve, Regimes, gap, regimes
from ...estimate.one_way import few_sends, flight, half_trip, receive_overhead

__all__ = ["SizeEstimates"]

FEW = 4
"""Sends at the beginning of a stream whose mean cost is o_s."""


@dataclass(frozen=True)
class SizeEstimates:
    """The parameters, in ticks.

    Attributes
    ----------
    size
        Bytes of a message.
    trips, delayed
        Runs of round trips: plain ones, and with a delay between a send and its echo.
    stream
        A run of a stream.
    """

    description: Description
    size: int
    trips: Mapping[str, Any]
    delayed: Mapping[str, Any]
    stream: Mapping[str, Any]

    @cached_property
    def curve(self) -> Curve:
        """The stream as a curve of the signature."""
        return Curve(self.stream["delay"] * TICKS, tuple(self.stream["issued"]),
                     tuple(self.stream["handled"]))

    @cached_property
    def regimes(self) -> Regimes:
        """The regimes of the stream."""
        return regimes(self.curve)

    @property
    def packets(self) -> int:
        """Packets of a message."""
        return max(1, -(-self.size // self.description.nic.mtu))

    @property
    def few(self) -> int:
        """The first sends, no more than fit the connection's window, at every design point."""
        return max(1, min(FEW, self.description.via.window // self.packets,
                          self.regimes.send_only))

    @cached_property
    def o_s(self) -> Fraction:
        """o_s: the first sends."""
        return few_sends(self.curve.issued, self.curve.delay, self.few)

    @property
    def o_s_alone(self) -> Fraction:
        """o_s of a send to an empty queue, which has no descriptor to link to."""
        return Fraction(self.curve.step(0) - self.curve.delay)

    @property
    def delay(self) -> int:
        """The delay of the second round trips."""
        return self.delayed["delay"] * TICKS

    @cached_property
    def o_r(self) -> Fraction:
        """o_r: a round trip with the delay, without the delay and the send."""
        return receive_overhead(self.delayed["trips"], self.delay, self.o_s_alone)

    @cached_property
    def line(self) -> Line:
        """The line of a long stream."""
        return gap(self.curve, self.regimes)

    @property
    def g(self) -> Fraction:
        """g: its slope."""
        return self.line.slope

    @cached_property
    def half(self) -> Fraction:
        """Half a round trip."""
        return half_trip(self.trips["trips"]).mean

    @property
    def L(self) -> Fraction:
        """L: half a round trip without the overheads."""
        return flight(self.half, self.o_s_alone, self.o_r)
