"""Which segments are within the window, byte by byte around its edges (RFC 793, 3.3), and what
acknowledgements and windows are believed."""

import pytest
from nicbed.host.tcp.protocol.connection import Connection, Ended, State
from nicbed.host.tcp.protocol.headers import ACK, FIN, RST, SYN, Segment
from nicbed.host.tcp.protocol.sequence import HALF, MASK, plus

from tests.models.tcp import OWN, SETTINGS, come, drain, opened

STARTS = [0, HALF - 500, MASK - 400, MASK]
"""The peer's first sequence numbers: the window lies on either side of where signs and circles
turn."""
WINDOW = SETTINGS.buffer


def fill(connection: Connection, count: int = WINDOW) -> None:
    """``count`` bytes come that nobody reads."""
    for at in range(0, count, 100):
        come(connection, ACK, 0, bytes(min(100, count - at)))
    drain(connection)


@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize("far, within", [
    (-1000, False), (-1, False), (0, True), (1, True), (WINDOW - 1, True), (WINDOW, False),
    (WINDOW + 1, False), (HALF - 1, False), (HALF, False)])
def test_a_syn_within_the_window_ends_the_connection(start, far, within):
    connection = opened(start)
    come(connection, SYN | ACK, far)
    assert (connection.error is Ended.RESET) == within
    assert (connection.state is State.CLOSED) == within
    [answer] = drain(connection)
    assert bool(answer.flags & RST) == within and answer.acknowledgement == start


@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize("far, within", [
    (-1, False), (0, True), (WINDOW - 1, True), (WINDOW, True), (WINDOW + 1, False),
    (HALF, False)])
def test_a_reset_within_the_window_ends_the_connection(start, far, within):
    """Its right edge counts: it is where a peer stands that has filled the window."""
    connection = opened(start)
    come(connection, RST, far)
    assert (connection.error is Ended.RESET) == within
    assert drain(connection) == []


@pytest.mark.parametrize("far, within", [(-1, False), (0, True), (1, False)])
def test_a_shut_window_takes_what_begins_at_it(far, within):
    connection = opened()
    fill(connection)
    assert connection.incoming.window == 0
    come(connection, SYN | ACK, far)
    assert (connection.error is Ended.RESET) == within


@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize("far, length, taken", [
    (-5, 5, 0), (-5, 6, 1), (-5, 100, 95), (0, 1, 1), (0, 100, 100), (1, 5, 0),
    (WINDOW - 1, 2, 0), (WINDOW, 1, 0)])
def test_bytes_of_the_window_alone_are_taken(start, far, length, taken):
    connection = opened(start)
    data = bytes(range(1, length + 1))
    come(connection, ACK, far, data)
    new = connection.incoming.readable
    assert new == taken and connection.incoming.expected == plus(start, taken)
    assert b"".join(connection.read(1000)) == (data[length - taken:] if taken else b"")
    assert connection.stored == (0 if far == WINDOW or far + length <= 0
                                 else min(length, WINDOW - far))


def test_what_goes_beyond_the_window_is_cut_and_its_fin_waits():
    connection = opened()
    fill(connection, WINDOW - 60)
    come(connection, ACK | FIN, 0, bytes(100))
    assert connection.incoming.readable == WINDOW and not connection.incoming.finished
    assert connection.state is State.ESTABLISHED and connection.stored == 60
    come(connection, ACK | FIN, 0)
    assert connection.incoming.finished and connection.state is State.CLOSE_WAIT


def test_a_fin_just_within_the_window_is_taken():
    connection = opened()
    fill(connection, WINDOW - 60)
    come(connection, ACK | FIN, 0, bytes(60))
    assert connection.incoming.finished and connection.incoming.readable == WINDOW


@pytest.mark.parametrize("far, kept", [(-1, False), (WINDOW + 1, False), (HALF, False), (0, True)])
def test_what_is_without_the_window_is_answered_and_leaves_the_rest(far, kept):
    """An acknowledgement goes, and none of its bytes is there; its own acknowledgement counts."""
    connection = opened()
    connection.write(bytes(10))
    drain(connection)
    come(connection, ACK, far, b"" if far == -1 else b"x", acknowledges=OWN + 11)
    assert bool(connection.incoming.readable) == kept
    assert connection.outgoing.first == OWN + 11 and not connection.outgoing.flight
    if not kept:
        [answer] = drain(connection)
        assert answer.flags == ACK and answer.acknowledgement == 0 and not answer.data


def test_unsent_data_cannot_be_acknowledged():
    """Such a segment is answered, and neither it nor its window is believed (RFC 793, 3.9)."""
    connection = opened()
    connection.write(bytes(10))
    drain(connection)
    come(connection, ACK, 0, acknowledges=OWN + 12, window=9)
    assert connection.outgoing.first == OWN + 1 and connection._window == 500
    [answer] = drain(connection)
    assert answer.flags == ACK
    come(connection, ACK, 0, acknowledges=OWN + 11, window=9)
    assert connection.outgoing.first == OWN + 11 and connection._window == 9


def test_a_segment_without_an_acknowledgement_carries_nothing():
    connection = opened()
    come(connection, 0, 0, b"x")
    assert not connection.incoming.readable and drain(connection) == []


@pytest.mark.parametrize("start", STARTS)
def test_the_window_of_the_newest_segment_counts(start):
    """Neither one that was sent before, nor one that acknowledges less (RFC 793, 3.9)."""
    connection = opened(start)
    connection.write(bytes(10))
    drain(connection)
    come(connection, ACK, 0, b"ab", window=300, acknowledges=OWN + 6)
    assert connection._window == 300
    for far, acknowledges in ((-3, OWN + 8), (-2, OWN + 5), (-HALF, OWN + 8)):
        come(connection, ACK, far, b"a" * 2, window=111, acknowledges=acknowledges)
        assert connection._window == 300
    come(connection, ACK, -2, b"ab", window=250, acknowledges=OWN + 8)
    assert connection._window == 250
    come(connection, ACK, 0, window=200, acknowledges=OWN + 11)
    assert connection._window == 200
    come(connection, ACK, 1, window=100, acknowledges=OWN + 11)
    assert connection._window == 100


@pytest.mark.parametrize("window", [100, 250, 500])
def test_no_byte_goes_beyond_the_peers_window(window):
    connection = opened(window=window)
    connection.write(bytes(1000))
    gone = drain(connection)
    room = min(window, 2 * SETTINGS.mss)  # with which a connection begins
    assert sum(len(one.data) for one in gone) == room // 100 * 100
    assert all(one.sequence + len(one.data) <= OWN + 1 + window for one in gone)


@pytest.mark.parametrize("duplicates, again", [(2, 0), (3, 1), (5, 1)])
def test_the_third_duplicate_sends_again_and_a_window_that_changes_is_none(duplicates, again):
    for change in (0, 1):
        connection = opened(window=5000)
        connection.write(bytes(200))
        first, *_ = drain(connection)
        for place in range(duplicates):
            come(connection, ACK, 0, window=5000 + change * (place + 1))
        gone = [one for one in drain(connection) if one.data]
        assert [one.sequence for one in gone] == [first.sequence] * (0 if change else again)
        assert connection.again == {"time-out": 0, "duplicates": 0 if change else again}


def test_data_are_no_duplicate_acknowledgement():
    connection = opened(window=5000)
    connection.write(bytes(300))
    drain(connection)
    for _ in range(4):
        come(connection, ACK, 0, b"x", window=5000)
    assert not [one for one in drain(connection) if one.data]


def test_a_round_trip_is_measured_from_the_first_segment_under_way():
    """The time runs from when it was sent to when it is acknowledged, and not from a later one."""
    connection = opened(settings=SETTINGS._replace(rto_min=1))
    connection._trip.estimate.mean = 0
    connection.write(bytes(100))
    assert drain(connection, 1000)[0].data
    connection.write(bytes(100))
    assert drain(connection, 1700)[0].data
    come(connection, ACK, 0, acknowledges=OWN + 101, now=2000)
    assert connection._trip.estimate.mean == 1000 << 3
    come(connection, ACK, 0, acknowledges=OWN + 201, now=2100)
    assert connection._trip.estimate.mean == 1000 << 3  # the second one was not timed


def test_the_timer_runs_from_the_first_segment_under_way():
    connection = opened()
    connection.nodelay = True
    wait = connection._trip.wait
    for now in (1000, 1300, 1700):
        connection.write(bytes(50))
        drain(connection, now)
        assert connection.deadline == 1000 + wait
    come(connection, ACK, 0, acknowledges=OWN + 51, now=2000)
    assert connection.deadline == 2000 + connection._trip.wait
    come(connection, ACK, 0, acknowledges=OWN + 151, now=2200)
    assert connection.deadline > 1 << 60


def test_what_is_pushed_and_acknowledged_says_so():
    connection = opened()
    connection.write(bytes(10))
    [data] = drain(connection)
    assert data.flags == 0x18 and data.acknowledgement == 0 and data.window == WINDOW
    connection.shutdown()
    come(connection, ACK, 0, acknowledges=OWN + 11)
    [fin] = drain(connection)
    assert fin.flags == ACK | FIN and not fin.data


@pytest.mark.parametrize("told, mss", [(None, 100), (60, 60), (100, 100), (2000, 100), (0, 1)])
def test_the_peers_segment_size_bounds_ours(told, mss):
    syn = Segment(1000, 80, 5, 0, SYN, 500, mss=told)
    connection = Connection(SETTINGS, 80, 1, 1000, OWN, 0, syn)
    assert connection.mss == mss
    [answer] = drain(connection)
    assert answer.flags == SYN | ACK and answer.mss == 100 and answer.acknowledgement == 6


def test_nothing_moves_a_connection_that_has_ended():
    connection = opened()
    connection.write(b"x")
    connection.reset()
    [answer] = drain(connection)
    assert answer.flags == RST | ACK
    come(connection, ACK, 0, b"x")
    connection.tick(1 << 40)
    assert drain(connection) == [] and connection.finished and connection.deadline > 1 << 60
    assert not connection.incoming.readable and connection.error is None


def test_after_time_wait_the_last_acknowledgement_is_given_again():
    """A FIN that comes again is answered, and the time begins anew; a reset is not answered."""
    connection = opened()
    connection.shutdown()
    drain(connection)
    come(connection, ACK, 0, acknowledges=OWN + 2)
    come(connection, ACK | FIN, 0, acknowledges=OWN + 2, now=100)
    assert connection.state is State.TIME_WAIT and len(drain(connection)) == 1
    assert connection.deadline == 100 + 20_000
    come(connection, ACK | FIN, -1, acknowledges=OWN + 2, now=300)
    assert len(drain(connection)) == 1 and connection.deadline == 300 + 20_000
    come(connection, RST, -1)
    assert connection.state is State.TIME_WAIT and drain(connection) == []


@pytest.mark.parametrize("closes", [True, False])
def test_a_fin_that_nobody_waits_for_is_given_up_sooner(closes):
    """All data are there and the peer falls silent: three time-outs for the last FIN."""
    connection = opened(settings=SETTINGS._replace(retries=9))
    come(connection, ACK | FIN, 0)
    (connection.close if closes else connection.shutdown)()
    assert connection.state is State.LAST_ACK
    drain(connection)
    time_outs = 0
    while connection.state is not State.CLOSED:
        now = connection.deadline
        connection.tick(now)
        time_outs += 1
        drain(connection, now)
        assert time_outs < 20
    assert (time_outs, connection.error) == ((4, None) if closes else (10, Ended.TIMED_OUT))
