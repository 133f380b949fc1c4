"""Slices, instants and counts of a run, from events and marks."""

import shutil
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nicbed.layouts.doors import DoorError
from nicbed.layouts.doors.trace_block import block_numbers
from nicbed.layouts.trace import PORT_SHIFT, TICKS, Activity, Block, Event, Kind, Mark
from nicbed.testbench.descriptions.load import load
from nicbed.testbench.timeline.tracks import Track, counts, instants, rank, slices

ONE = load("default")
WIRE = Path(__file__).resolve().parents[3] / "examples" / "wire_nic"
LANED = (Block.VI_FETCH, Block.RECEIVE_LINK, Block.H2N)


def event(cycle: int, block: Block, kind: Kind, number: int = 0, arg: int = 0, node: int = 0
          ) -> Event:
    return Event(cycle, node, block, kind, number, arg)


def service(begin: int, end: int, block: Block, number: int, arg: int = 0, node: int = 0
            ) -> list[Event]:
    return [event(begin, block, Kind.BEGIN, number, arg, node),
            event(end, block, Kind.END, number, arg, node)]


def mark(ticks: int, activity: Activity, kind: Kind, number: int = 0) -> Mark:
    return Mark(ticks, 0, 0, activity, kind, number)


def test_a_service_is_a_slice_of_its_message() -> None:
    [found] = slices(ONE, service(10, 25, Block.SEND_LINK, 7, node=1), [], 30)
    assert found.track == Track(("node 1", "uplink"))
    assert (found.begin, found.end) == (10 * TICKS, 25 * TICKS)
    assert (found.name, found.kind, found.flow, found.ended) == ("message 7", "SEND_LINK", 7, True)


def test_a_block_of_the_nics_own_is_a_place_by_its_stage() -> None:
    description = load(str(WIRE))
    number = block_numbers(description.design.trace)[1]
    events = [Event(cycle, 1, number, kind, 7, 0) for cycle, kind in ((3, 0), (9, 1))]
    [found] = slices(description, events, [], 30)
    assert found.track == Track(("node 1", "frame into a slot"))
    assert (found.name, found.kind) == ("message 7", "WIRE_NIC_RECEIVE")


def test_a_send_dma_begins_with_the_fetch_of_its_descriptor() -> None:
    [found] = slices(ONE, service(100, 140, Block.SEND_DMA, 1, arg=60), [], 200)
    assert found.begin == 60 * TICKS


def test_a_block_of_ones_own_may_have_begun_before(tmp_path: Path) -> None:
    folder = Path(shutil.copytree(WIRE, tmp_path / "wire_nic"))
    design = folder / "design.py"
    design.write_text(design.read_text().replace("dma=1)", "dma=1, begins_at_arg=True)"))
    description = load(str(folder))
    number = block_numbers(description.design.trace)[1]
    [found] = slices(description, [Event(100, 1, number, Kind.BEGIN, 7, 60),
                                   Event(140, 1, number, Kind.END, 7, 0)], [], 200)
    assert (found.begin, found.end) == (60 * TICKS, 140 * TICKS)


def test_a_block_that_nobody_declared_is_refused() -> None:
    events = [Event(cycle, 1, 99, kind, 7, 0) for cycle, kind in ((3, 0), (9, 1))]
    with pytest.raises(DoorError, match="NIC design 'rings' has no block of number 99, whose"):
        slices(ONE, events, [], 30)


def test_the_outputs_of_a_switch_are_places() -> None:
    events = service(1, 9, Block.SWITCH, 5, arg=3, node=2) + service(
        2, 6, Block.SWITCH, 5, arg=1, node=2) + service(7, 8, Block.TRUNK, 5, arg=1, node=2)
    assert [one.track.path for one in slices(ONE, sorted(events), [], 9)] == [
        ("switch 2", "output 3"), ("switch 2", "output 1"), ("switch 2", "link behind output 1")]


def test_the_bus_names_its_initiator() -> None:
    events = service(1, 2, Block.BUS, 0, arg=3 << PORT_SHIFT) + service(3, 4, Block.BUS, 0, arg=2)
    assert [one.name for one in slices(ONE, events, [], 9)] == ["CPU 3", "DMA engine 2"]


def test_what_the_end_cuts_off_ends_there() -> None:
    [found] = slices(ONE, [event(5, Block.PROCESSOR, Kind.BEGIN)], [], 50)
    assert (found.end, found.ended, found.name) == (50 * TICKS, False, "awake")


def test_nics_have_places_of_their_own() -> None:
    description = load("default", ["node.nics=2", "node.cpus=2", "bus.coherent=true"])
    events = service(1, 2, Block.SEND_LINK, 1, node=3) + service(3, 4, Block.MEMORY, 0, node=1)
    assert [one.track.path for one in slices(description, events, [], 9)] == [
        ("node 1", "NIC 1", "uplink"), ("node 1", "memory port")]


def test_activities_nest() -> None:
    marks = [mark(10, Activity.REQUEST_SEND, Kind.BEGIN, 4), mark(12, Activity.EMPTY_POLL,
             Kind.BEGIN, 4), mark(20, Activity.EMPTY_POLL, Kind.END, 4),
             mark(20, Activity.REQUEST_SEND, Kind.END, 4)]
    outer, inner = slices(ONE, [], marks, 1)
    assert (outer.name, outer.begin, outer.end, outer.flow) == ("request send", 10, 20, 4)
    assert (inner.name, inner.begin, inner.end, inner.flow) == ("empty poll", 12, 20, 0)


@settings(max_examples=150)
@given(st.lists(st.tuples(st.sampled_from(LANED), st.integers(0, 60), st.integers(0, 25)),
                max_size=30))
def test_slices_of_a_lane_nest(wanted: list[tuple[Block, int, int]]) -> None:
    events = sorted(one for number, (block, begin, length) in enumerate(wanted, 1)
                    for one in service(begin, begin + length, block, number))
    found = slices(ONE, events, [], 100)
    assert sorted((one.kind, one.flow, one.begin // TICKS, one.end // TICKS) for one in found) == (
        sorted((block.name, number, begin, begin + length)
               for number, (block, begin, length) in enumerate(wanted, 1)))
    for one in found:
        for other in found:
            if one.track == other.track and one.begin < other.begin < one.end:
                assert other.end <= one.end


def test_one_service_after_the_other_is_one_lane() -> None:
    events = [*service(1, 5, Block.VI_FETCH, 1), *service(5, 9, Block.VI_FETCH, 2)]
    assert {one.track.lane for one in slices(ONE, events, [], 9)} == {0}


def test_what_happens_to_packets_are_instants() -> None:
    events = [event(3, Block.RECEIVE_LINK, Kind.DROP, 9, 1), event(4, Block.FAULT, Kind.DELAY, 8),
              event(5, Block.DOORBELL, Kind.BEGIN, 0, 18)]
    assert [(one.track.path[1], one.name, one.flow) for one in instants(ONE, events)] == [
        ("downlink, receive FIFO", "dropped: CRC", 9), ("fault injector", "delayed", 8),
        ("doorbells", "token 0x12", 0)]


def test_a_fifo_is_counted() -> None:
    events = sorted([*service(1, 4, Block.SEND_PIO, 1), *service(2, 9, Block.SEND_DMA, 2, arg=2),
                     *service(5, 7, Block.SEND_LINK, 1), *service(8, 12, Block.SEND_LINK, 2)])
    assert [(one.at // TICKS, one.value) for one in counts(ONE, events, [])] == [
        (1, 1), (2, 2), (7, 1), (12, 0)]


def test_what_goes_past_a_fifo_is_not_counted() -> None:
    """A packet of a VI engine reaches the uplink out of its slot."""
    assert counts(ONE, service(5, 7, Block.SEND_LINK, 1), []) == []
    events = [*service(1, 4, Block.SEND_PIO, 2), *service(5, 7, Block.SEND_LINK, 1)]
    assert [(one.at // TICKS, one.value) for one in counts(ONE, events, [])] == [(1, 1)]


def test_credits_are_counted() -> None:
    marks = [mark(256, Activity.REQUEST_SEND, Kind.BEGIN), mark(300, Activity.REQUEST_SEND,
             Kind.END), mark(900, Activity.REPLY_HANDLE, Kind.BEGIN)]
    [first, second] = counts(ONE, [], marks)
    assert (first.at, first.value, first.unit) == (300, 1, "requests")
    assert (second.at, second.value) == (900, 0)
    assert first.track == Track(("node 0", "credits in use"))


def test_changes_of_one_instant_are_one_count() -> None:
    events = [event(3, Block.SEND_PIO, Kind.BEGIN, 1), event(3, Block.SEND_DMA, Kind.BEGIN, 2, 3)]
    assert [(one.at // TICKS, one.value) for one in counts(ONE, events, [])] == [(3, 2)]


def test_places_stand_in_the_order_of_a_messages_way() -> None:
    paths = [("node 0", name) for name in ("CPU 0", "CPU 11", "NIC 1", "send FIFO", "bus",
                                           "send DMA", "uplink", "receive DMA")]
    assert sorted(paths, key=rank) == paths
    assert rank(("runs",)) < rank(("node 0",)) < rank(("node 63",)) < rank(("switch 0",))


def test_a_message_between_cpus_flows_from_mark_to_mark() -> None:
    """It has no events; the steps of its send are drawn within the send."""
    marks = [Mark(ticks, 0, cpu, activity, kind, 7) for ticks, cpu, activity, kind in (
        (0, 0, Activity.REQUEST_SEND, Kind.BEGIN), (1, 0, Activity.FILL, Kind.BEGIN),
        (5, 0, Activity.FILL, Kind.END), (6, 0, Activity.REQUEST_SEND, Kind.END),
        (8, 1, Activity.REQUEST_HANDLE, Kind.BEGIN), (9, 1, Activity.REQUEST_HANDLE, Kind.END))]
    found = slices(ONE, [], marks, 1)
    assert [(one.track.path, one.name, one.flow) for one in found] == [
        (("node 0", "CPU 0"), "request send", 7), (("node 0", "CPU 0"), "fill", 7),
        (("node 0", "CPU 1"), "request handle", 7)]
