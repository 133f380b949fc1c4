"""The life of a message by stage, from its call to its handler's end, without gaps."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

from ...layouts.doors import NicDesign
from ...layouts.doors.trace_block import RECEIVING, SENDING
from ...layouts.doors.trace_stage import Pick, TraceStage
from ...layouts.trace import TICKS, Activity, Block, Event, Kind
from .messages import Trip
from .spans import Span

__all__ = ["flight_stages", "lives", "mean_life", "one_way_stages", "request_stages", "via_life",
           "via_lives"]

_SENDS = (Activity.REQUEST_SEND, Activity.REPLY_SEND, Activity.BULK_SEND)
_HANDLES = (Activity.REQUEST_HANDLE, Activity.REPLY_HANDLE, Activity.BULK_HANDLE)

_CALL, _LANDED, _HANDLING = "send call", "landed, until the poll looks", "handling"
_UNTRACED = "not traced"
_AROUND = ("o_s: the send call", "landed, until the CPU looks", "o_r: the call that finds it")

_BETWEEN = "between the NICs"
_SWITCH = TraceStage("flight and switch", Block.SWITCH, Kind.END, _BETWEEN)
_DOWNLINK = TraceStage("downlink and receive FIFO", Block.RECEIVE_LINK, Kind.END, RECEIVING)
_REQUESTS_WIRE = (
    TraceStage("uplink: waiting and serialising", Block.SEND_LINK, Kind.END, SENDING),
    _SWITCH, _DOWNLINK)
_ONE_WAY_WIRE = (TraceStage("waiting for the uplink", Block.SEND_LINK, Kind.BEGIN, SENDING),
                 TraceStage("uplink: serialising", Block.SEND_LINK, Kind.END, SENDING),
                 _SWITCH, _DOWNLINK)


def flight_stages(design: NicDesign, *, requests: bool) -> tuple[TraceStage, ...]:
    """The stages of a message's flight between two NICs of ``design``, in order: the sender's, the
    wire's, the receiver's. If a stage happens to each packet, or piece, of a message, the last one
    counts. Stages of one name are one to whoever reads the breakdown: their times add up."""
    own = design.stages(requests=requests)
    return (*(stage for stage in own if stage.side == SENDING),
            *(_REQUESTS_WIRE if requests else _ONE_WAY_WIRE),
            *(stage for stage in own if stage.side == RECEIVING))


def request_stages(design: NicDesign) -> tuple[str, ...]:
    """The stages of a request or a reply, and of its CPUs before and behind.

    A stage ends when the message's last byte leaves it, so an overlapping stage counts only for the
    time that it adds. The poll's stage is negative if its check had begun before the message
    arrived."""
    names = (stage.name for stage in flight_stages(design, requests=True))
    return _once(_CALL, *names, _LANDED, _HANDLING)


def one_way_stages(design: NicDesign) -> tuple[str, ...]:
    """The stages of a message one way. Those between the first and the last two add up to the
    flight."""
    names = (stage.name for stage in flight_stages(design, requests=False))
    return _once(_AROUND[0], *names, _UNTRACED, *_AROUND[1:])


def _once(*names: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))


def lives(found: Sequence[Span], events: Iterable[Event], numbers: Iterable[int],
          design: NicDesign) -> list[dict[str, int]]:
    """Ticks by stage, in order, for each message of ``numbers`` that arrived. They add up to the
    time from its call to the end of its handling. One between CPUs of a node has landed with its
    last store."""
    wanted = set(numbers)
    steps = flight_stages(design, requests=True)
    traced = {(step.block, step.kind) for step in steps}
    both = {step.block for step in steps if step.side == SENDING} & {
        step.block for step in steps if step.side == RECEIVING}
    ends: dict[int, dict[tuple[int, int, str], int]] = {}
    origin: dict[int, int] = {}
    for event in events:
        if event.number in wanted:
            sends = event.node == origin.setdefault(event.number, event.node)
            if (event.block, event.kind) in traced:
                side = "" if event.block not in both else SENDING if sends else RECEIVING
                ends.setdefault(event.number, {})[event.block, event.kind, side] = (
                    event.cycle * TICKS)
    sent = {span.number: span for span in reversed(found) if span.activity in _SENDS}
    taken = {span.number: span for span in reversed(found) if span.activity in _HANDLES}
    made = []
    for number in sorted(wanted):
        if number not in sent or number not in taken:
            continue
        begin, handle = sent[number], taken[number]
        at = begin.begin
        stages: Counter[str] = Counter()

        def until(name: str, when: int, stages: Counter[str] = stages) -> None:
            nonlocal at
            stages[name] += max(when - at, 0)
            at = max(when, at)

        until(_CALL, begin.end)
        for step in steps:
            key = (step.block, step.kind, step.side if step.block in both else "")
            if key in ends.get(number, ()):
                until(step.name, ends[number][key])
        stages[_LANDED] += handle.begin - at
        stages[_HANDLING] += handle.end - handle.begin
        made.append(dict(stages))
    return made


def via_lives(pairs: Sequence[Trip], events: Iterable[Event], design: NicDesign, client: int = 0,
              server: int = 1) -> list[dict[str, int]]:
    """Ticks by stage of each message of ``pairs``, out and back in turn. They add up to its o_s,
    flight, seen and o_r."""
    flight = flight_stages(design, requests=False)
    in_queue = {(step.block, step.kind) for step in flight if step.pick is Pick.QUEUE}
    first = {(step.block, step.kind) for step in flight if step.pick is Pick.FIRST}
    ways = [(way, *ends) for pair in pairs
            for way, ends in ((pair.out, (client, server)), (pair.back, (server, client)))]
    wanted = {way.number for way, *_ in ways}
    seen: dict[int, list[Event]] = {}
    queued: dict[tuple[int, int, int], list[int]] = {}
    for event in events:
        if event.number in wanted:
            seen.setdefault(event.number, []).append(event)
        elif (event.block, event.kind) in in_queue:
            queued.setdefault((event.block, event.node, event.arg), []).append(event.cycle)
    made = []
    for way, sender, receiver in ways:
        end = way.begin + way.o_s
        left = end - end % TICKS
        landed = left + way.flight
        mine = [event for event in seen.get(way.number, [])
                if way.begin <= event.cycle * TICKS <= landed]
        steps: list[tuple[str, int]] = []
        fetched = next((event for event in mine if (event.block, event.kind) in first), None)
        for step in flight:
            if step.pick is Pick.QUEUE:
                if fetched is not None:
                    steps += [(step.name, cycle)
                              for cycle in queued.get((step.block, sender, fetched.arg), [])
                              if left <= cycle * TICKS and cycle <= fetched.cycle][-1:]
                continue
            node = {SENDING: sender, RECEIVING: receiver}.get(step.side)
            cycles = [event.cycle for event in mine
                      if (event.block, event.kind) == (step.block, step.kind)
                      and node in (None, event.node)]
            if cycles:
                steps.append((step.name, cycles[0 if step.pick is Pick.FIRST else -1]))
        stages, at = Counter({_AROUND[0]: way.o_s}), left
        for name, cycle in steps:
            stages[name] += max(cycle * TICKS - at, 0)
            at = max(cycle * TICKS, at)
        if at < landed:
            stages[_UNTRACED] += landed - at
        stages[_AROUND[1]] += way.seen
        stages[_AROUND[2]] += way.o_r
        made.append(dict(stages))
    return made


def via_life(pairs: Sequence[Trip], events: Iterable[Event], design: NicDesign
             ) -> list[dict[str, Fraction | str]]:
    """Mean cycles by stage of the messages of ``pairs``."""
    return mean_life(via_lives(pairs, events, design), one_way_stages(design))


def mean_life(each: Sequence[Mapping[str, int]], names: Sequence[str]
              ) -> list[dict[str, Fraction | str]]:
    """Mean cycles of the stages ``names``."""
    found = []
    for name in names:
        values = [stages[name] for stages in each if name in stages]
        if values:
            found.append({"stage": name, "cycles": Fraction(sum(values), len(each) * TICKS)})
    return found
