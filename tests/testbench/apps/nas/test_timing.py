"""The timed part of a kernel, from marks."""

from fractions import Fraction

from nicbed.layouts.trace import Activity, Kind, Mark
from nicbed.testbench.apps.nas.timing import KINDS, timed
from nicbed.testbench.truth.spans import spans

B, E = Kind.BEGIN, Kind.END
CALL, COMPUTE = Activity.COMMUNICATE, Activity.COMPUTE


def marks(*rows, node=0):
    return [Mark(ticks, node, 0, int(activity), int(kind), number)
            for ticks, activity, kind, number in rows]


RUN = marks(
    (0, CALL, B, 1), (90, CALL, E, 1),
    (100, COMPUTE, B, 0), (110, COMPUTE, E, 0), (110, COMPUTE, B, 1),
    (150, CALL, B, 3), (160, Activity.CHANNEL, B, 0), (170, Activity.EMPTY_CHECK, B, 0),
    (190, Activity.EMPTY_CHECK, E, 0), (195, Activity.CHANNEL, E, 0), (200, CALL, E, 3),
    (220, COMPUTE, E, 1), (220, COMPUTE, B, 1), (250, Activity.BLOCKED, B, 0),
    (255, Activity.BLOCKED, E, 0), (260, COMPUTE, E, 1), (260, COMPUTE, B, 2),
    (300, COMPUTE, E, 2), (310, CALL, B, 2), (400, CALL, E, 2))


def test_parts_are_the_whole_time_in_order():
    one = timed(spans(RUN))[0]
    assert (one.begin, one.end, one.iterations) == (100, 300, [220, 260])
    assert [one.ticks(kind) for kind in KINDS] == [145, 30, 25]
    assert [part.begin for part in one.parts[1:]] == [part.end for part in one.parts[:-1]]


def test_shares_of_stretches():
    one = timed(spans(RUN))[0]
    assert one.shares(100, 300, 4) == [
        [Fraction(1), 0, 0], [0, Fraction(3, 5), Fraction(2, 5)],
        [Fraction(1), 0, 0], [Fraction(9, 10), 0, Fraction(1, 10)]]
    # A process that ends before others do has nothing in the last stretches.
    assert one.shares(100, 500, 4)[2:] == [[0, 0, 0], [0, 0, 0]]


def test_each_node_has_its_own():
    found = timed(spans([*RUN, *marks((50, COMPUTE, B, 1), (60, COMPUTE, E, 1), node=1)]))
    assert (found[1].begin, found[1].end, found[1].ticks("computation")) == (50, 60, 10)
