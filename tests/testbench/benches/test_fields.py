"""Parameters and results in their plain form, and read again."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pytest
from nicbed.testbench.benches.fields import figure, plain, read


@dataclass(frozen=True)
class Point:
    at: int = figure("bytes", "where")
    value: float | None = figure("cycles", "what")


@dataclass(frozen=True, kw_only=True)
class Curve:
    name: str = figure("", "whose")
    points: Sequence[Point] = figure("", "all of them")
    worst: Point | None = figure("", "the worst", optional=True)


@dataclass(frozen=True, kw_only=True)
class Curves(Curve):
    by_name: Mapping[str, Curve] = figure("", "more of them")
    spare: Sequence[Point] | None = figure("", "and some", optional=True)


POINTS = [Point(1, 2.5), Point(2, None)]
PLAIN = [{"at": 1, "value": 2.5}, {"at": 2, "value": None}]


@pytest.mark.parametrize("one", [
    Curve(name="a", points=POINTS), Curve(name="a", points=[], worst=POINTS[0]),
    Curves(name="b", points=POINTS, by_name={"c": Curve(name="c", points=POINTS)}),
    Curves(name="b", points=[], by_name={}, spare=POINTS, worst=POINTS[1]),
])
def test_what_is_written_is_read(one):
    assert read(type(one), json.loads(json.dumps(plain(one)))) == one


def test_an_optional_figure_that_is_none_is_not_written():
    assert plain(Curve(name="a", points=POINTS)) == {"name": "a", "points": PLAIN}
    assert plain(Curve(name="a", points=[], worst=POINTS[0]))["worst"] == PLAIN[0]
    with pytest.raises(KeyError, match="points"):
        read(Curve, {"name": "a"})


def test_more_than_a_class_has_is_left():
    assert read(Curve, plain(Curves(name="b", points=POINTS, by_name={}))) == Curve(
        name="b", points=POINTS)


def test_numbers_are_in_order_and_names_stay_as_they_are() -> None:
    """A file has its keys by letters."""
    @dataclass(frozen=True)
    class Found:
        sizes: Mapping[str, float] = figure("cycles", "by size")

    assert [*read(Found, {"sizes": {"1024": 3, "16": 2, "4": 1}}).sizes] == ["4", "16", "1024"]
    assert [*read(Found, {"sizes": {"b": 3, "4": 2, "a": 1}}).sizes] == ["b", "4", "a"]


@pytest.mark.parametrize("written, read_again", [
    (["1024", "16", "4"], ["4", "16", "1024"]),
    (["0.001", "0.01", "0.0", "1e-05"], ["0.0", "1e-05", "0.001", "0.01"]),
    (["b", "10", "a", "9"], ["b", "10", "a", "9"])])
def test_what_is_by_number_is_read_in_order(written, read_again):
    """A file has it by letters; if there are names among the numbers, it is left as it is."""
    curve = {"name": "c", "points": []}
    found = read(Curves, {"name": "b", "points": [],
                          "by_name": {key: curve for key in written}})
    assert list(found.by_name) == read_again
