"""The send buffer: bytes in chunks, sent, sent again as they were, and acknowledged."""

import random

import pytest
from nicbed.host.tcp.protocol.outgoing import Outgoing
from nicbed.host.tcp.protocol.sequence import HALF, MASK, distance, plus

MSS = 10
STARTS = [0, HALF - 20, HALF, MASK - 30, MASK]


def filled(data=b"", size=100, most=8, start=0):
    outgoing = Outgoing(size, most, start)
    if data:
        outgoing.append(data, MSS)
    return outgoing


def sent(outgoing, count=1):
    for _ in range(count):
        outgoing.take().sent += 1


def test_bytes_fill_the_last_chunk_before_another_begins():
    outgoing = filled(b"0123456")
    [first] = outgoing.waiting
    found = outgoing.append(b"789abcdefghijklmnopq", MSS)
    chunks = list(outgoing.waiting)
    assert [(chunk, at, length) for chunk, at, length in found] == [
        (first, 7, 3), (chunks[1], 0, 10), (chunks[2], 0, 7)]
    assert [chunk.data for chunk in chunks] == [b"0123456789", b"abcdefghij", b"klmnopq"]
    assert [chunk.sequence for chunk in chunks] == [0, 10, 20] and chunks[-1].end == 27
    assert outgoing.held == 27


def test_what_fits_a_chunk_is_not_copied():
    data = b"01234"
    outgoing = filled(data)
    assert outgoing.waiting[0].data is data


@pytest.mark.parametrize("how", ["sent", "syn", "fin"])
def test_nothing_is_added_to_what_was_sent_or_is_control(how):
    """A chunk that was sent goes again as it was."""
    outgoing = filled(b"01")
    if how == "sent":
        sent(outgoing)
        outgoing.back()
    else:
        outgoing.control(**{how: True})
    last = outgoing.waiting[-1]
    before = bytes(last.data)
    [(chunk, at, length)] = outgoing.append(b"23", MSS)
    assert chunk is not last and (at, length) == (0, 2) and last.data == before
    assert chunk.sequence == last.end


def test_room_is_bytes_that_can_be_appended():
    """Free bytes, in the chunks that there may be and in the last one."""
    outgoing = filled(size=35, most=3)
    assert outgoing.room(MSS) == 30
    outgoing.append(b"0123456", MSS)
    assert outgoing.room(MSS) == 23
    sent(outgoing)
    assert outgoing.room(MSS) == 20
    outgoing.append(bytes(20), MSS)
    assert outgoing.room(MSS) == 0
    outgoing.size = 5
    assert outgoing.room(MSS) == 0
    assert filled(bytes(7), size=9).room(MSS) == 2


@pytest.mark.parametrize("start", STARTS)
def test_acknowledgements_end_chunks_that_are_whole(start):
    outgoing = filled(bytes(30), start=start)
    sent(outgoing, 2)
    first, second = outgoing.flight
    assert outgoing.under_way == 20 and outgoing.next == outgoing.highest == plus(start, 20)
    assert outgoing.acknowledged(plus(start, 9)) == [] and outgoing.under_way == 11
    assert outgoing.acknowledged(plus(start, 10)) == [first] and outgoing.held == 20
    assert outgoing.acknowledged(plus(start, 20)) == [second] and outgoing.held == 10
    assert not outgoing.flight and len(outgoing.waiting) == 1 and outgoing.under_way == 0


@pytest.mark.parametrize("start", STARTS)
def test_what_goes_again_may_be_acknowledged_before_it_has_gone(start):
    outgoing = filled(bytes(30), start=start)
    sent(outgoing, 3)
    chunks = list(outgoing.flight)
    outgoing.back()
    assert list(outgoing.waiting) == chunks and outgoing.next == start
    assert outgoing.highest == plus(start, 30)
    sent(outgoing)
    assert outgoing.highest == plus(start, 30) and outgoing.next == plus(start, 10)
    assert outgoing.acknowledged(plus(start, 20)) == chunks[:2]
    assert (outgoing.first, outgoing.next) == (plus(start, 20), plus(start, 20))
    assert outgoing.under_way == 0 and list(outgoing.waiting) == chunks[2:]


def test_nothing_is_left_after_the_end():
    outgoing = filled(bytes(30))
    sent(outgoing)
    chunks = [*outgoing.flight, *outgoing.waiting]
    assert outgoing.clear() == chunks
    assert (len(outgoing.flight), len(outgoing.waiting), outgoing.held) == (0, 0, 0)
    assert outgoing.clear() == []


@pytest.mark.parametrize("seed", range(10))
def test_random_calls_against_a_string(seed):
    """What is taken is the string from where it stands, whatever was acknowledged or sent back."""
    rng = random.Random(seed)
    start = rng.choice(STARTS)
    outgoing = Outgoing(64, 6, start)
    text = b""
    done = next_ = 0
    for _ in range(600):
        call = rng.random()
        room = outgoing.room(MSS)
        assert 0 <= room <= 64 - outgoing.held
        if call < 0.4 and room:
            data = rng.randbytes(rng.randint(1, room))
            outgoing.append(data, MSS)
            text += data
        elif call < 0.7 and outgoing.waiting:
            chunk = outgoing.take()
            chunk.sent += 1
            begin = distance(start, chunk.sequence)
            end = begin + len(chunk.data)
            assert begin == next_ or begin < done < end  # a part of it has arrived
            assert chunk.data == text[begin:end] and len(chunk.data) <= MSS
            next_ = end
        elif call < 0.95 and outgoing.highest != outgoing.first:
            far = distance(outgoing.first, outgoing.highest)
            done += rng.randint(1, far)
            next_ = max(next_, done)
            for chunk in outgoing.acknowledged(plus(start, done)):
                assert distance(chunk.end, plus(start, done)) >= 0
        else:
            outgoing.back()
            next_ = distance(start, outgoing.waiting[0].sequence) if outgoing.waiting else done
        held = [*outgoing.flight, *outgoing.waiting]
        assert outgoing.held == sum(len(chunk.data) for chunk in held) and len(held) <= 6
        assert outgoing.first == plus(start, done)
