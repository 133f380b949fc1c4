"""The activity of each CPU over time: marks paired into spans."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from ...layouts.trace import Activity, Kind, Mark

__all__ = ["STEPS", "Span", "moves", "polls_in", "spans"]

STEPS = frozenset({Activity.CHECK, Activity.ADVANCE, Activity.CLAIM, Activity.FILL})
"""Activities into which a send is divided: its time is theirs, and none is beside it."""
_MOVING = frozenset({Activity.LOOK, Activity.MOVE})


@dataclass(slots=True)
class Span:
    """An activity of a CPU from ``begin`` to ``end`` ticks; ``inner``: the spans nested in it."""

    node: int
    cpu: int
    activity: int
    number: int
    begin: int
    end: int = 0
    inner: list["Span"] = field(default_factory=list)

    @property
    def own(self) -> int:
        """Ticks of the span outside of nested spans."""
        return self.end - self.begin - sum(span.end - span.begin for span in self.inner)

    def find(self, activity: Activity) -> "Span | None":
        """The first nested span of ``activity``, however deep."""
        for span in self.inner:
            if span.activity == activity:
                return span
            deeper = span.find(activity)
            if deeper:
                return deeper
        return None


def spans(marks: Iterable[Mark], *, steps: bool = False) -> list[Span]:
    """All spans of programs in the order in which they began. Spans of one CPU nest. Those of
    message processors are not among them: :func:`moves`. ``steps``: with those of STEPS.

    Raises
    ------
    ValueError
        A span ends that never began, or ends before one nested in it.
    """
    found: list[Span] = []
    stacks: dict[tuple[int, int], list[Span]] = {}
    left_out = _MOVING if steps else _MOVING | STEPS
    for ticks, node, cpu, activity, kind, number in marks:
        if activity in left_out:
            continue
        stack = stacks.setdefault((node, cpu), [])
        if kind == Kind.BEGIN:
            span = Span(node, cpu, activity, number, ticks)
            if stack:
                stack[-1].inner.append(span)
            stack.append(span)
            found.append(span)
        elif kind == Kind.END:
            if not stack or stack[-1].activity != activity:
                raise ValueError(f"node {node}: {Activity(activity).name} ends at tick {ticks} "
                                 f"inside {Activity(stack[-1].activity).name if stack else 'none'}")
            stack.pop().end = ticks
    for stack in stacks.values():
        for span in stack:  # cut off by the end of the run
            span.end = max([span.begin, *(inner.end for inner in span.inner)])
    return found


def polls_in(found: Iterable[Span], node: int) -> list[tuple[Span, Span]]:
    """The polls with which requests of ``node`` began and that found nothing, each with the
    request: a layer may look before it sends. Later ones wait for room."""
    return [(span, span.inner[0]) for span in found
            if span.node == node and span.activity == Activity.REQUEST_SEND and span.inner
            and span.inner[0].activity == Activity.EMPTY_POLL]


def moves(marks: Iterable[Mark]) -> list[Span]:
    """The messages that message processors moved."""
    found: list[Span] = []
    open_spans: dict[tuple[int, int], Span] = {}
    for ticks, node, cpu, activity, kind, number in marks:
        if activity == Activity.MOVE and kind == Kind.BEGIN:
            open_spans[node, cpu] = Span(node, cpu, activity, number, ticks)
        elif activity == Activity.MOVE and (span := open_spans.pop((node, cpu), None)):
            span.end = ticks
            found.append(span)
    return found
