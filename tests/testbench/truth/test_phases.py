"""Phases of a program from marks: what of each is the program's own, messages, and waiting."""

from nicbed.layouts.trace import Activity, Kind, Mark
from nicbed.testbench.truth.phases import PhaseTime, phases
from nicbed.testbench.truth.spans import spans

A = Activity


def marks(node, *steps):
    """``steps``: (ticks, activity, number) for a beginning, (ticks, activity) for an end."""
    return [Mark(step[0], node, 0, step[1], Kind.BEGIN if len(step) == 3 else Kind.END,
                 step[2] if len(step) == 3 else 0) for step in steps]


def test_a_phase_is_divided_and_its_times_are_added():
    log = marks(
        0, (10, A.COMPUTE, 1), (15, A.EMPTY_POLL, 0), (18, A.EMPTY_POLL),
        (20, A.REQUEST_HANDLE, 7), (24, A.REPLY_SEND, 8), (29, A.REPLY_SEND),
        (30, A.REQUEST_HANDLE), (40, A.COMPUTE),
        (40, A.COMMUNICATE, 0), (41, A.REQUEST_SEND, 9), (43, A.WINDOW_WAIT, 9),
        (44, A.REPLY_HANDLE, 9), (46, A.REPLY_HANDLE), (50, A.WINDOW_WAIT),
        (53, A.REQUEST_SEND), (55, A.COMMUNICATE),
        (55, A.COMPUTE, 1), (60, A.COMPUTE))
    times, limits = phases(spans(log))
    assert times == {(0, A.COMPUTE, 1): PhaseTime(own=17 + 5, messages=10, waiting=3),
                     (0, A.COMMUNICATE, 0): PhaseTime(own=3, messages=7, waiting=5)}
    assert limits == {0: (10, 60)}
    assert times[0, A.COMPUTE, 1].whole == 30 + 5


def test_what_is_in_no_phase_counts_nowhere_and_nodes_are_apart():
    log = marks(0, (0, A.EMPTY_POLL, 0), (5, A.EMPTY_POLL), (5, A.COMPUTE, 0), (6, A.COMPUTE))
    log += marks(1, (7, A.COMPUTE, 0), (9, A.COMPUTE))
    times, limits = phases(spans(log))
    assert times == {(0, A.COMPUTE, 0): PhaseTime(own=1), (1, A.COMPUTE, 0): PhaseTime(own=2)}
    assert limits == {0: (5, 6), 1: (7, 9)}
