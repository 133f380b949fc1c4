"""Figures of a run under load: goodput, shares, packets sent again."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ....host.endpoint import Flow
from ....layouts.description import Description
from ....layouts.trace import TICKS
from ...estimate.fairness import Fairness, fairness
from ...results.document import number
from ..common.bulk_report import size_text
from ..common.streams import plain_shares
from ..fields import figure

__all__ = ["COLUMNS", "LOTS_MOST", "MOST", "LoadCell", "cell", "count_of",
           "draw_goodput", "levels", "of_longest", "row", "sizes_of", "together", "with_most"]

LEAST, MOST = 24, 192
"""Messages of a flow."""
LOTS_MOST = 384
"""The most where several send to one over a layer whose messages arrive in lots, as those of Fast
Messages. A quarter of a sender's places comes back at
once, so its messages arrive a dozen at a time. Where the time over which shares are taken begins
and ends, a part of a dozen more or less is up to seven messages, however many there are in all: of
192 messages shares differ by 6 % for that alone, of 384 by 1 %."""


@dataclass(frozen=True, kw_only=True)
class LoadCell:
    """Figures of a run."""

    goodput: float = figure("bytes/cycle", "of all")
    each: Mapping[str, float] = figure("", "what each got, over a fair share")
    least: float = figure("", "the least of them")
    most: float = figure("", "the most of them")
    jain: float = figure("", "Jain's index of fairness")
    again: int = figure("", "packets sent again")
    returned: int = figure("", "packets returned for want of room")


COLUMNS = ("bytes/cycle", "least share", "most", "Jain", "again", "returned")


def sizes_of(description: Description) -> list[int]:
    """Sizes of messages: one that goes as words, and a packet or more of data."""
    return [size for size in (16, 1024) if size <= description.memory.bytes // 64]


def count_of(size: int, budget: int, most: int = MOST) -> int:
    """Messages of a flow of ``budget`` bytes."""
    return max(LEAST, min(most, budget // size))


def levels(most: int) -> list[int]:
    """Powers of two up to ``most``, and ``most``."""
    found = {most}
    level = 1
    while level < most:
        found.add(level)
        level *= 2
    return sorted(found)


def together(raw: Mapping[str, Any], by: int | None = 0) -> Fairness:
    """Returns what each got while all sent: each sender (``by`` = 0), each receiver (1), each flow
    (None), by the flows' order."""
    times: dict[int, list[int]] = {}
    begins: dict[int, int] = {}
    flows: Iterable[tuple[Flow, Sequence[int]]] = sorted(raw["arrived"].items())
    for index, (flow, each) in enumerate(flows):
        one = index if by is None else flow[by]
        times.setdefault(one, []).extend(each)
        begins[one] = max(begins.get(one, 0), raw["begin"][flow[0]])
    return fairness(begins, {one: sorted(each) for one, each in times.items()})


def cell(raw: Mapping[str, Any], size: int, shared: Fairness) -> LoadCell:
    """Figures of a run of messages of ``size`` bytes."""
    got = sum(shared.got.values(), Fraction(0))
    return LoadCell(goodput=number(size * got * TICKS / shared.length), **plain_shares(shared),
                    again=raw["again"], returned=raw["returned"])


def row(found: LoadCell) -> list[str]:
    """Cells of a table, under COLUMNS."""
    return [f"{found.goodput:.4f}",
            *(f"{share:.3f}" for share in (found.least, found.most, found.jain)),
            str(found.again), str(found.returned)]


def with_most(results: Mapping[str, Mapping[str, Any]]) -> list[tuple[str, str, Any]]:
    """Each size of ``results`` as people read it, how many there were at the most, and the figures
    with so many."""
    return [(size_text(int(size)), *list(by_count.items())[-1])
            for size, by_count in results.items()]


def of_longest(results: Mapping[str, Mapping[str, Any]], key: str) -> list[tuple[float, float]]:
    """The figure ``key`` with the longest messages, by how many there were."""
    return [(int(count), getattr(found, key))
            for count, found in list(results.values())[-1].items()]


def draw_goodput(figure: Any, results: Mapping[str, Mapping[str, LoadCell]], key: str,
                 clock: float) -> Any:
    """Draw what ``key`` is, in MB/s, over how many there were, a line for each size of
    ``results``; return the axes."""
    from ...results.plots import line

    axes = figure.add_subplot()
    for index, (size, by_count) in enumerate(results.items()):
        axes.plot([int(count) for count in by_count],
                  [getattr(found, key) * clock for found in by_count.values()],
                  label=size_text(int(size)), **line(index, len(results)))
    axes.set_xticks(sorted({int(count) for one in results.values() for count in one}))
    axes.set_ylim(bottom=0)
    axes.legend(loc="best")
    return axes
