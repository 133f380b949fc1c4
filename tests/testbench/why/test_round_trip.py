"""Round trips in parts, side by side."""

from fractions import Fraction

from nicbed.testbench.why.round_trip import beside


def test_parts_of_several_sides_keep_their_order():
    sides = [[("a", Fraction(1)), ("c", Fraction(3))], [("b", Fraction(2)), ("c", Fraction(4))],
             [("a", Fraction(5)), ("d", Fraction(6))]]
    assert beside(sides) == [("b", [None, 2, None]), ("a", [1, None, 5]), ("d", [None, None, 6]),
                             ("c", [3, 4, None])]
