"""What a connection answers, segment by segment: when an acknowledgement goes, what is sent again,
and what is left when it ends."""

import pytest
from nicbed.host.tcp.protocol.connection import Connection, State
from nicbed.host.tcp.protocol.headers import ACK, FIN, RST, SYN, Segment

from tests.models.tcp import OWN, SETTINGS, come, drain, opened


def test_the_segment_size_is_told_on_a_syn_alone():
    caller = Connection(SETTINGS, 80, 1, 1000, OWN, 0)
    [syn] = drain(caller)
    assert (syn.flags, syn.mss, syn.window, syn.acknowledgement) == (SYN, 100, 1000, 0)
    connection = opened()
    connection.write(bytes(10))
    [data] = drain(connection)
    assert data.mss is None


def test_the_first_segment_waits_for_the_timer_and_the_second_does_not():
    connection = opened()
    come(connection, ACK, 0, bytes(10), now=20)
    assert drain(connection) == [] and connection.deadline == 20 + SETTINGS.delayed_ack
    come(connection, ACK, 0, bytes(10), now=30)
    [answer] = drain(connection)
    assert answer.acknowledgement == 20 and connection.deadline > 1 << 60
    come(connection, ACK, 0, bytes(10), now=40)
    connection.tick(40 + SETTINGS.delayed_ack - 1)
    assert drain(connection) == []
    connection.tick(40 + SETTINGS.delayed_ack)
    assert len(drain(connection)) == 1


def test_a_gap_and_what_fills_it_are_acknowledged_at_once():
    connection = opened()
    come(connection, ACK, 10, bytes(10))
    [answer] = drain(connection)
    assert answer.acknowledgement == 0
    come(connection, ACK, 0, bytes(5))
    [answer] = drain(connection)
    assert answer.acknowledgement == 5
    come(connection, ACK, 0, bytes(5))
    [answer] = drain(connection)
    assert answer.acknowledgement == 20 and connection.incoming.readable == 20


def test_a_fin_goes_beside_data_that_are_not_acknowledged():
    connection = opened()
    connection.write(bytes(10))
    drain(connection)
    connection.shutdown()
    [fin] = drain(connection)
    assert fin.flags & FIN and fin.sequence == OWN + 11


def test_a_part_of_a_recovery_sends_the_next_and_deflates_the_window():
    connection = opened(window=5000)
    for _ in range(4):  # the congestion window grows
        connection.write(bytes(200))
        drain(connection)
        come(connection, ACK, 0, window=5000, acknowledges=connection.outgoing.next)
    begin = connection.outgoing.first
    connection.write(bytes(500))
    assert len(drain(connection)) == 5
    for _ in range(3):
        come(connection, ACK, 0, window=5000, acknowledges=begin)
    assert [one.sequence for one in drain(connection)] == [begin] and connection.why == "duplicates"
    before = connection._congestion.window
    come(connection, ACK, 0, window=5000, acknowledges=begin + 200)
    assert [one.sequence for one in drain(connection)] == [begin + 200]
    assert connection._congestion.window == before - 200 + 100
    come(connection, ACK, 0, window=5000, acknowledges=begin + 500)
    assert not connection._congestion.recovering and drain(connection) == []
    assert connection.again == {"time-out": 0, "duplicates": 2}


@pytest.mark.parametrize("how", ["reset", "reset by the peer", "time-out"])
def test_what_was_sent_gives_its_places_back_when_it_ends(how):
    connection = opened(settings=SETTINGS._replace(retries=0))
    connection.over.clear()  # the SYN
    connection.write(bytes(300))
    drain(connection)
    held = [*connection.outgoing.flight, *connection.outgoing.waiting]
    assert len(held) == 3
    if how == "reset":
        connection.reset()
    elif how == "time-out":
        connection.tick(connection.deadline)
    else:
        come(connection, RST, 0)
    assert connection.state is State.CLOSED and connection.over == held
    assert connection.outgoing.held == 0


@pytest.mark.parametrize("state", [State.CLOSE_WAIT, State.LAST_ACK, State.TIME_WAIT])
def test_behind_a_fin_there_are_no_data(state):
    connection = opened()
    if state is State.TIME_WAIT:
        connection.shutdown()
        drain(connection)
        come(connection, ACK, 0, acknowledges=OWN + 2)
    come(connection, ACK | FIN, 0, acknowledges=connection.outgoing.highest)
    if state is State.LAST_ACK:
        connection.shutdown()
    drain(connection)
    assert connection.state is state
    come(connection, ACK, 0, b"more", acknowledges=connection.outgoing.first)
    assert not connection.incoming.readable and connection.stored == 0
    [answer] = drain(connection)
    assert answer.flags == ACK and answer.acknowledgement == 1


def test_an_answer_ends_the_silence_of_a_call():
    """Time-outs of the SYN do not count against what follows."""
    caller = Connection(SETTINGS._replace(retries=3), 80, 1, 1000, OWN, 0)
    for _ in range(3):
        drain(caller, 0)
        caller.tick(caller.deadline)
    assert len(drain(caller, 0)) == 1 and caller.why == "time-out"
    caller.arrived(Segment(1000, 80, 4, 0, SYN, 500), 10)  # both call each other
    assert caller.state is State.SYN_RECEIVED
    for _ in range(3):
        assert drain(caller, 10)
        caller.tick(caller.deadline)
        assert caller.error is None
    drain(caller, 10)
    caller.tick(caller.deadline)
    assert caller.error is not None


def test_both_ends_close_at_once():
    """Each FIN crosses the other: CLOSING until its own is acknowledged, then TIME_WAIT."""
    connection = opened()
    connection.shutdown()
    drain(connection)
    come(connection, ACK | FIN, 0, now=100)
    assert connection.state is State.CLOSING and connection.deadline < 100 + SETTINGS.time_wait
    [answer] = drain(connection)
    assert answer.flags == ACK and answer.acknowledgement == 1
    come(connection, ACK, 0, acknowledges=OWN + 2, now=200)
    assert connection.state is State.TIME_WAIT and connection.deadline == 200 + SETTINGS.time_wait
    connection.tick(200 + SETTINGS.time_wait)
    assert connection.finished and connection.error is None


@pytest.mark.parametrize("first", ["this end", "the peer"])
def test_one_end_closes_after_the_other(first):
    connection = opened()
    if first == "this end":
        connection.shutdown()
        drain(connection)
        come(connection, ACK, 0, acknowledges=OWN + 2)
        assert connection.state is State.FIN_WAIT_2 and connection.deadline > 1 << 60
        come(connection, ACK | FIN, 0, acknowledges=OWN + 2, now=300)
        assert connection.state is State.TIME_WAIT
        return
    come(connection, ACK | FIN, 0)
    assert connection.state is State.CLOSE_WAIT and connection.writable
    connection.shutdown()
    drain(connection)
    assert connection.state is State.LAST_ACK and not connection.writable
    come(connection, ACK, 0, acknowledges=OWN + 2)
    assert connection.finished and connection.error is None


def test_what_is_acknowledged_gives_its_places_back():
    connection = opened()
    connection.over.clear()  # the SYN
    connection.write(bytes(200))
    drain(connection)
    first, second = connection.outgoing.flight
    come(connection, ACK, 0, acknowledges=OWN + 101)
    assert connection.over == [first]
    come(connection, ACK, 0, acknowledges=OWN + 201)
    assert connection.over == [first, second] and connection.outgoing.held == 0
