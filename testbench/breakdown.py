"""The life of a message by stage: from its call to its handler's end, without a gap."""

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

from ..layouts.trace import TICKS, Activity, Block, Event, Kind
from .truth.spans import Span

__all__ = ["STAGES", "lives", "mean_life"]

_END_STAGES = {
    Block.SEND_PIO: "posted write, bus, send FIFO",
    Block.SEND_DMA: "doorbell, descriptor, send DMA",
    Block.SEND_LINK: "uplink: waiting and serialising",
    Block.SWITCH: "flight and switch",
    Block.RECEIVE_LINK: "downlink and receive FIFO",
    Block.RECEIVE_DMA: "receive DMA",
}

STAGES = ("send call", *_END_STAGES.values(), "landed, until the poll looks", "handling")
"""A stage ends when the message's last byte leaves it, so stages that overlap are each counted only
for what they add. The poll's stage is negative when its check had begun before the landing."""

_SENDS = (Activity.REQUEST_SEND, Activity.REPLY_SEND, Activity.BULK_SEND)
_HANDLES = (Activity.REQUEST_HANDLE, Activity.REPLY_HANDLE, Activity.BULK_HANDLE)


def lives(found: Sequence[Span], events: Iterable[Event], numbers: Iterable[int]
          ) -> list[dict[str, int]]:
    """For each message of ``numbers`` that arrived, ticks by stage, in order. They add up to the
    time from its call to the end of its handling."""
    wanted = set(numbers)
    ends: dict[int, dict[int, int]] = {}
    for event in events:
        if event.kind == Kind.END and event.number in wanted and event.block in _END_STAGES:
            ends.setdefault(event.number, {})[event.block] = event.cycle * TICKS
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
        for block, name in _END_STAGES.items():
            if block in ends[number]:
                until(name, ends[number][block])
        stages["landed, until the poll looks"] = handle.begin - at
        stages["handling"] = handle.end - handle.begin
        made.append(stages)
    return made


def mean_life(each: Sequence[Mapping[str, int]]) -> list[dict[str, Fraction | str]]:
    """Mean cycles by stage, in order."""
    found = []
    for name in STAGES:
        values = [stages[name] for stages in each if name in stages]
        if values:
            found.append({"stage": name, "cycles": Fraction(sum(values), len(each) * TICKS)})
    return found
