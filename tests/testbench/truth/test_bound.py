"""The block that bounds the gap, found from busy shares."""

from fractions import Fraction

import pytest
from nicbed.layouts.trace import TICKS, Activity, Kind, Mark
from nicbed.rtl.nic.design import DESIGN
from nicbed.testbench.truth.bound import bound, shares
from nicbed.testbench.truth.spans import moves, spans
from nicbed.testbench.truth.steady import departures, window

from tests.models.logp_machine import Machine


def named(machine: Machine):
    machine.run(512, 0)
    found = spans(machine.marks)
    requests = [span.number for span in found if span.activity == Activity.REQUEST_SEND]
    start, stop = window(departures(machine.events, 0, requests))
    return bound(shares(machine.events, found, start, stop, 0, 1, DESIGN))


@pytest.mark.parametrize(("machine", "block"), [
    (Machine(service=90), "link"),
    (Machine(handle=120), "receiver"),
    (Machine(send=40, finish=30, handle=10, reply=10), "host"),
    (Machine(flight=3000, window=8), "window"),
])
def test_the_bottleneck_is_named(machine, block):
    found = named(machine)
    assert found.block == block
    assert 0 <= found.busy <= 1
    assert (found.busy > 0.97) == (block != "window")


def test_spans_nest_and_refuse_to_cross():
    marks = [Mark(0, 0, 0, 2, Kind.BEGIN, 1), Mark(TICKS, 0, 0, 3, Kind.BEGIN, 2),
             Mark(3 * TICKS, 0, 0, 3, Kind.END, 2), Mark(4 * TICKS, 0, 0, 2, Kind.END, 1)]
    outer, inner = spans(marks)
    assert (outer.own, inner.own) == (2 * TICKS, 2 * TICKS)
    with pytest.raises(ValueError, match="inside"):
        spans([marks[0], marks[1], marks[3]])


def test_a_message_processor_may_be_the_bound():
    """Its marks are no spans of a program; each move begins with the look that found a message."""
    marks = [Mark(0, 0, 0, Activity.REQUEST_SEND, Kind.BEGIN, 1),
             Mark(10, 0, 1, Activity.LOOK, Kind.BEGIN, 0),
             Mark(20, 0, 0, Activity.REQUEST_SEND, Kind.END, 1),
             Mark(30, 0, 1, Activity.LOOK, Kind.END, 0),
             Mark(30, 0, 1, Activity.MOVE, Kind.BEGIN, 0),
             Mark(1000, 0, 1, Activity.MOVE, Kind.END, 0)]
    assert [(span.activity, span.begin, span.end) for span in spans(marks)] == [
        (Activity.REQUEST_SEND, 0, 20)]
    assert [(span.begin, span.end) for span in moves(marks)] == [(30, 1000)]
    found = bound(shares([], spans(marks), 0, 1000, 0, 1, DESIGN, moves(marks)))
    assert found.block == "message processor" and found.busy == Fraction(97, 100)


def test_the_memory_of_several_cpus_may_be_the_bound():
    """It is listed where its events are, and is the bound when it is taken throughout."""
    from nicbed.layouts.trace import Block, Event

    events = [Event(0, 1, Block.MEMORY, Kind.BEGIN, 0, 0),
              Event(98, 1, Block.MEMORY, Kind.END, 0, 0)]
    found = bound(shares(events, [], 0, 100 * TICKS, 0, 1, DESIGN))
    assert (found.block, float(found.busy)) == ("memory", 0.98)
    assert "memory" not in [share.block for share in shares([], [], 0, 100 * TICKS, 0, 1, DESIGN)]
