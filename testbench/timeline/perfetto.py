"""The tracks of one or more runs in a file that ui.perfetto.dev opens.

Perfetto's time is in nanoseconds of the target, rounded down. The exact cycles stand beside each
slice, in fractions of a cycle where a CPU's clock is another than the target's.
"""

import os
from collections.abc import Iterable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...layouts.description import Description
from ...layouts.trace import TICKS, Event, Mark
from .tracks import Count, Instant, Slice, Track, counts, instants, rank, slices

if TYPE_CHECKING:
    from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import TracePacket

__all__ = ["MOST", "Timeline"]

MOST = 1_000_000
"""Slices in a file. Runs that would exceed it are left out: the page that shows the file keeps all
of it in memory."""
_SEQUENCE = 1
_FLOWS = 32
"""Bits of a flow's number that are the message's; above them is the run's."""


class Timeline:
    """A file with the tracks of runs, one run after the other.

    Parameters
    ----------
    path
        The file. It appears under this name when the time line is closed.
    """

    def __init__(self, path: Path) -> None:
        from perfetto.trace_builder.proto_builder import StreamingTraceProtoBuilder

        self.path = path
        self._part = path.with_name(path.name + ".part")
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = self._part.open("wb")
        self._builder = StreamingTraceProtoBuilder(self._file)
        self._uuids: dict[tuple[tuple[str, ...], int], int] = {}
        self._counters: set[Track] = set()
        self._at = 0
        self.runs = 0
        self.slices = 0
        self.left_out = 0
        """Runs that did not fit."""

    def add(self, description: Description, cycles: int, events: Sequence[Event],
            marks: Sequence[Mark]) -> None:
        """Append a run on ``description`` that ended at ``cycles``."""
        served = slices(description, events, marks, cycles)
        if self.slices + len(served) > MOST:
            self.left_out += 1
            return
        self.runs += 1
        self.slices += len(served)
        clock = _Clock(self._at, description.nic.clock_mhz)
        changes = counts(description, events, marks)
        fresh = {change.track: Count(change.track, 0, 0, change.unit) for change in changes}
        whole = Slice(Track(("runs",)), 0, max([cycles * TICKS, *(one.end for one in served)]),
                      f"run {self.runs}", "RUN")
        self._describe({one.track: None for one in [whole, *served]})
        found = instants(description, events)
        self._describe({one.track: None for one in found})
        for change in fresh.values():
            self._describe({change.track: change.unit})
        steps = [*_steps([whole, *served]),
                 *(((one.at, 1, 0, 0), one) for one in [*found, *fresh.values(), *changes])]
        for key, one in sorted(steps, key=lambda step: step[0]):
            self._write(one, key, clock)
        self._at = clock.nanoseconds(whole.end) + 1000  # a gap that the eye sees

    def close(self) -> list[str]:
        """The file is whole and has its name, unless there was no run; lines for the user."""
        self._file.close()
        if not self.runs and not self.left_out:
            self._part.unlink()
            return ["no time line: nothing ran"]
        os.replace(self._part, self.path)
        return [f"the time line lacks {self.left_out} runs, with which it would have more than "
                f"{MOST:,} slices"] if self.left_out else []

    def _packet(self) -> "TracePacket":
        packet = self._builder.create_packet()
        packet.trusted_packet_sequence_id = _SEQUENCE
        return packet

    def _describe(self, tracks: dict[Track, str | None]) -> None:
        """Introduce tracks, with a counter's unit, and those that they belong to."""
        for track, unit in tracks.items():
            for depth in range(1, len(track.path) + 1):
                path = track.path[:depth]
                lane = track.lane if depth == len(track.path) else 0
                if (path, lane) in self._uuids:
                    continue
                self._uuids[path, lane] = len(self._uuids) + 1
                packet = self._packet()
                descriptor = packet.track_descriptor
                descriptor.uuid = self._uuids[path, lane]
                descriptor.name = path[-1]
                descriptor.child_ordering = descriptor.EXPLICIT
                descriptor.sibling_order_rank = rank(path)
                if depth > 1:
                    descriptor.parent_uuid = self._uuids[path[:-1], 0]
                if unit is not None and depth == len(track.path):
                    descriptor.counter.unit_name = unit
                self._builder.write_packet(packet)

    def _write(self, one: Slice | Instant | Count, key: tuple[int, ...], clock: "_Clock") -> None:
        ticks, ends = key[0], isinstance(one, Slice) and key[1] != 1
        packet = self._packet()
        packet.timestamp = clock.nanoseconds(ticks)
        event = packet.track_event
        event.track_uuid = self._uuids[one.track.path, one.track.lane]
        if isinstance(one, Count):
            event.type = event.TYPE_COUNTER
            event.counter_value = one.value
        elif ends:
            event.type = event.TYPE_SLICE_END
        else:
            event.type = event.TYPE_INSTANT if isinstance(one, Instant) else event.TYPE_SLICE_BEGIN
            event.name = one.name
            event.categories.append(one.kind)
            _annotate(event, "cycle", Fraction(ticks, TICKS))
            if isinstance(one, Slice):
                _annotate(event, "cycles", Fraction(one.end - one.begin, TICKS))
                if not one.ended:
                    _annotate(event, "cut off by the end of the run", True)
            if one.flow:
                _annotate(event, "message", one.flow)
                event.flow_ids.append(self.runs << _FLOWS | one.flow)
        self._builder.write_packet(packet)


class _Clock:
    """Perfetto's time of a run that begins at ``begin`` nanoseconds."""

    def __init__(self, begin: int, mhz: Fraction) -> None:
        self._begin = begin
        self._scale = Fraction(1000, TICKS) / mhz

    def nanoseconds(self, ticks: int) -> int:
        return self._begin + ticks * self._scale.numerator // self._scale.denominator


def _steps(found: Iterable[Slice]) -> Iterable[tuple[tuple[int, int, int, int], Slice]]:
    """Begin and end of each slice, with keys that sort them as Perfetto wants them: at one time
    first ends, the inner before the outer, then begins, the outer before the inner."""
    for number, one in enumerate(found):
        yield (one.begin, 1, -one.end, number), one
        if one.end > one.begin:
            yield (one.end, 0, -one.begin, -number), one
        else:
            yield (one.end, 2, 0, -number), one


def _annotate(event: Any, name: str, value: Fraction | int | bool) -> None:
    annotation = event.debug_annotations.add()
    annotation.name = name
    if isinstance(value, bool):
        annotation.bool_value = value
    elif isinstance(value, int) or value.denominator == 1:
        annotation.int_value = int(value)
    else:
        annotation.double_value = float(value)
