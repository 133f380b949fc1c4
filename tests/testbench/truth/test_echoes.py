"""Round trips cut by stamps and events."""

import pytest
from nicbed.layouts.trace import TICKS, Block, Event, Kind
from nicbed.rtl.nic.design import DESIGN
from nicbed.testbench.truth.breakdown import via_lives
from nicbed.testbench.truth.echoes import echoes

CLIENT = [[100 * TICKS + 7, 130 * TICKS + 9, 300 * TICKS + 3]]
SERVER = [[210 * TICKS + 5, 240 * TICKS + 1]]


def message(number: int, sender: int, first: int, landed: int, *, block: Block = Block.RECEIVE_DMA
            ) -> list[Event]:
    return [Event(first, sender, Block.BUS, Kind.BEGIN, number, 0),
            Event(first + 5, sender, Block.SEND_LINK, Kind.END, number, 0),
            Event(landed, 1 - sender, block, Kind.END, number, 0)]


OUT, BACK = message(5, 0, 131, 180), message(8, 1, 235, 270, block=Block.N2H)


def test_the_legs_follow_one_another() -> None:
    [trip] = echoes(CLIENT, SERVER, [*OUT, *BACK], DESIGN)
    assert (trip.out.number, trip.back.number) == (5, 8)
    assert trip.total == CLIENT[0][2] - CLIENT[0][0] and trip.turn == 0 and trip.after == 0
    assert trip.out.o_s == 30 * TICKS + 2  # the call
    assert trip.out.begin + trip.out.o_s + trip.out.flight + trip.out.seen == 180 * TICKS
    assert trip.out.o_r == SERVER[0][0] - 180 * TICKS
    assert trip.back.o_s == 235 * TICKS - SERVER[0][0]  # until its first event, in the call
    found = via_lives([trip], [*OUT, *BACK], DESIGN)
    for life, way in zip(found, (trip.out, trip.back), strict=True):
        assert sum(life.values()) == way.end - way.begin


def test_other_messages_do_not_count() -> None:
    """One of before, one that lands later than it was found, an acknowledgement the other way, a
    part of the message that lands first."""
    others = [*message(3, 0, 90, 190), *message(4, 0, 140, 220), *message(6, 1, 150, 200),
              *message(2, 0, 120, 160)]
    [trip] = echoes(CLIENT, SERVER, [*others, *OUT, *BACK], DESIGN)
    assert (trip.out.number, trip.back.number) == (5, 8)
    later = [*OUT, *BACK, *message(9, 0, 140, 205)]
    assert echoes(CLIENT, SERVER, later, DESIGN)[0].out.number == 9


def test_a_trace_without_the_message_is_refused() -> None:
    with pytest.raises(ValueError, match="no message from node 1 landed between ticks"):
        echoes(CLIENT, SERVER, OUT, DESIGN)
