"""The file of a time line, read back."""

import json
from pathlib import Path
from typing import Any

import pytest
from nicbed import run_job
from nicbed.layouts.trace import TICKS, Activity, Block, Event, Kind, Mark
from nicbed.testbench.backends.session import RunError
from nicbed.testbench.descriptions.load import load
from nicbed.testbench.errors import UserError
from nicbed.testbench.timeline import Timeline, perfetto

JOBS = str(Path(__file__).parents[2] / "programs" / "timeline_jobs.py")
EVENTS = [Event(10, 0, Block.SEND_LINK, Kind.BEGIN, 7, 0),
          Event(25, 0, Block.SEND_LINK, Kind.END, 7, 0),
          Event(30, 1, Block.RECEIVE_LINK, Kind.BEGIN, 7, 0),
          Event(40, 1, Block.RECEIVE_LINK, Kind.DROP, 7, 1)]
MARKS = [Mark(2 * TICKS, 0, 0, Activity.REQUEST_SEND, Kind.BEGIN, 7),
         Mark(9 * TICKS + 64, 0, 0, Activity.REQUEST_SEND, Kind.END, 7)]


class Read:
    """A file's tracks by number, its slices, and its events, checked for what Perfetto asks."""

    def __init__(self, path: Path) -> None:
        from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace, TrackEvent

        trace = Trace()
        trace.ParseFromString(path.read_bytes())
        self.names: dict[int, tuple[str, ...]] = {}
        self.slices: list[dict[str, Any]] = []
        self.counts: list[tuple[tuple[str, ...], int, int]] = []
        self.instants: list[tuple[tuple[str, ...], str]] = []
        open_: dict[int, list[dict[str, Any]]] = {}
        last = 0
        for packet in trace.packet:
            if packet.HasField("track_descriptor"):
                one = packet.track_descriptor
                self.names[one.uuid] = (*self.names.get(one.parent_uuid, ()), one.name)
                assert bool(one.parent_uuid) == (len(self.names[one.uuid]) > 1)
                continue
            assert packet.timestamp >= last
            last, event = packet.timestamp, packet.track_event
            place = self.names[event.track_uuid]
            notes = {note.name: note.int_value or note.double_value or note.bool_value
                     for note in event.debug_annotations}
            if event.type == TrackEvent.TYPE_SLICE_BEGIN:
                open_.setdefault(event.track_uuid, []).append(
                    {"place": place, "name": event.name, "begin": packet.timestamp,
                     "flows": list(event.flow_ids), **notes})
            elif event.type == TrackEvent.TYPE_SLICE_END:
                ended = open_[event.track_uuid].pop()
                self.slices.append({**ended, "end": packet.timestamp})
            elif event.type == TrackEvent.TYPE_COUNTER:
                self.counts.append((place, packet.timestamp, event.counter_value))
            else:
                self.instants.append((place, event.name))
        assert not any(open_.values())


def written(path: Path, *runs: tuple[list[Event], list[Mark]]) -> Read:
    drawn = Timeline(path)
    for events, marks in runs:
        drawn.add(load("default"), 50, events, marks)
    assert drawn.close() == []
    return Read(path)


def test_slices_have_their_time_and_their_cycles(tmp_path: Path) -> None:
    found = {one["place"]: one for one in written(tmp_path / "a", (EVENTS, MARKS)).slices}
    send, uplink = found["node 0", "CPU 0"], found["node 0", "uplink"]
    assert (uplink["cycle"], uplink["cycles"], uplink["message"]) == (10, 15, 7)
    assert (uplink["begin"], uplink["end"]) == (10 * 1000 // 66, 25 * 1000 // 66)
    assert (send["cycle"], send["cycles"]) == (2, 7.25)
    assert found["runs",]["cycles"] == 50


def test_flows_join_a_message_across_nodes_and_not_across_runs(tmp_path: Path) -> None:
    read = written(tmp_path / "a", (EVENTS, MARKS), (EVENTS, MARKS))
    flows = [one["flows"] for one in read.slices if one["place"] != ("runs",)]
    assert flows == [[1 << 32 | 7]] * 3 + [[2 << 32 | 7]] * 3
    assert ("node 1", "downlink, receive FIFO") in {one["place"] for one in read.slices}
    first, second = (one for one in read.slices if one["place"] == ("runs",))
    assert (first["name"], second["name"]) == ("run 1", "run 2") and first["end"] < second["begin"]


def test_a_drop_is_an_instant(tmp_path: Path) -> None:
    assert written(tmp_path / "a", (EVENTS, [])).instants == [
        (("node 1", "downlink, receive FIFO"), "dropped: CRC")]


def test_slices_at_one_time_are_written_in_an_order_that_nests(tmp_path: Path) -> None:
    """One that ends, one without length, one that begins, all in one cycle and on one lane."""
    events = [one for begin, end, number in ((0, 5, 1), (5, 5, 2), (5, 9, 3))
              for one in (Event(begin, 0, Block.BUS, Kind.BEGIN, number, 1),
                          Event(end, 0, Block.BUS, Kind.END, number, 1))]
    found = {one["message"]: one["cycles"] for one in written(tmp_path / "a", (events, [])).slices
             if one["place"] == ("node 0", "bus")}
    assert found == {1: 5, 2: 0, 3: 4}


def test_runs_that_do_not_fit_are_left_out_and_told(tmp_path: Path,
                                                    monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(perfetto, "MOST", 4)
    drawn = Timeline(tmp_path / "a")
    for _ in range(3):
        drawn.add(load("default"), 50, EVENTS, MARKS)
    assert drawn.close() == ["the time line lacks 2 runs, with which it would have more than "
                             "4 slices"]
    assert len(Read(tmp_path / "a").slices) == 3 + 1


def test_no_run_leaves_no_file(tmp_path: Path) -> None:
    assert Timeline(tmp_path / "a").close() == ["no time line: nothing ran"]
    assert list(tmp_path.iterdir()) == []


def job(name: str, file: Path | None = None, **arguments: Any) -> Any:
    return run_job(load("default"), function=f"{JOBS}:{name}", timeline=file, arguments=arguments)


def test_of_a_run_on_the_target(tmp_path: Path) -> None:
    """The same outcome with a time line and without; each link's slices last as long as its events
    say; a request's flow goes from the CPU that sends it to the one that handles it."""
    file = tmp_path / "a.pftrace"
    with_line, without = job("round_trips", file), job("round_trips")
    assert json.dumps(with_line) == json.dumps(without)
    read = Read(file)
    served = sum(one["cycles"] for one in read.slices if one["place"] == ("node 0", "uplink"))
    assert served == with_line["uplink"]
    request = next(one for one in read.slices if one["name"] == "request send")
    places = [one["place"] for one in sorted(read.slices, key=lambda one: one["begin"])
              if one["flows"] == request["flows"]]
    way = [("node 0", "CPU 0"), ("node 0", "send window"), ("node 0", "uplink"),
           ("switch 0", "output 1"), ("node 1", "downlink, receive FIFO"),
           ("node 1", "receive DMA"), ("node 1", "CPU 0")]
    assert [place for place in dict.fromkeys(places) if place in way] == way
    assert {count for place, _, count in read.counts if place == ("node 0", "credits in use")} == {
        0, 1}
    run = next(one for one in read.slices if one["place"] == ("runs",))
    assert with_line["cycles"] <= run["cycles"] < with_line["cycles"] + 2


def test_of_a_run_that_fails(tmp_path: Path) -> None:
    file = tmp_path / "a.pftrace"
    with pytest.raises(RunError, match="on purpose"):
        job("failing", file)
    assert any(one["name"] == "request send" for one in Read(file).slices)


def test_a_board_draws_none(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="--sim uart draws no time line"):
        run_job(load("default"), "uart", function=f"{JOBS}:round_trips",
                timeline=tmp_path / "a")


