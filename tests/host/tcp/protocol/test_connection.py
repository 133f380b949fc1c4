"""Connections of TCP over a network that loses, doubles, spoils and reorders packets."""

import random

import pytest
from nicbed.host.tcp.protocol.connection import Connection, Ended, State
from nicbed.host.tcp.protocol.headers import Flag, Segment
from nicbed.host.tcp.protocol.sequence import plus

from tests.labs.rows import more
from tests.models.tcp import SETTINGS, Hosts

FAULTS = {"drop": 0.08, "duplicate": 0.05, "corrupt": 0.05, "delay": 0.1}


def content(count, seed):
    return random.Random(seed).randbytes(count)


class Stream:
    """``data`` from one end to the other, written and read in random lots."""

    def __init__(self, source: Connection, sink: Connection, data: bytes, seed: int = 0) -> None:
        self.source, self.sink, self.data = source, sink, data
        self.written = 0
        self.got = b""
        self.random = random.Random(seed)

    def move(self) -> bool:
        """Write and read what can be now; whether all has been."""
        lot = min(self.source.room, self.random.choice([1, 99, 100, 101, 1000]))
        if self.written < len(self.data) and lot:
            part = self.data[self.written:self.written + lot]
            self.source.write(part)
            self.written += len(part)
        if self.random.random() < 0.7:
            self.got += b"".join(self.sink.read(self.random.choice([1, 50, 1000])))
        assert self.data.startswith(self.got)
        return len(self.got) == len(self.data)


def finish(hosts, *ends):
    """Both close, and all is over."""
    for end in ends:
        end.close()
    hosts.until(lambda: not len(hosts.ends[0]) and not len(hosts.ends[1]))
    assert all(end.state is State.CLOSED and end.error is None for end in ends)


@pytest.mark.parametrize("nodelay", [False, True])
@pytest.mark.parametrize("seed", [*range(6), *map(more, range(6, 60))])
@pytest.mark.parametrize("faults", [{}, *({one: rate} for one, rate in FAULTS.items()), FAULTS],
                         ids=["none", *FAULTS, "all"])
def test_streams_both_ways(faults, seed, nodelay):
    """Nothing is lost, doubled or out of order, whatever the network does."""
    hosts = Hosts(seed=seed, **faults)
    ends = hosts.pair()
    for end in ends:
        end.nodelay = nodelay
    streams = [Stream(*ends, content(7000, seed), seed),
               Stream(*reversed(ends), content(3000, seed + 1), seed + 1)]
    hosts.until(lambda: all([stream.move() for stream in streams]), 60_000)
    if not faults:
        assert not any(sum(end.again.values()) for end in ends) and not hosts.bad
    finish(hosts, *ends)


def test_spoilt_packets_are_noticed_by_their_checksums():
    hosts = Hosts(seed=3, corrupt=0.3)
    stream = Stream(*hosts.pair(), content(20_000, 3))
    hosts.until(stream.move, 60_000)
    assert {"checksum of TCP", "checksum of the IP header"} <= set(hosts.bad)


def test_an_acknowledgement_for_each_second_segment():
    hosts = Hosts(SETTINGS._replace(buffer=5000, chunks=60))
    source, sink = hosts.pair()
    stream = Stream(source, sink, bytes(20_000))
    hosts.until(stream.move)
    carrying = [one for _, node, one in hosts.seen if node == 0 and one.data]
    pure = [one for _, node, one in hosts.seen if node == 1 and not one.span]
    assert len(carrying) >= 200
    assert len(carrying) / 2 - 5 <= len(pure) <= len(carrying) / 2 + 30


def test_a_single_segment_is_acknowledged_by_the_timer():
    hosts = Hosts()
    source, sink = hosts.pair()
    hosts.until(lambda: source.deadline > 1 << 60)
    hosts.seen.clear()
    begin = hosts.now
    source.write(b"x")
    hosts.until(lambda: not source.outgoing.flight and not source.outgoing.waiting)
    [(_, _, data), (when, node, ack)] = hosts.seen
    assert data.data == b"x" and node == 1 and not ack.span
    assert when == begin + 50 + SETTINGS.delayed_ack


def test_data_carry_the_acknowledgement():
    hosts = Hosts()
    source, sink = hosts.pair()
    for _ in range(5):
        hosts.seen.clear()
        for one, other in ((source, sink), (sink, source)):
            one.write(b"x")
            hosts.until(lambda other=other: other.incoming.readable)
            other.read(10)
        assert sum(bool(segment.data) for _, _, segment in hosts.seen) == len(hosts.seen) == 2
    hosts.until(lambda: not sink.outgoing.held)


def test_short_segments_wait_for_the_acknowledgement_without_nodelay():
    for nodelay, expected in ((False, [1, 9]), (True, [1] * 10)):
        hosts = Hosts()
        source, sink = hosts.pair()
        source.nodelay = nodelay
        for _ in range(10):
            source.write(b"x")
            hosts.settle()
        hosts.until(lambda sink=sink: sink.incoming.readable == 10)
        assert [len(one.data) for _, node, one in hosts.seen if node == 0 and one.data] == expected


def test_a_lost_segment_is_sent_again_at_the_third_duplicate():
    lost = []

    def lose(source, segment):
        if segment.data and len(hosts.seen) > 80 and not lost:
            lost.append((hosts.now, segment.sequence))
        return lost[:1] == [(hosts.now, segment.sequence)] and len(segment.data) > 0

    hosts = Hosts(SETTINGS._replace(buffer=5000, chunks=60), lose=lose)
    source, sink = hosts.pair()
    stream = Stream(source, sink, content(30_000, 1))
    hosts.until(stream.move)
    [(when, sequence)] = lost
    [again] = [at for at, node, one in hosts.seen
               if node == 0 and one.data and one.sequence == sequence and at > when]
    assert again - when < SETTINGS.rto_min
    assert source.again == {"time-out": 0, "duplicates": 1}


def test_two_lost_segments_of_a_window_need_no_timer():
    lost = set()

    def lose(source, segment):
        doomed = (len(hosts.seen) > 80 and segment.data and len(lost) < 2
                  and segment.sequence not in lost)
        if doomed:
            lost.add(segment.sequence)
        return bool(doomed)

    hosts = Hosts(SETTINGS._replace(buffer=5000, chunks=60), lose=lose)
    source, sink = hosts.pair()
    hosts.until(Stream(source, sink, content(30_000, 1)).move)
    assert source.again == {"time-out": 0, "duplicates": 2}


def test_the_last_segment_is_sent_again_by_the_timer_which_doubles():
    gone = 4

    def lose(source, segment):
        return len([one for _, _, one in hosts.seen if one.data]) <= gone and bool(segment.data)

    hosts = Hosts(lose=lose)
    source, sink = hosts.pair()
    source.write(b"last")
    hosts.until(lambda: sink.incoming.readable)
    times = [when for when, _, one in hosts.seen if one.data]
    gaps = [after - before for before, after in zip(times, times[1:], strict=False)]
    assert gaps == [1000, 2000, 4000, 8000]
    assert source.again["time-out"] == gone


def test_the_time_out_follows_the_round_trip():
    """With a round trip above the least time-out, nothing is sent again."""
    hosts = Hosts(SETTINGS._replace(rto_min=60, delayed_ack=0))
    source, sink = hosts.pair()
    hosts.until(Stream(source, sink, content(5000, 1)).move)
    assert source.again == {"time-out": 0, "duplicates": 0}


def test_a_segment_that_was_sent_again_measures_no_round_trip():
    """Which of the two was acknowledged, nobody knows (Karn): the time-out stays doubled."""
    lost = []

    def lose(source, segment):
        doomed = segment.data == b"again" and not lost
        lost.extend([1] * doomed)
        return doomed

    hosts = Hosts(lose=lose)
    source, sink = hosts.pair()
    source.write(b"first")
    hosts.until(lambda: not source.outgoing.held)
    before = source._trip.estimate.mean
    source.write(b"again")
    hosts.until(lambda: not source.outgoing.held)
    assert source._trip.estimate.mean == before > 0 and source._trip.wait == 2 * SETTINGS.rto_min


def test_a_time_out_begins_with_one_segment():
    black = []
    hosts = Hosts(SETTINGS._replace(buffer=5000, chunks=60), lose=lambda *_: bool(black))
    source, sink = hosts.pair()
    hosts.until(Stream(source, sink, content(5000, 1)).move)
    black.append(1)
    source.write(bytes(1000))
    hosts.settle()
    assert len(source.outgoing.flight) > 3
    hosts.seen.clear()
    while not source.again["time-out"]:
        assert hosts.step()
        hosts.settle()
    black.clear()
    assert [len(one.data) for _, node, one in hosts.seen if node == 0] == [100]
    hosts.until(lambda: sink.incoming.readable == 1000)


def test_a_window_that_opens_is_told_at_once():
    hosts = Hosts()
    source, sink = hosts.pair()
    source.write(bytes(1000))
    hosts.until(lambda: not source.outgoing.held)
    source.write(b"more")
    begin = hosts.now
    assert b"".join(sink.read(2000)) == bytes(1000)
    hosts.until(lambda: sink.incoming.readable == 4)
    assert hosts.now - begin < 200


def test_a_full_receiver_stops_the_sender_and_a_lost_opening_is_probed():
    opened = []

    def lose(source, segment):
        return source == 1 and bool(opened) and segment.window > 0 and len(opened) < 2

    hosts = Hosts(lose=lose)
    source, sink = hosts.pair()
    source.write(bytes(1000))
    hosts.until(lambda: sink.incoming.readable == 1000)
    hosts.until(lambda: not source.outgoing.flight)
    source.write(b"more")
    for _ in range(6):
        hosts.step()
    assert sink.incoming.readable == 1000 and sink.incoming.window == 0
    opened.append(1)
    assert b"".join(sink.read(2000)) == bytes(1000)
    hosts.settle()
    opened.append(2)
    hosts.until(lambda: sink.incoming.readable == 4)
    assert source.error is None


def test_a_window_that_stays_shut_keeps_the_connection():
    hosts = Hosts(SETTINGS._replace(retries=3))
    source, sink = hosts.pair()
    source.write(bytes(1000))
    hosts.until(lambda: not source.outgoing.flight and sink.incoming.readable == 1000)
    source.write(b"more")
    for _ in range(100):
        assert hosts.step()
    assert source.state is State.ESTABLISHED
    sink.read(1000)
    hosts.until(lambda: sink.incoming.readable == 4)


def test_a_peer_that_falls_silent_is_given_up():
    silent = []
    hosts = Hosts(SETTINGS._replace(retries=3), lose=lambda source, segment: bool(silent))
    source, _ = hosts.pair()
    silent.append(1)
    source.write(b"x")
    hosts.until(lambda: source.state is State.CLOSED)
    assert source.error is Ended.TIMED_OUT
    assert len([one for _, _, one in hosts.seen if one.data]) == 4


def test_nobody_listens():
    hosts = Hosts()
    caller = hosts.ends[0].call(1000, 1, 80, 0)
    hosts.until(lambda: caller.state is State.CLOSED)
    assert caller.error is Ended.REFUSED


def test_nobody_is_there():
    hosts = Hosts(SETTINGS._replace(retries=2), lose=lambda source, segment: True)
    caller = hosts.ends[0].call(1000, 1, 80, 0)
    hosts.until(lambda: caller.state is State.CLOSED)
    assert caller.error is Ended.TIMED_OUT and len(hosts.seen) == 3


def test_both_call_each_other():
    hosts = Hosts()
    one, other = hosts.ends[0].call(80, 1, 80, 0), hosts.ends[1].call(80, 0, 80, 0)
    hosts.until(lambda: one.open and other.open)
    stream = Stream(one, other, content(500, 1))
    hosts.until(stream.move)
    finish(hosts, one, other)


@pytest.mark.parametrize("seed", range(20))
def test_opening_and_closing_under_loss(seed):
    hosts = Hosts(seed=seed, drop=0.3, duplicate=0.2, delay=0.2)
    for _ in range(3):
        ends = hosts.pair()
        ends[0].write(b"question")
        hosts.until(lambda ends=ends: ends[1].incoming.readable == 8)
        ends[1].read(8)
        first, second = ends if seed % 2 else reversed(ends)
        first.shutdown()
        hosts.until(lambda second=second: second.incoming.finished)
        finish(hosts, first, second)


def test_a_fin_behind_a_full_window():
    hosts = Hosts()
    one, other = hosts.pair()
    one.write(bytes(1000))
    one.shutdown()
    hosts.until(lambda: other.incoming.finished)
    assert other.incoming.window == 0 and b"".join(other.read(2000)) == bytes(1000)
    finish(hosts, one, other)


def test_half_closed_connections_carry_data():
    hosts = Hosts()
    one, other = hosts.pair()
    one.shutdown()
    hosts.until(lambda: other.incoming.finished and one.state is State.FIN_WAIT_2)
    assert not one.writable and one.room == 0 and other.state is State.CLOSE_WAIT
    hosts.until(Stream(other, one, content(2500, 2)).move)
    other.close()
    hosts.until(lambda: one.incoming.finished)
    finish(hosts, one)


def test_unread_data_make_closing_a_reset():
    hosts = Hosts()
    one, other = hosts.pair()
    one.write(b"never read")
    hosts.until(lambda: other.incoming.readable)
    other.close()
    hosts.until(lambda: one.state is State.CLOSED)
    assert one.error is Ended.RESET


def test_data_for_a_process_that_has_closed_are_answered_by_a_reset():
    hosts = Hosts()
    one, other = hosts.pair()
    other.close()
    hosts.until(lambda: one.state is State.CLOSE_WAIT)
    one.write(b"too late")
    hosts.until(lambda: one.state is State.CLOSED)
    assert one.error is Ended.RESET


def test_a_blind_reset_beyond_the_window_is_ignored():
    hosts = Hosts()
    one, other = hosts.pair()
    far = Segment(80, 1000, plus(one.incoming.expected, 5000), 0, Flag.RST)
    hosts.ends[0].arrived(1, far, hosts.now)
    assert one.state is State.ESTABLISHED
    far.sequence = plus(one.incoming.expected, 5)
    hosts.ends[0].arrived(1, far, hosts.now)
    assert one.error is Ended.RESET


def test_the_shorter_segment_size_holds():
    hosts = Hosts(others=SETTINGS._replace(mss=60))
    one, other = hosts.pair()
    hosts.until(Stream(one, other, content(1000, 2)).move)
    hosts.until(Stream(other, one, content(1000, 2)).move)
    assert max(len(segment.data) for _, _, segment in hosts.seen) == 60


def test_a_full_listener_drops_calls_and_takes_them_later():
    hosts = Hosts()
    listener = hosts.ends[1].listen(80, 1)
    callers = [hosts.ends[0].call(port, 1, 80, 0) for port in (1000, 1001)]
    hosts.until(lambda: listener.ready)
    for _ in range(20):
        hosts.step()
    assert [caller.open for caller in callers] == [True, False]
    listener.ready.popleft()
    hosts.until(lambda: callers[1].open)


def test_sequence_numbers_go_round():
    hosts = Hosts(seed=1, drop=0.1, delay=0.1)
    hosts.now = (1 << 32) * 256 - 64_000 * 256 - 256 * 500
    one, other = hosts.pair()
    assert one.outgoing.first > 1 << 31
    hosts.until(Stream(one, other, content(4000, 1)).move)
    assert one.outgoing.first < 1 << 31
    finish(hosts, one, other)


@pytest.mark.parametrize("ends_first", [True, False])
def test_a_peer_that_never_closes_is_not_waited_for_for_ever(ends_first):
    hosts = Hosts()
    one, other = hosts.pair()
    one.close()
    hosts.until(lambda: other.incoming.finished)
    hosts.until(lambda: one.state is State.CLOSED)
    assert one.error is None and other.state is State.CLOSE_WAIT
