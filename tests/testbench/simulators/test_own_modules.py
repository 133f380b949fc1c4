"""A target of one's own is in the name of its simulator, with all that it imports."""

import sys

import pytest
from nicbed.layouts.description import Description
from nicbed.testbench.simulators import simulator


@pytest.fixture
def target(tmp_path, monkeypatch):
    (tmp_path / "my_target.py").write_text("import json\nimport numpy\nimport my_part\n"
                                           "from nicbed.rtl.target import Target\n")
    (tmp_path / "my_part.py").write_text("from my_other import X\nimport not_there\n")
    (tmp_path / "my_other.py").write_text("import my_target\nX = 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


def test_own_modules_are_found_and_no_others(target):
    assert [file.name for file in simulator.own_modules("my_target")] == [
        "my_other.py", "my_part.py", "my_target.py"]
    assert simulator.own_modules("nicbed.rtl.target") == []
    assert simulator.own_modules("json") == [] and "json" in sys.modules


@pytest.mark.parametrize("changed", ["my_target.py", "my_part.py", "my_other.py"])
def test_a_change_makes_another_simulator(target, changed):
    def parts():
        return simulator._parts(Description(), "verilator", None, False, "my_target:Target")

    before = parts()
    assert parts() == before
    with open(target / changed, "a") as file:
        file.write("Y = 2\n")
    assert parts() != before
