"""The slices of a time line's file."""

from dataclasses import dataclass
from pathlib import Path

from ..errors import UserError

__all__ = ["Drawn", "read"]


@dataclass(frozen=True)
class Drawn:
    """A slice of a file: where (the names of its tracks, from the outermost), when in nanoseconds,
    its name, and the flow that it belongs to (0: none)."""

    place: tuple[str, ...]
    begin: int
    end: int
    name: str
    flow: int


def read(path: Path) -> list[Drawn]:
    """The slices in ``path``, by their ends.

    Raises
    ------
    UserError
        It cannot be read, or is no time line.
    """
    from google.protobuf.message import DecodeError
    from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace, TrackEvent

    trace = Trace()
    try:
        trace.ParseFromString(path.read_bytes())
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror}") from None
    except DecodeError:
        raise UserError(f"{path}: is no time line: nicbed writes one with --timeline") from None
    names: dict[int, tuple[str, ...]] = {}
    open_: dict[int, list[tuple[int, str, int]]] = {}
    found = []
    for packet in trace.packet:
        if packet.HasField("track_descriptor"):
            one = packet.track_descriptor
            names[one.uuid] = (*names.get(one.parent_uuid, ()), one.name)
        elif packet.HasField("track_event"):
            event = packet.track_event
            if event.type == TrackEvent.TYPE_SLICE_BEGIN:
                flow = event.flow_ids[0] if event.flow_ids else 0
                open_.setdefault(event.track_uuid, []).append((packet.timestamp, event.name, flow))
            elif event.type == TrackEvent.TYPE_SLICE_END and open_.get(event.track_uuid):
                begin, name, flow = open_[event.track_uuid].pop()
                found.append(Drawn(names.get(event.track_uuid, ("?",)), begin, packet.timestamp,
                                   name, flow))
    return found
