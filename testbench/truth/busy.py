"""Intervals in which blocks served and CPUs worked, from events and marks."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from ...layouts.doors import NicDesign
from ...layouts.doors.trace_block import numbered
from ...layouts.trace import TICKS, Activity, Block, Event, Kind
from .spans import Span, polls_in

__all__ = ["Services", "cpu", "services", "union"]

_IDLE = {Activity.WINDOW_WAIT, Activity.COMPUTE, Activity.EMPTY_CHECK, Activity.BLOCKED}


def union(intervals: Iterable[tuple[int, int]], start: int, stop: int) -> int:
    """Ticks between ``start`` and ``stop`` that at least one of ``intervals`` covers."""
    total, reached = 0, start
    for begin, end in sorted(intervals):
        begin, end = max(begin, reached), min(end, stop)
        if end > begin:
            total += end - begin
            reached = end
    return total


@dataclass
class Services:
    """Intervals of service in ticks: by (block, node), for switch ports by (switch, port), and for
    the bus by (node, initiator)."""

    blocks: dict[tuple[int, int], list[tuple[int, int]]]
    ports: dict[tuple[int, int], list[tuple[int, int]]]
    initiators: dict[tuple[int, int], list[tuple[int, int]]]
    sources: dict[tuple[int, int], set[int]]
    """For a switch port: the nodes whose packets it served in the interval."""
    ways: dict[tuple[int, int], set[int]]
    """For a switch port: the packets themselves."""


def services(events: Iterable[Event], start: int, stop: int, design: NicDesign) -> Services:
    """Services that lie at least partly between ``start`` and ``stop`` ticks, of NICs of
    ``design``."""
    own = numbered(design.trace)
    arg_begins = {number for number, block in own.items() if block.begins_at_arg}
    stays = {number for number, block in own.items() if block.stays}
    open_: dict[tuple[int, int, int, int], int] = {}
    found = Services({}, {}, {}, {}, {})
    origin: dict[int, int] = {}
    fetched: dict[tuple[int, int, int], int] = {}
    for cycle, node, block, kind, number, arg in events:
        if kind == Kind.BEGIN and block == Block.SEND_LINK:
            origin.setdefault(number, node)
        port = arg if block == Block.SWITCH else 0
        key = (block, node, port, number)
        if kind == Kind.BEGIN:
            open_.setdefault(key, cycle)
            if block in arg_begins:
                fetched[block, node, number] = cycle - (cycle - arg & 0xFFFF_FFFF)
            continue
        begin = open_.pop(key, None) if kind == Kind.END else None
        if begin is not None and block in arg_begins:
            begin = fetched.pop((block, node, number), begin)
        if begin is None or cycle * TICKS <= start or begin * TICKS >= stop:
            continue
        interval = (begin * TICKS, cycle * TICKS)
        if block == Block.SWITCH:
            found.ports.setdefault((node, port), []).append(interval)
            found.ways.setdefault((node, port), set()).add(number)
            if number in origin:
                found.sources.setdefault((node, port), set()).add(origin[number])
        else:
            found.blocks.setdefault((block, node), []).append(interval)
            if block == Block.BUS:
                found.initiators.setdefault((node, arg), []).append(interval)
    for (block, node, *_), begin in open_.items():
        if block in stays and begin * TICKS < stop:
            found.blocks.setdefault((block, node), []).append((begin * TICKS, stop))
    return found


def cpu(found: Sequence[Span], node: int, start: int, stop: int) -> Fraction:
    """Busy share of the CPU of ``node``: its time without computation and waiting."""
    mine = [span for span in found if span.node == node]
    # The check that ends each request is work; a spin of a waiting program takes longer.
    checks = max((span.own for span in mine if span.activity == Activity.EMPTY_POLL
                  and span.number), default=-1)
    within = {id(poll) for _, poll in polls_in(mine, node)}
    waiting = {id(inner) for span in mine if span.activity == Activity.WINDOW_WAIT
               for inner in span.inner}
    own: list[tuple[int, int]] = []
    for span in mine:
        if span.activity in _IDLE or span.end <= start:
            continue
        if span.activity == Activity.EMPTY_POLL and id(span) not in within and (
                span.own > checks or id(span) in waiting):
            continue
        at = span.begin
        for inner in span.inner:  # nested spans count by themselves
            own.append((at, inner.begin))
            at = inner.end
        own.append((at, span.end))
    return Fraction(union(own, start, stop), stop - start)
