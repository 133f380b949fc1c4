"""The life of a message by stage, from its call to its handler's end, without gaps."""

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

from ...layouts.trace import TICKS, Activity, Block, Event, Kind
from .messages import Trip
from .spans import Span

__all__ = ["STAGES", "VIA_STAGES", "lives", "mean_life", "via_life", "via_lives"]

_STEPS = {
    (Block.SEND_PIO, Kind.END): "posted write, bus, send FIFO",
    (Block.SEND_DMA, Kind.END): "doorbell, descriptor, send DMA",
    (Block.H2N, Kind.BEGIN): "posted write, doorbell, firmware",
    (Block.H2N, Kind.END): "payload to NIC memory",
    (Block.NIC_SEND, Kind.BEGIN): "queue to the NIC, firmware: sending",
    (Block.NIC_SEND, Kind.END): "out of NIC memory",
    (Block.SEND_LINK, Kind.END): "uplink: waiting and serialising",
    (Block.SWITCH, Kind.END): "flight and switch",
    (Block.RECEIVE_LINK, Kind.END): "downlink and receive FIFO",
    (Block.RECEIVE_DMA, Kind.END): "receive DMA",
    (Block.NIC_RECEIVE, Kind.END): "into NIC memory",
    (Block.N2H, Kind.BEGIN): "firmware: receiving",
    (Block.N2H, Kind.END): "to host memory",
}
"""In order. If a step happens to several packets, or pieces, of a message, the last one counts."""

STAGES = ("send call", *_STEPS.values(), "landed, until the poll looks", "handling")
"""A stage ends when the message's last byte leaves it, so an overlapping stage counts only for the
time that it adds. The poll's stage is negative if its check had begun before the message
arrived."""

_SENDS = (Activity.REQUEST_SEND, Activity.REPLY_SEND, Activity.BULK_SEND)
_HANDLES = (Activity.REQUEST_HANDLE, Activity.REPLY_HANDLE, Activity.BULK_HANDLE)

_QUEUED = (("posted write, bus, doorbell", Block.DOORBELL),
           ("doorbell to the VI's turn", Block.VI_FETCH))
"""Events without a trace number, but with the work queue's; they are BEGINs of the sender."""

_SENDER, _RECEIVER, _BETWEEN = range(3)
_FLIGHT = (
    ("descriptor fetched", Block.VI_FETCH, Kind.END, _SENDER),
    ("data gathered into a slot", Block.VI_SEND, Kind.END, _SENDER),
    ("posted write, bus, send FIFO", Block.SEND_PIO, Kind.END, _SENDER),
    ("doorbell, ring's descriptor", Block.SEND_DMA, Kind.BEGIN, _SENDER),
    ("send DMA", Block.SEND_DMA, Kind.END, _SENDER),
    ("firmware: until the data are asked for", Block.H2N, Kind.BEGIN, _SENDER),
    ("descriptor, data to NIC memory", Block.H2N, Kind.END, _SENDER),
    ("firmware: until the packet is sent", Block.NIC_SEND, Kind.BEGIN, _SENDER),
    ("out of NIC memory", Block.NIC_SEND, Kind.END, _SENDER),
    ("waiting for the uplink", Block.SEND_LINK, Kind.BEGIN, _SENDER),
    ("uplink: serialising", Block.SEND_LINK, Kind.END, _SENDER),
    ("flight and switch", Block.SWITCH, Kind.END, _BETWEEN),
    ("downlink and receive FIFO", Block.RECEIVE_LINK, Kind.END, _RECEIVER),
    ("receive FIFO to receiver", Block.VI_RECEIVE, Kind.BEGIN, _RECEIVER),
    ("receiver: descriptor, data landed", Block.VI_RECEIVE, Kind.END, _RECEIVER),
    ("completion: status landed", Block.COMPLETION, Kind.END, _RECEIVER),
    ("receive DMA", Block.RECEIVE_DMA, Kind.END, _RECEIVER),
    ("into NIC memory", Block.NIC_RECEIVE, Kind.END, _RECEIVER),
    ("firmware: until it is written", Block.N2H, Kind.BEGIN, _RECEIVER),
    ("to host memory", Block.N2H, Kind.END, _RECEIVER),
)
"""In order. If a step happens to each packet, the last one counts; the descriptor is fetched
once."""

_UNTRACED = "not traced"
_AROUND = ("o_s: the send call", "landed, until the CPU looks", "o_r: the call that finds it")
VIA_STAGES = (_AROUND[0], *(name for name, _ in _QUEUED), *(name for name, *_ in _FLIGHT),
              _UNTRACED, *_AROUND[1:])
"""The life of a VI's message, with an engine and without. The stages between the first and the last
two add up to the flight."""


def lives(found: Sequence[Span], events: Iterable[Event], numbers: Iterable[int]
          ) -> list[dict[str, int]]:
    """Ticks by stage, in order, for each message of ``numbers`` that arrived. They add up to the
    time from its call to the end of its handling."""
    wanted = set(numbers)
    ends: dict[int, dict[tuple[int, int], int]] = {}
    for event in events:
        if event.number in wanted and (event.block, event.kind) in _STEPS:
            ends.setdefault(event.number, {})[event.block, event.kind] = event.cycle * TICKS
    sent = {span.number: span for span in reversed(found) if span.activity in _SENDS}
    taken = {span.number: span for span in reversed(found) if span.activity in _HANDLES}
    made = []
    for number in sorted(wanted):
        if number not in sent or number not in taken or number not in ends:
            continue
        begin, handle = sent[number], taken[number]
        at = begin.begin
        stages = {}

        def until(name: str, when: int, stages: dict[str, int] = stages) -> None:
            nonlocal at
            stages[name] = max(when - at, 0)
            at = max(when, at)

        until("send call", begin.end)
        for step, name in _STEPS.items():
            if step in ends[number]:
                until(name, ends[number][step])
        stages["landed, until the poll looks"] = handle.begin - at
        stages["handling"] = handle.end - handle.begin
        made.append(stages)
    return made


def via_lives(pairs: Sequence[Trip], events: Iterable[Event], client: int = 0, server: int = 1
              ) -> list[dict[str, int]]:
    """Ticks by stage of each message of ``pairs``, out and back in turn. They add up to its o_s,
    flight, seen and o_r."""
    ways = [(way, *ends) for pair in pairs
            for way, ends in ((pair.out, (client, server)), (pair.back, (server, client)))]
    wanted = {way.number for way, *_ in ways}
    seen: dict[int, list[Event]] = {}
    queued: dict[tuple[int, int, int], list[int]] = {}
    for event in events:
        if event.number in wanted:
            seen.setdefault(event.number, []).append(event)
        elif event.kind == Kind.BEGIN and event.block in (Block.DOORBELL, Block.VI_FETCH):
            queued.setdefault((event.block, event.node, event.arg), []).append(event.cycle)
    made = []
    for way, sender, receiver in ways:
        end = way.begin + way.o_s
        left = end - end % TICKS
        landed = left + way.flight
        mine = [event for event in seen.get(way.number, [])
                if way.begin <= event.cycle * TICKS <= landed]
        steps: list[tuple[str, int]] = []
        fetched = next((event for event in mine
                        if (event.block, event.kind) == (Block.VI_FETCH, Kind.END)), None)
        if fetched is not None:
            for name, block in _QUEUED:
                steps += [(name, cycle) for cycle in queued.get((block, sender, fetched.arg), [])
                          if left <= cycle * TICKS and cycle <= fetched.cycle][-1:]
        for name, block, kind, side in _FLIGHT:
            node = (sender, receiver, None)[side]
            cycles = [event.cycle for event in mine if (event.block, event.kind) == (block, kind)
                      and node in (None, event.node)]
            if cycles:
                steps.append((name, cycles[0] if block is Block.VI_FETCH else cycles[-1]))
        stages, at = {_AROUND[0]: way.o_s}, left
        for name, cycle in steps:
            stages[name] = max(cycle * TICKS - at, 0)
            at = max(cycle * TICKS, at)
        if at < landed:
            stages[_UNTRACED] = landed - at
        made.append({**stages, _AROUND[1]: way.seen, _AROUND[2]: way.o_r})
    return made


def via_life(pairs: Sequence[Trip], events: Iterable[Event]) -> list[dict[str, Fraction | str]]:
    """Mean cycles by stage of the messages of ``pairs``."""
    return mean_life(via_lives(pairs, events), VIA_STAGES)


def mean_life(each: Sequence[Mapping[str, int]], names: Sequence[str] = STAGES
              ) -> list[dict[str, Fraction | str]]:
    """Mean cycles by stage, in order."""
    found = []
    for name in names:
        values = [stages[name] for stages in each if name in stages]
        if values:
            found.append({"stage": name, "cycles": Fraction(sum(values), len(each) * TICKS)})
    return found
