"""Splits a rank's time in a ping-pong or a stream: parts of the library, the channel, waiting.

The rank's CPU is always in one of these: it copies, it registers memory, it is in a call of the
channel, it waits for a message, or it runs the library's own code. The last is what its paths were
charged, so it is known twice: from the marks, and from the counts.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass
from fractions import Fraction
from typing import Any

from ....host.mpi.costs import PARTS
from ....host.port.costs import Costs
from ....layouts.description import Description
from ....layouts.trace import TICKS, Activity, Mark
from ...results.tables import amount, table
from ...truth.spans import spans
from ..fields import figure

__all__ = ["PARTS_SHOWN", "Parts", "by_kind", "parts_table", "split"]

PARTS_SHOWN = {"calls": "calls", "matching": "matching", "protocol": "packets and protocol",
               "registration": "registration", "copies": "copies",
               "channel": "calls of the channel", "waiting": "waiting"}
_KINDS = {Activity.COPY: "copies", Activity.REGISTER: "registration",
          Activity.COMMUNICATE: "library", Activity.COMPUTE: "library",
          Activity.EMPTY_CHECK: "waiting", Activity.BLOCKED: "waiting"}
"""Of a span's own time. All others are the channel's."""


@dataclass(frozen=True, kw_only=True)
class Parts:
    """A rank's time in a round trip, or for a message, by part."""

    calls: float = figure("cycles", "MPI's calls")
    matching: float = figure("cycles", "matching of messages and receives")
    protocol: float = figure("cycles", "packets and the protocol")
    registration: float = figure("cycles", "registration of memory")
    copies: float = figure("cycles", "copies of data")
    channel: float = figure("cycles", "calls of the channel")
    waiting: float = figure("cycles", "waiting for a message")

    @property
    def whole(self) -> float:
        """All of them together."""
        return sum(astuple(self))


def split(run: Mapping[str, Any], description: Description, trips: int, node: int = 0
          ) -> tuple[dict[str, Fraction], str]:
    """Target cycles of each part at ``node``, for each of ``trips`` round trips or messages; and
    what the marks and the counts do not agree on, "" if nothing."""
    begin, end = run["begin"], run["end"]
    found = by_kind(run["spans"], node, [(begin, end)])
    costs = Costs(description)
    scale = description.mpi.path_scale
    charged = {part: sum((costs.ticks(costs.cycles(path, scale)) * run["charged"].get(path.name, 0)
                          for path in paths), Fraction(0)) for part, paths in PARTS.items()}
    own = found.pop("library", Fraction(0))
    said = sum(charged.values())
    off = abs(own - said)
    parts = {**charged, "copies": found.get("copies", 0), "channel": found.get("channel", 0),
             "waiting": found.get("waiting", 0)}
    parts["registration"] += found.get("registration", 0)
    # What the marks have beyond the counts stays visible: it is in no part.
    return ({name: Fraction(value) / TICKS / trips for name, value in parts.items()},
            "" if off <= 2 * trips * TICKS else
            f"{float(own / TICKS / trips):.2f} cycles by the marks, "
            f"{float(said / TICKS / trips):.2f} by the counts")


def by_kind(marks: Iterable[Mark], node: int, times_of: Sequence[tuple[int, int]]
            ) -> dict[str, Fraction]:
    """Ticks of ``node`` in all of ``times_of``, each from its begin to its end, by kind; what is in
    no span is the library's."""
    times: dict[str, Fraction] = {}
    whole = 0
    for span in spans(mark for mark in marks if mark.node == node):
        if any(begin <= span.begin and span.end <= end for begin, end in times_of):
            kind = _KINDS.get(Activity(span.activity), "channel")
            times[kind] = times.get(kind, Fraction(0)) + span.own
            whole += span.own
    times["library"] = times.get("library", Fraction(0)) - whole + sum(
        end - begin for begin, end in times_of)
    return times


def parts_table(title: str, whole: str, parts: Mapping[str, Parts]) -> Any:
    """A column for each of ``parts``, and their sums, which are ``whole``."""
    rows = [(text, *(amount(getattr(one, name)) for one in parts.values()))
            for name, text in PARTS_SHOWN.items()]
    rows.append((whole, *(amount(one.whole) for one in parts.values())))
    return table(title, ["", *parts], rows)
