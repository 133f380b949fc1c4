"""Ranges of what nobody measured, from a description's file."""

from fractions import Fraction

import pytest
from nicbed.testbench.descriptions import load
from nicbed.testbench.descriptions.typical import STEPS, typical
from nicbed.testbench.errors import UserError

TEXT = """
[typical]
"cpu.call" = { low = 3, high = 20, why = "code" }
"link.bytes_per_cycle" = { low = "1/2", high = 4, step = "1/2", why = "a link" }
"cpu.path_scale" = { low = "1/2", high = 2, why = "code" }
"am.bulk" = { values = ["pointer", "pinned"], why = "unknown" }
"""


@pytest.fixture
def described(tmp_path):
    def write(text):
        path = tmp_path / "mine.toml"
        path.write_text(text)
        return str(path)
    return write


def test_ranges_are_grids_of_values(described):
    call, rate, scale, bulk = typical(described(TEXT)).ranges
    assert call.values == tuple(range(3, 21)) and call.why == "code" and call.text == "3 to 20"
    assert rate.values == tuple(Fraction(one, 2) for one in range(1, 9))
    assert len(scale.values) == STEPS + 1 and scale.text == "0.5 to 2"
    assert bulk.values == ("pointer", "pinned") and bulk.text == "pointer, pinned"


def test_shares_of_a_range_are_levels(described):
    call, *_, bulk = typical(described(TEXT)).ranges
    assert [call.level(share) for share in (0, 0.0555, 0.0556, 0.9999, 1.0)] == [0, 0, 1, 17, 17]
    assert [bulk.level(share) for share in (0.49, 0.5)] == [0, 1]


def test_ranges_are_no_knobs(described):
    assert load.load(described(TEXT)) == load.load()


def test_a_description_without_the_table_has_no_ranges():
    assert typical("default").ranges == () and typical("default").head == ""


def test_a_description_may_be_as_another():
    assert typical("sp2-wide").head == "sp2-thin" and typical("sp2-wide").ranges == ()


@pytest.mark.parametrize("machine", ["paragon", "meiko-cs2", "myrinet-ss20", "sp2-thin"])
def test_machines_say_why(machine):
    """Each range holds the description's value, has a reason, and is fitted nowhere."""
    ranges = typical(machine).ranges
    assert len(ranges) > 10 and all(len(one.why) > 15 for one in ranges)


@pytest.mark.parametrize("old, new, said", [
    ('"cpu.call"', '"cpu.cal"', r"\[typical\]: no knob is called cpu.cal; did you mean"),
    ('"cpu.call"', '"fabric.nodes"', "fabric.nodes: is structure"),
    (', why = "code" }\n"link', ' }\n"link', "cpu.call: needs a range and its reason"),
    ("low = 3, high = 20", "low = 3", "cpu.call: needs low and high"),
    ("low = 3", "low = 30", "low = 30 must be less than high = 20"),
    ("low = 3", "low = '7/2'", "cpu.call: takes whole numbers"),
    ("low = 3", "low = 'x'", "cpu.call: low = 'x': must be a number or a fraction"),
    ("low = 3", "low = 8", "cpu.call is 6, which is outside its range, 8 to 20"),
    ('step = "1/2"', 'step = 0', "step = 0 must be above 0"),
    ('["pointer", "pinned"]', '["pointer"]', "must be two or more"),
    ('["pointer", "pinned"]', '["copy", "pinned"]', "am.bulk is pointer, which is outside"),
    ('values = ["pointer", "pinned"]', "low = 1, high = 2", "am.bulk: is no number"),
    ("[typical]\n", '[typical]\nas = "paragon"\n', "has as = 'paragon' and ranges"),
    ("[typical]\n", "[typical]\nas = 3\n", "as = 3: must be the name"),
    ("[typical]\n", '[fit.parameters]\n"cpu.call" = { low = 1, high = 9 }\n[typical]\n',
     "cpu.call is fitted, so it has no range")])
def test_a_wrong_table_is_one_line(described, old, new, said):
    assert old in TEXT
    with pytest.raises(UserError, match=said) as raised:
        typical(described(TEXT.replace(old, new)))
    assert len(str(raised.value).splitlines()) == 1


def test_what_is_called_typical_is_a_table(described):
    with pytest.raises(UserError, match=r"typical = 3: must be a table, \[typical\]"):
        load.typical_table(described("typical = 3\n"))
