"""Data frames of pandas, which is loaded when the first one is asked for."""

import importlib
from collections.abc import Iterable, Mapping, Sequence
from enum import IntEnum
from typing import Any

from ...layouts.trace import TICKS, Activity, Block, Event, Kind, Mark
from ..errors import UserError

__all__ = ["counter_frame", "event_frame", "frame", "mark_frame"]


def frame(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> Any:
    """A ``pandas.DataFrame`` of ``rows``.

    Raises
    ------
    UserError
        pandas is not installed.
    """
    try:
        pandas = importlib.import_module("pandas")
    except ImportError:
        raise UserError("data frames need pandas: pip install pandas, or nicbed[lab]",
                        status=1) from None
    return pandas.DataFrame(list(rows), columns=list(columns))


def _name(kind: type[IntEnum], value: int) -> str:
    """The name of ``value``, or its number if it has none."""
    return kind(value).name if value in kind._value2member_map_ else str(value)


def event_frame(events: Iterable[Event]) -> Any:
    """One row for each event: cycle, node (of SWITCH and TRUNK the switch), block, kind, number of
    the message, arg."""
    return frame(["cycle", "node", "block", "kind", "number", "arg"],
                 ((one.cycle, one.node, _name(Block, one.block), _name(Kind, one.kind), one.number,
                   one.arg) for one in events))


def mark_frame(marks: Iterable[Mark]) -> Any:
    """One row for each mark: cycle with its fraction, ticks (1/256 cycle), node, cpu, activity,
    kind, number."""
    return frame(["cycle", "ticks", "node", "cpu", "activity", "kind", "number"],
                 ((one.ticks / TICKS, one.ticks, one.node, one.cpu, _name(Activity, one.activity),
                   _name(Kind, one.kind), one.number) for one in marks))


def counter_frame(counters: Sequence[Mapping[str, int]], cpus: int) -> Any:
    """One row for each node, CPU and cost item: how often the CPU was charged it."""
    return frame(["node", "cpu", "item", "count"],
                 ((index // cpus, index % cpus, item, count)
                  for index, mine in enumerate(counters) for item, count in sorted(mine.items())))
