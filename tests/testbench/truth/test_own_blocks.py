"""Busy shares, services and stages of the blocks that a NIC design of one's own declares."""

from fractions import Fraction

import pytest
from nicbed.layouts.doors import DoorError, NicDesign, TraceBlock
from nicbed.layouts.doors.trace_block import block_numbers
from nicbed.layouts.trace import TICKS, Activity, Block, Event, Kind
from nicbed.rtl.nic.design import DESIGN
from nicbed.testbench.truth.bound import bound, shares
from nicbed.testbench.truth.breakdown import lives, one_way_stages, request_stages, via_lives
from nicbed.testbench.truth.echoes import echoes
from nicbed.testbench.truth.exchange import crossings, landings
from nicbed.testbench.truth.service import service_times
from nicbed.testbench.truth.spans import Span


class Own(NicDesign):
    name = "own"
    trace = (TraceBlock("OWN_TABLE", "table", "A look-up.", lands=False),
             TraceBlock("OWN_SEND", "frame out", "A frame.", side="sending", dma=0),
             TraceBlock("OWN_RECEIVE", "frame in", "A frame.", side="receiving", dma=1))


OWN = Own()
TABLE, SEND, RECEIVE = block_numbers(Own.trace)


def served(*found):
    return sorted(Event(cycle, node, block, kind, number, arg)
                  for block, node, number, begin, end, arg in found
                  for cycle, kind in ((begin, Kind.BEGIN), (end, Kind.END)))


def test_the_busy_table_lists_the_blocks_of_the_design():
    events = served((SEND, 0, 1, 0, 40, 0), (Block.SEND_LINK, 0, 1, 10, 60, 0),
                    (RECEIVE, 1, 1, 70, 90, 0), (TABLE, 1, 1, 62, 64, 0),
                    (SEND, 1, 9, 0, 100, 0), (Block.BUS, 0, 1, 0, 10, 16),
                    (Block.BUS, 1, 1, 0, 9, 16))
    found = shares(events, [], 0, 100 * TICKS, 0, 1, OWN)
    assert [(one.block, one.node, float(one.busy)) for one in found] == [
        ("host", 0, 0), ("receiver", 1, 0), ("table", 0, 0), ("receiver's table", 1, 0.02),
        ("frame out", 0, 0.4), ("switch port", 0, 0), ("link", 0, 0.5), ("frame in", 1, 0.2),
        ("bus", 0, 0.1)]


def test_without_blocks_of_its_own_none_is_listed():
    class Silent(NicDesign):
        name = "silent"

    assert [one.block for one in shares([], [], 0, TICKS, 0, 1, Silent())] == [
        "host", "receiver", "switch port", "link", "bus"]


def test_an_engine_that_takes_up_the_bus_is_the_bound_in_its_place():
    events = served((RECEIVE, 1, 1, 0, 99, 0), (Block.BUS, 1, 1, 0, 99, 2))
    found = bound(shares(events, [], 0, 100 * TICKS, 0, 1, OWN))
    assert (found.block, float(found.busy)) == ("frame in", 0.99)
    by_cpu = served((RECEIVE, 1, 1, 0, 99, 0), (Block.BUS, 1, 1, 0, 99, 16))
    assert bound(shares(by_cpu, [], 0, 100 * TICKS, 0, 1, OWN)).block == "bus"


def test_services_are_of_the_blocks_of_the_design():
    events = served((SEND, 0, 1, 0, 40, 0), (RECEIVE, 1, 1, 50, 70, 0))
    found = {(one.stage, one.node): one.time / TICKS for one in service_times(
        events, [], 0, 100 * TICKS, Fraction(2), (0, 1), OWN)}
    assert found == {("CPU", 0): 0, ("CPU", 1): 0, ("frame out", 0): 20, ("frame in", 1): 10}


FLIGHT = served((TABLE, 0, 5, 12, 14, 0), (SEND, 0, 5, 20, 30, 0),
                (Block.SEND_LINK, 0, 5, 25, 40, 0), (Block.SWITCH, 3, 5, 41, 50, 1),
                (Block.RECEIVE_LINK, 1, 5, 45, 60, 0), (TABLE, 1, 5, 61, 63, 0),
                (RECEIVE, 1, 5, 70, 90, 0))
STAGES = {"waiting for: table (sending)": 2, "table (sending)": 2, "waiting for: frame out": 6,
          "frame out": 10, "flight and switch": 10, "downlink and receive FIFO": 10,
          "waiting for: table (receiving)": 1, "table (receiving)": 2,
          "waiting for: frame in": 7, "frame in": 20}


def test_the_stages_of_a_message_one_way_are_those_of_the_design():
    back = [event._replace(cycle=event.cycle + 100, number=6,
                           node={0: 1, 1: 0}.get(event.node, event.node)) for event in FLIGHT]
    [trip] = echoes([(0, 10 * TICKS, 200 * TICKS)], [(100 * TICKS, 110 * TICKS)],
                    [*FLIGHT, *back], OWN)
    for life in via_lives([trip], [*FLIGHT, *back], OWN):
        assert {name: ticks // TICKS for name, ticks in life.items()} == {
            "o_s: the send call": 10, **STAGES, "waiting for the uplink": 0,
            "uplink: serialising": 10, "landed, until the CPU looks": 0,
            "o_r: the call that finds it": 10}
        assert set(life) <= set(one_way_stages(OWN))


def test_the_stages_of_a_request_are_those_of_the_design():
    marked = [Span(0, 0, Activity.REQUEST_SEND, 5, 0, 10 * TICKS),
              Span(1, 0, Activity.REQUEST_HANDLE, 5, 95 * TICKS, 99 * TICKS)]
    [life] = lives(marked, FLIGHT, [5], OWN)
    assert {name: ticks // TICKS for name, ticks in life.items()} == {
        "send call": 10, **STAGES, "uplink: waiting and serialising": 10,
        "landed, until the poll looks": 5, "handling": 4}
    assert list(life) == list(request_stages(OWN))


def test_a_message_is_in_memory_when_a_receiving_block_has_served_it():
    assert landings(FLIGHT, OWN) == {5: 90 * TICKS}
    assert landings(FLIGHT, DESIGN) == {}


def test_a_block_of_both_sides_lands_nothing_where_the_message_begins():
    class Single(NicDesign):
        name = "single"
        trace = (TraceBlock("BOTH", "frame", "A frame."),)

    [both] = block_numbers(Single.trace)
    lost = served((both, 0, 6, 10, 30, 0))
    events = served((both, 0, 5, 10, 80, 0), (both, 1, 5, 50, 60, 0))
    assert landings([*events, *lost], Single()) == {5: 60 * TICKS}
    assert crossings([*events, *lost], Single()) == {5: 50 * TICKS}


def test_stages_of_one_name_add_up_and_are_listed_once():
    class Twice(NicDesign):
        name = "twice"
        trace = (TraceBlock("OUT", "DMA", "A frame.", side="sending"),
                 TraceBlock("IN", "DMA", "A frame.", side="receiving"),
                 TraceBlock("LAST", "handling", "A frame.", side="receiving"))

    out, in_, last = block_numbers(Twice.trace)
    flight = served((out, 0, 5, 12, 20, 0), (Block.SEND_LINK, 0, 5, 25, 40, 0),
                    (in_, 1, 5, 70, 90, 0), (last, 1, 5, 90, 93, 0))
    marked = [Span(0, 0, Activity.REQUEST_SEND, 5, 0, 10 * TICKS),
              Span(1, 0, Activity.REQUEST_HANDLE, 5, 95 * TICKS, 99 * TICKS)]
    [life] = lives(marked, flight, [5], Twice())
    assert (life["DMA"], life["handling"], sum(life.values())) == (28 * TICKS, 7 * TICKS,
                                                                   99 * TICKS)
    back = [event._replace(cycle=event.cycle + 100, number=6, node=1 - event.node)
            for event in flight]
    [trip] = echoes([(0, 10 * TICKS, 200 * TICKS)], [(100 * TICKS, 110 * TICKS)],
                    [*flight, *back], Twice())
    for way in via_lives([trip], [*flight, *back], Twice()):
        assert (way["DMA"], sum(way.values())) == (28 * TICKS, 100 * TICKS)
    for names in (request_stages(Twice()), one_way_stages(Twice())):
        assert len(names) == len({*names}) and "DMA" in names


def test_blocks_have_numbers_of_their_own():
    first = max(Block) + 1
    given = TraceBlock("GIVEN", "given", "A frame.", number=first)
    free = [TraceBlock(name, "free", "A frame.") for name in ("A", "B")]
    assert block_numbers([free[0], given, free[1]]) == (first + 1, first, first + 2)
    with pytest.raises(DoorError, match=f"TraceBlock A: number = {first}: is that of GIVEN, too"):
        block_numbers([given, TraceBlock("A", "a", "A frame.", number=first)])


@pytest.mark.parametrize("wrong", [{"side": "sender"}, {"listed": "sometimes"}])
def test_a_block_says_what_may_be_said_of_it(wrong):
    [name] = wrong
    with pytest.raises(ValueError, match=f"TraceBlock OWN: {name} must be"):
        TraceBlock("OWN", "own", "Something.", **wrong)
