"""The congestion window, step by step, as RFC 2581 and RFC 2582 have it."""

import pytest
from nicbed.host.tcp.protocol.congestion import Congestion

MSS = 100


def duplicates(congestion, under_way, count):
    return [congestion.duplicate(under_way) for _ in range(count)]


def lossy(under_way=1000):
    """In a recovery."""
    congestion = Congestion(MSS)
    assert duplicates(congestion, under_way, 3) == [False, False, True]
    return congestion


def recovered(under_way=1000):
    congestion = lossy(under_way)
    congestion.recovered()
    return congestion


def test_slow_start_adds_what_is_acknowledged_and_at_most_a_segment():
    congestion = Congestion(MSS)
    assert congestion.window == 2 * MSS
    for count, window in ((100, 300), (30, 330), (250, 430), (1, 431)):
        congestion.acknowledged(count)
        assert congestion.window == window
    for _ in range(10_000):
        congestion.acknowledged(MSS)
    assert congestion.window == 431 + 10_000 * MSS


def test_avoidance_adds_a_segment_a_window():
    congestion = recovered()
    assert congestion.window == 500
    windows = []
    for _ in range(5):
        congestion.acknowledged(MSS)
        windows.append(congestion.window)
    assert windows == [520, 539, 557, 574, 591]


def test_avoidance_adds_a_byte_at_least():
    congestion = recovered(200_000)
    congestion.acknowledged(MSS)
    assert congestion.window == 100_001


def test_slow_start_ends_at_the_threshold():
    congestion = Congestion(MSS)
    congestion.timed_out(800)
    windows = [congestion.window]
    for _ in range(5):
        congestion.acknowledged(MSS)
        windows.append(congestion.window)
    assert windows == [100, 200, 300, 400, 425, 448]


@pytest.mark.parametrize("under_way, threshold", [(1000, 500), (401, 200), (400, 200), (90, 200)])
def test_the_threshold_is_half_of_what_is_under_way_and_two_segments_at_least(under_way, threshold):
    congestion = lossy(under_way)
    assert congestion.recovering and congestion.window == threshold + 3 * MSS
    congestion.recovered()
    assert not congestion.recovering and congestion.window == threshold
    congestion.timed_out(under_way)
    assert congestion.window == MSS and not congestion.recovering
    for _ in range(threshold // MSS - 1):
        congestion.acknowledged(MSS)
    assert congestion.window == threshold
    congestion.acknowledged(MSS)
    assert congestion.window == threshold + MSS * MSS // threshold


def test_after_a_time_out_slow_start_goes_on_to_two_segments_at_least():
    congestion = Congestion(MSS)
    congestion.timed_out(90)
    congestion.acknowledged(30)
    assert congestion.window == 130


def test_each_further_duplicate_lets_a_segment_go():
    congestion = lossy()
    assert duplicates(congestion, 1000, 4) == [False] * 4
    assert congestion.window == 500 + 3 * MSS + 4 * MSS


def test_a_part_deflates_the_window_by_it_and_lets_a_segment_go():
    congestion = lossy()
    congestion.partly(250)
    assert congestion.window == 800 - 250 + 100 and congestion.recovering
    congestion.partly(5000)
    assert congestion.window == MSS


@pytest.mark.parametrize("end", ["acknowledged", "recovered", "timed out"])
def test_duplicates_are_counted_anew(end):
    """Only three in a row tell of a loss."""
    congestion = Congestion(MSS)
    if end == "acknowledged":
        duplicates(congestion, 1000, 2)
        congestion.acknowledged(MSS)
    elif end == "recovered":
        congestion = recovered()
    else:
        congestion = lossy()
        congestion.timed_out(1000)
    assert duplicates(congestion, 1000, 3) == [False, False, True]
