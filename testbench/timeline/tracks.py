"""Events and marks of a run as slices, instants and counts on tracks.

A track is a place in the machine: a CPU, a block of a NIC, an output of a switch. A block may serve
several messages at once; its slices then lie on several lanes, so that those of a lane nest.
"""

from bisect import insort
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from ...layouts.description import Description
from ...layouts.doors import DoorError
from ...layouts.doors.trace_block import TraceBlock, numbered
from ...layouts.trace import (
    OF_NODES,
    OF_SWITCHES,
    PORT_SHIFT,
    TICKS,
    Activity,
    Block,
    Event,
    Kind,
    Mark,
)
from ..truth.spans import spans

__all__ = ["Count", "Instant", "Slice", "Track", "counts", "instants", "rank", "slices"]

_BLOCKS: dict[int, str] = {
    Block.BUS: "bus",
    Block.SEND_PIO: "send window",
    Block.SEND_DMA: "send DMA",
    Block.SEND_LINK: "uplink",
    Block.RECEIVE_LINK: "downlink, receive FIFO",
    Block.RECEIVE_DMA: "receive DMA",
    Block.RECEIVE_PIO: "receive window",
    Block.MEMORY: "memory port",
    Block.FAULT: "fault injector",
    Block.DOORBELL: "doorbells",
    Block.VI_FETCH: "VI fetch",
    Block.VI_SEND: "VI send",
    Block.VI_RECEIVE: "VI receive",
    Block.TRANSLATION: "translation",
    Block.COMPLETION: "completion",
    Block.FIRMWARE: "firmware",
    Block.H2N: "H2N",
    Block.N2H: "N2H",
    Block.NIC_SEND: "out of NIC memory",
    Block.NIC_RECEIVE: "into NIC memory",
    Block.PROCESSOR: "NIC processor",
    Block.WATCH: "watch",
}
_POINTS = {Block.DOORBELL: "token", Block.WATCH: "line taken"}
"""Blocks whose events are points in time: a BEGIN without END."""
_NAMED: dict[int, str] = {Block.PROCESSOR: "awake", Block.MEMORY: "taken",
                          Block.TRANSLATION: "table walk"}
_DROPS = ("overflow", "CRC", "misrouted", "malformed", "injected", "refused")

_IN, _OUT = 1, -1
_Ways = tuple[tuple[str, str, dict[tuple[int, int], int]], ...]
_FILLS: _Ways = (
    ("send FIFO", "packets",
     {(Block.SEND_PIO, Kind.BEGIN): _IN, (Block.SEND_DMA, Kind.BEGIN): _IN,
      (Block.SEND_LINK, Kind.END): _OUT}),
    ("receive FIFO", "packets",
     {(Block.RECEIVE_LINK, Kind.END): _IN, (Block.RECEIVE_DMA, Kind.END): _OUT,
      (Block.RECEIVE_PIO, Kind.END): _OUT, (Block.VI_RECEIVE, Kind.END): _OUT,
      (Block.VI_RECEIVE, Kind.DROP): _OUT, (Block.NIC_RECEIVE, Kind.END): _OUT,
      (Block.NIC_RECEIVE, Kind.DROP): _OUT}),
)
"""What a NIC holds: its name, unit, and the events by which a packet comes and goes."""
_CREDITS: _Ways = (
    ("credits in use", "requests",
     {(Activity.REQUEST_SEND, Kind.END): _IN, (Activity.REPLY_HANDLE, Kind.BEGIN): _OUT}),
    ("sends not completed", "sends",
     {(Activity.POST_SEND, Kind.END): _IN, (Activity.SEND_COMPLETE, Kind.END): _OUT}),
)
"""What a node's program has open: requests of Active Messages without reply, sends of VIA."""


_COUNTED = [name for name, *_ in (*_FILLS, *_CREDITS)]
_ORDER = ("CPU", "NIC", "node", "switch", "output", "link behind output")


class Track(NamedTuple):
    """The names of a place, from the outermost: ("node 0", "CPU 0"). ``lane`` numbers the parallel
    tracks of that place."""

    path: tuple[str, ...]
    lane: int = 0


@dataclass(frozen=True)
class Slice:
    """``name`` on ``track`` from ``begin`` to ``end`` ticks. ``flow``: the message, 0 if none."""

    track: Track
    begin: int
    end: int
    name: str
    kind: str
    """Its category: the block's or the activity's name in the trace."""
    flow: int = 0
    ended: bool = True
    """False if the run ended first."""


@dataclass(frozen=True)
class Instant:
    """``name`` on ``track`` at ``at`` ticks, of message ``flow``."""

    track: Track
    at: int
    name: str
    kind: str
    flow: int = 0


@dataclass(frozen=True)
class Count:
    """The value of counter ``track`` from ``at`` ticks on: ``value`` of ``unit``."""

    track: Track
    at: int
    value: int
    unit: str


def slices(description: Description, events: Iterable[Event], marks: Iterable[Mark], end: int
           ) -> list[Slice]:
    """The services of all blocks and the activities of all CPUs in a run that ended at cycle
    ``end``, by their begins; those that enclose others come first."""
    found = _activities(marks)
    lanes = _Lanes()
    early = {number for number, block in numbered(description.design.trace).items()
             if block.begins_at_arg}

    def begun(event: Event) -> int:
        return event.cycle - (event.cycle - event.arg & 0xFFFF_FFFF if event.block in early else 0)
    for first, last in sorted(_served(events, end), key=lambda pair: (begun(pair[0]),
                                                                      -pair[1].cycle)):
        begin, over = begun(first) * TICKS, last.cycle * TICKS
        path = _place(description, first)
        found.append(Slice(Track(path, lanes.take(path, begin, over)), begin, over,
                           _service(first), _category(description, first.block), first.number,
                           last.kind == Kind.END))
    return sorted(found, key=lambda one: (one.begin, -one.end))


def instants(description: Description, events: Iterable[Event]) -> list[Instant]:
    """Packets that were dropped, damaged, doubled, delayed or sent again; doorbells' tokens, and
    lines taken from a watch."""
    return [Instant(Track(_place(description, event)), event.cycle * TICKS, _incident(event),
                    Kind(event.kind).name, event.number)
            for event in events if event.kind > Kind.END or event.block in _POINTS]


def counts(description: Description, events: Iterable[Event], marks: Iterable[Mark]
           ) -> list[Count]:
    """Returns how many packets each FIFO of a NIC holds, and what each program has open, whenever
    it changes."""
    steps = [(event.cycle * TICKS, _nic(description, event.node), name, unit, ways[key],
              event.number)
             for event in events for name, unit, ways in _FILLS
             if (key := (event.block, event.kind)) in ways]
    steps += [(mark.ticks, (f"node {mark.node}",), name, unit, ways[key], None)
              for mark in marks for name, unit, ways in _CREDITS
              if (key := (mark.activity, mark.kind)) in ways]
    inside: dict[tuple[str, ...], list[int | None]] = {}
    found: dict[tuple[Track, int], Count] = {}
    for at, place, name, unit, way, number in sorted(steps, key=lambda step: step[0]):
        path = (*place, name)
        held = inside.setdefault(path, [])
        if way == _IN:
            held.append(number)
        elif number in held:  # else it went past this FIFO
            held.remove(number)
        else:
            continue
        track = Track(path)
        found.pop((track, at), None)
        found[track, at] = Count(track, at, len(held), unit)
    return list(found.values())


def rank(path: tuple[str, ...]) -> int:
    """Tells where a place stands among those that belong to the same one: nodes before switches,
    and in a node CPUs, what is counted, NICs, then blocks in the order of a message's way."""
    name, _, number = path[-1].rpartition(" ")
    if name in _ORDER and number.isdigit():
        return _ORDER.index(name) * 1000 + int(number)
    places = [*_COUNTED, *_BLOCKS.values()]
    return len(_ORDER) * 1000 + places.index(path[-1]) if path[-1] in places else 0


def _activities(marks: Iterable[Mark]) -> list[Slice]:
    return [Slice(Track((f"node {span.node}", f"CPU {span.cpu}")), span.begin, span.end,
                  Activity(span.activity).name.lower().replace("_", " "),
                  Activity(span.activity).name, span.number if _is_message(span.activity) else 0)
            for span in spans((mark for mark in marks if mark.kind <= Kind.END), steps=True)]


def _is_message(activity: int) -> bool:
    """Whether the number of an activity's marks is a message's."""
    return activity not in (Activity.COMPUTE, Activity.COMMUNICATE, Activity.EMPTY_POLL)


def _served(events: Iterable[Event], end: int) -> Iterable[tuple[Event, Event]]:
    """BEGIN and END of each service. What the run's end cut off ends there, by another kind."""
    waiting: dict[tuple[int, int, int, int], deque[Event]] = {}
    for event in events:
        if event.block in _POINTS:
            continue
        port = event.arg if event.block in OF_SWITCHES else 0
        key = (event.block, event.node, port, event.number)
        if event.kind == Kind.BEGIN:
            waiting.setdefault(key, deque()).append(event)
        elif event.kind in (Kind.END, Kind.DROP) and waiting.get(key):
            yield waiting[key].popleft(), event._replace(kind=Kind.END)
    for begun in waiting.values():
        for event in begun:
            yield event, event._replace(cycle=max(end, event.cycle), kind=Kind.BEGIN)


def _service(event: Event) -> str:
    if event.block == Block.BUS:
        return (f"CPU {event.arg >> PORT_SHIFT}" if not event.arg & (1 << PORT_SHIFT) - 1
                else f"DMA engine {event.arg}")
    return _NAMED.get(event.block) or f"message {event.number}"


def _incident(event: Event) -> str:
    if event.block in _POINTS:
        return f"{_POINTS[Block(event.block)]} {event.arg:#x}"
    if event.kind == Kind.DROP and event.arg < len(_DROPS):
        return f"dropped: {_DROPS[event.arg]}"
    return {Kind.DROP: "dropped", Kind.CORRUPT: "corrupted", Kind.DUPLICATE: "duplicated",
            Kind.DELAY: "delayed", Kind.AGAIN: "sent again"}[Kind(event.kind)]


def _nic(description: Description, address: int) -> tuple[str, ...]:
    """The place of the NIC with a wire address."""
    nics = description.node.nics
    node = (f"node {address // nics}",)
    return node if nics == 1 else (*node, f"NIC {address % nics}")


def _place(description: Description, event: Event) -> tuple[str, ...]:
    if event.block in OF_SWITCHES:
        return (f"switch {event.node}",
                f"{'output' if event.block == Block.SWITCH else 'link behind output'} {event.arg}")
    place = (f"node {event.node}",) if event.block in OF_NODES else _nic(description, event.node)
    own = _own(description, event.block)
    if own is None and event.block not in _BLOCKS:
        raise DoorError(f"NIC design {description.design.name!r} has no block of number "
                        f"{event.block}, whose events are in the trace")
    return (*place, _BLOCKS[event.block] if own is None else own.title)


def _own(description: Description, block: int) -> TraceBlock | None:
    """The block of the NIC design that has this number, if the number was given out."""
    return None if block in _BLOCKS else numbered(description.design.trace).get(block)


def _category(description: Description, block: int) -> str:
    own = _own(description, block)
    return Block(block).name if own is None else own.name


class _Lanes:
    """Hands each slice the first lane of its place on which it lies beside, or inside, what is
    there."""

    def __init__(self) -> None:
        self._open: dict[tuple[str, ...], list[list[int]]] = {}

    def take(self, path: tuple[str, ...], begin: int, end: int) -> int:
        lanes = self._open.setdefault(path, [])
        for number, ends in enumerate(lanes):
            while ends and ends[0] <= begin:
                ends.pop(0)
            if not ends or end <= ends[0]:
                insort(ends, end)
                return number
        lanes.append([end])
        return len(lanes) - 1
