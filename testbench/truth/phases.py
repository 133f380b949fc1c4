"""Phases of a program: how long each took on each node, and what the CPU did in it, from marks
alone."""

from collections.abc import Iterable
from dataclasses import dataclass

from ...layouts.trace import Activity
from .spans import Span

__all__ = ["PHASES", "PhaseTime", "phases"]

PHASES = (Activity.COMPUTE, Activity.COMMUNICATE)
_WAITING = (Activity.EMPTY_POLL, Activity.WINDOW_WAIT)


@dataclass(slots=True)
class PhaseTime:
    """Ticks of a phase on a node, all its times together.

    Attributes
    ----------
    own
        What belongs to the program itself: no layer's activity.
    messages
        Sending and handling messages, and what else the layer did.
    waiting
        Polls that found nothing, and waits for the window.
    """

    own: int = 0
    messages: int = 0
    waiting: int = 0

    @property
    def whole(self) -> int:
        """All ticks of the phase."""
        return self.own + self.messages + self.waiting

    def add(self, span: Span) -> None:
        """Add the parts of a span inside the phase."""
        if span.activity in _WAITING:
            self.waiting += span.own
        else:
            self.messages += span.own
        for inner in span.inner:
            self.add(inner)


def phases(found: Iterable[Span]) -> tuple[dict[tuple[int, int, int], PhaseTime],
                                           dict[int, tuple[int, int]]]:
    """Times by (node, activity, number of the phase), and by node the ticks at which its first
    phase began and its last one ended."""
    times: dict[tuple[int, int, int], PhaseTime] = {}
    limits: dict[int, tuple[int, int]] = {}
    for span in found:
        if span.activity not in PHASES:
            continue
        one = times.setdefault((span.node, span.activity, span.number), PhaseTime())
        one.own += span.own
        for inner in span.inner:
            one.add(inner)
        begin, _ = limits.get(span.node, (span.begin, 0))
        limits[span.node] = (begin, span.end)
    return times, limits
