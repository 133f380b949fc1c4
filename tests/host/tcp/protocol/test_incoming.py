"""The receive buffer: what comes in any order is read in order, and its window keeps its word."""

import random

import pytest
from nicbed.host.tcp.protocol.incoming import Incoming
from nicbed.host.tcp.protocol.sequence import HALF, MASK, plus

STARTS = [0, 1, HALF - 20, MASK - 30, MASK]


@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize("seed", range(12))
def test_pieces_in_any_order_against_a_set_of_bytes(start, seed):
    """Overlaps, repetitions and gaps; after each piece what is in order is what a plain set of
    the bytes that came says."""
    rng = random.Random(seed)
    data = rng.randbytes(60)
    incoming = Incoming(100, start, 10)
    there: set[int] = set()
    order, got, ended = 0, b"", False
    for _ in range(400):
        begin = rng.randrange(61)
        end = min(60, begin + rng.choice([0, 1, 3, 10, 30]))
        fin = end == 60 and rng.random() < 0.5
        if not (begin < end or fin):
            continue
        there.update(range(begin, end))
        ended |= fin
        before = order + incoming.finished
        while order in there:
            order += 1
        new = incoming.put(plus(start, begin), data[begin:end], fin)
        finished = ended and order == 60
        assert new == order + finished - before
        assert incoming.finished == finished
        assert incoming.expected == plus(start, order + finished)
        assert incoming.readable == order - len(got)
        assert incoming.gaps or not any(place > order for place in there)
        if rng.random() < 0.3:
            count = rng.choice([1, 5, 100])
            blocks = incoming.read(count)
            assert all(len(block) for block in blocks)
            got += b"".join(blocks)
            assert len(got) <= order and got == data[:len(got)]
        if finished and len(got) == 60:
            break
    assert got + b"".join(incoming.read(100)) == data and incoming.finished


def test_a_fin_alone_beyond_a_gap_keeps_nothing():
    incoming = Incoming(100, 0, 10)
    assert incoming.put(5, b"", True) == 0 and not incoming.gaps and not incoming.finished
    assert incoming.put(0, b"01234", False) == 6 and incoming.finished


def test_repeated_data_is_kept_once():
    incoming = Incoming(100, 0, 10)
    for _ in range(3):
        assert incoming.put(5, b"56789", False) == 0
    assert incoming._kept == [(5, b"56789")] and incoming.gaps
    assert incoming.put(0, b"01234", False) == 10 and not incoming.gaps
    assert b"".join(incoming.read(100)) == b"0123456789"


def test_old_data_leaves_no_trace():
    incoming = Incoming(100, 0, 10)
    incoming.put(0, b"01234", False)
    for begin, data in ((0, b"01234"), (4, b"4"), (2, b"23")):
        assert incoming.put(begin, data, False) == 0 and not incoming.gaps
    assert incoming.put(9, b"9", False) == 0 and incoming.gaps
    assert incoming.put(5, b"5678", False) == 5
    assert b"".join(incoming.read(100)) == b"0123456789" and incoming.read(1) == []


def test_a_block_is_read_whole_and_not_copied():
    incoming = Incoming(100, 0, 10)
    block = b"01234"
    incoming.put(0, block, False)
    incoming.put(5, b"56", False)
    assert incoming.read(5)[0] is block
    assert incoming.readable == 2 and incoming.read(1) == [b"5"] and incoming.read(9) == [b"6"]


@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize("size, mss, step", [(100, 10, 10), (100, 80, 50), (101, 60, 50)])
def test_the_window_opens_by_a_segment_or_half_of_the_buffer(start, size, mss, step):
    incoming = Incoming(size, start, mss)
    assert incoming.window == size
    incoming.put(start, bytes(size), False)
    incoming.told(incoming.window)
    assert incoming.window == 0 and incoming.readable == size
    incoming.read(step - 1)
    assert incoming.window == 0
    incoming.read(1)
    assert incoming.window == step


@pytest.mark.parametrize("start", STARTS)
def test_the_window_takes_nothing_back(start):
    """What the peer was told it may send, whatever is read or comes in between."""
    incoming = Incoming(100, start, 10)
    incoming.put(start, bytes(95), False)
    incoming.told(incoming.window)
    assert incoming.window == 5
    incoming.read(9)
    assert incoming.window == 5
    incoming.put(plus(start, 95), bytes(2), False)
    assert incoming.window == 3
    incoming.read(1)
    assert incoming.window == 100 - 97 + 10


def test_a_fin_behind_a_full_window_promises_nothing():
    incoming = Incoming(100, 7, 10)
    incoming.put(7, bytes(100), False)
    incoming.told(0)
    assert incoming.put(107, b"", True) == 1 and incoming.expected == 108
    assert incoming.window == 0 and incoming.finished
    assert incoming.put(107, b"", True) == 0 and incoming.expected == 108


@pytest.mark.parametrize("size, mss, least", [(1000, 10, 20), (100, 40, 50), (101, 60, 50)])
def test_news_is_two_segments_or_half_of_the_buffer(size, mss, least):
    incoming = Incoming(size, 0, mss)
    incoming.put(0, bytes(size), False)
    incoming.told(0)
    incoming.read(least - 1)
    assert not incoming.news
    incoming.read(1)
    assert incoming.news
    incoming.told(incoming.window)
    assert not incoming.news
