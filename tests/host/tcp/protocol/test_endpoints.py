"""Which connection a segment is for, ports, listeners, and resets of what is for nobody."""

import pytest
from nicbed.host.tcp.protocol.connection import FAR, Connection, State
from nicbed.host.tcp.protocol.endpoints import FIRST, LAST, Endpoints
from nicbed.host.tcp.protocol.headers import ACK, FIN, RST, SYN, Segment
from nicbed.host.tcp.protocol.sequence import plus

from tests.models.tcp import SETTINGS, Hosts


@pytest.fixture
def ends() -> Endpoints:
    return Endpoints(1, SETTINGS)


def syn(source: int = 1000, destination: int = 80, sequence: int = 5) -> Segment:
    return Segment(source, destination, sequence, 0, SYN, 500)


def opened(ends: Endpoints, source: int = 1000, peer: int = 0, sequence: int = 5) -> Connection:
    """A call that a listener at port 80 has taken, answered and open."""
    connection = ends.arrived(peer, syn(source, sequence=sequence), 0)
    assert isinstance(connection, Connection)
    found = connection.following(0)
    assert found
    ends.arrived(peer, Segment(source, 80, sequence + 1, plus(found[0].sequence, 1), ACK, 500), 1)
    return connection


@pytest.mark.parametrize("flags, data, answer", [
    (RST, b"", None), (RST | ACK, b"", None),
    (ACK, b"xyz", Segment(80, 1000, 9, 0, RST)),
    (ACK | SYN, b"", Segment(80, 1000, 9, 0, RST)),
    (SYN, b"", Segment(80, 1000, 0, 6, RST | ACK)),
    (FIN, b"xyz", Segment(80, 1000, 0, 9, RST | ACK))])
def test_a_segment_for_nobody_is_reset(ends, flags, data, answer):
    """RFC 793, 3.4: with its acknowledgement as the number, else acknowledging all of it."""
    assert ends.arrived(0, Segment(1000, 80, 5, 9, flags, 500, data), 0) == answer
    assert len(ends) == 0


@pytest.mark.parametrize("flags", [ACK, SYN | ACK, RST, FIN, 0])
def test_a_listener_takes_calls_alone(ends, flags):
    listener = ends.listen(80, 5)
    assert not isinstance(ends.arrived(0, Segment(1000, 80, 5, 9, flags, 500), 0), Connection)
    assert not listener.opening and len(ends) == 0
    assert isinstance(ends.arrived(0, syn(), 0), Connection) and len(listener.opening) == 1


def test_ports_and_peers_keep_connections_apart(ends):
    listener = ends.listen(80, 5)
    several = [opened(ends, source, peer) for source, peer in ((1000, 0), (1001, 0), (1000, 2))]
    assert len(ends) == 3 and list(listener.ready) == several and list(ends) == several
    for (source, peer), connection in zip(((1000, 0), (1001, 0), (1000, 2)), several, strict=True):
        assert ends.arrived(peer, Segment(source, 80, 6, 0, 0, 500), 2) is connection


def test_a_backlog_counts_calls_that_are_open_or_opening(ends):
    listener = ends.listen(80, 2)
    first = opened(ends, 1000)
    assert list(listener.ready) == [first]
    assert ends.arrived(0, syn(1001), 0) in listener.opening
    assert ends.arrived(0, syn(1002), 0) is None and len(ends) == 2
    listener.ready.popleft()
    assert isinstance(ends.arrived(0, syn(1002), 0), Connection)


def test_a_call_that_fails_leaves_the_backlog(ends):
    listener = ends.listen(80, 1)
    ends.arrived(0, syn(), 0)
    ends.arrived(0, Segment(1000, 80, 6, 0, RST), 0)
    assert not listener.opening and not listener.ready
    assert isinstance(ends.arrived(0, syn(1001), 0), Connection)


def test_a_listener_that_stops_gives_its_calls_and_its_port_back(ends):
    listener = ends.listen(80, 5)
    first, second = opened(ends, 1000), ends.arrived(0, syn(1001), 0)
    assert ends.taken(80)
    assert ends.stop(listener) == [second, first]
    assert isinstance(ends.arrived(0, syn(1002), 0), Segment)
    assert isinstance(ends.arrived(0, Segment(1000, 80, 6, 0, ACK, 500), 0), Connection)


def test_a_new_call_takes_the_place_of_one_in_time_wait_alone(ends):
    ends.listen(80, 5)
    first = opened(ends)
    assert ends.arrived(0, syn(sequence=7), 2) is first
    assert first.state is State.CLOSED  # a SYN within the window
    ends.settle()
    assert len(ends) == 1  # its reset has not gone
    assert first.following(2) and ends.settle() == FAR and len(ends) == 0
    second = opened(ends)
    second.state = State.TIME_WAIT
    third = ends.arrived(0, syn(sequence=90_000), 3)
    assert isinstance(third, Connection) and third is not second
    assert second.state is State.CLOSED and list(ends) == [third]


def test_ports_of_callers_go_round_and_miss_those_that_are_taken(ends):
    assert [ends.free_port() for _ in range(3)] == [FIRST, FIRST + 1, FIRST + 2]
    ends.bound.add(FIRST + 3)
    ends.listen(FIRST + 4, 1)
    assert ends.call(FIRST + 5, 0, 80, 0)
    assert ends.call(FIRST + 5, 0, 80, 0) is None
    assert [ends.taken(FIRST + far) for far in range(2, 7)] == [False, True, True, True, False]
    assert ends.free_port() == FIRST + 6
    ends._next = LAST
    assert [ends.free_port(), ends.free_port()] == [LAST, FIRST]
    ends.bound.update(range(FIRST, LAST + 1))
    assert ends.free_port() is None
    ends.bound.discard(FIRST + 1)
    assert ends.free_port() == FIRST + 1


def test_first_sequence_numbers_go_with_time_and_lie_apart(ends):
    numbers = [ends.call(port, 0, 80, now).outgoing.first
               for port, now in ((1, 0), (2, 0), (3, 256), (4, 256 * 100 + 255))]
    assert numbers == [64_000, 128_000, 192_001, 256_100]
    assert ends.node == 1


def test_the_next_time_is_the_earliest_of_all(ends):
    assert ends.settle() == FAR
    first, second = ends.call(1, 0, 80, 0), ends.call(2, 0, 80, 0)
    first.following(500)
    assert ends.settle() == first.deadline < FAR
    second.following(100)
    assert ends.settle() == second.deadline == first.deadline - 400


def test_a_connection_that_is_over_is_forgotten():
    hosts = Hosts()
    one, other = hosts.pair()
    one.close()
    hosts.until(lambda: other.incoming.finished)
    assert [len(ends) for ends in hosts.ends] == [1, 1]
    other.close()
    hosts.until(lambda: one.state is State.TIME_WAIT and not len(hosts.ends[1]))
    assert len(hosts.ends[0]) == 1 and hosts.ends[0].taken(1000)
    hosts.until(lambda: not len(hosts.ends[0]))
    assert not hosts.ends[0].taken(1000)
