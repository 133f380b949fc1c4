"""A fault in the code of an object from outside is one line with its file and line."""

import pickle
import re
import shutil
import sys
from pathlib import Path

import pytest
from nicbed.layouts.doors.blame import blamed, place
from nicbed.layouts.doors.loading import load_file
from nicbed.testbench.backends import entry
from nicbed.testbench.cli.entry import run_command
from nicbed.testbench.cluster import worker

WIRE = Path(__file__).resolve().parents[2] / "examples" / "wire_nic"


@pytest.fixture
def fails(tmp_path, monkeypatch, capsys):
    """Runs a command that fails; gives its only line of errors, and its status."""
    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["nicbed", *arguments])
        with pytest.raises(SystemExit) as ended:
            run_command()
        return capsys.readouterr().err, ended.value.code

    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("NICBED_DEBUG", raising=False)
    monkeypatch.setenv("NICBED_STORE", "none")
    return run


@pytest.fixture
def wire(tmp_path):
    """Writes a copy of the example with ``old`` replaced in one of its files."""
    def change(file, old, new):
        folder = tmp_path / "wire_nic"
        shutil.copytree(WIRE, folder, ignore=shutil.ignore_patterns("__pycache__"))
        text = (folder / file).read_text()
        assert old in text
        (folder / file).write_text(text.replace(old, new, 1))
    return change


@pytest.mark.parametrize("file, old, new, said", [
    ("design.py", "from .nic import WireNic", "1 / 0",
     r"\./wire_nic/design\.py:\d+: ZeroDivisionError: division by zero"),
    ("design.py", "def build(self, description, side, *, step=None)", "def build(self, side)",
     r"\./wire_nic/design\.py:\d+: TypeError: WireNicDesign\.build\(\) got an unexpected keyword"),
    ("design.py", "dma=2", "dmas=2",
     r"\./wire_nic/design\.py:\d+: TypeError: NicSide\.__init__\(\) got an unexpected keyword"),
    ("design.py", "self.values(description)", "self.valus(description)",
     r"\./wire_nic/design\.py:\d+: AttributeError: .* no attribute 'valus'"),
    ("design.py", "return (Frames,)", "return Frames",
     r"kinds\(\) of NIC design 'wire_nic' must give a tuple of kinds of drivers, not <class"),
    ("nic.py", "m = Module()", "m = Modul()", r"\./wire_nic/nic\.py:\d+: NameError: .*Modul"),
])
def test_a_fault_in_a_design_is_a_line(fails, wire, file, old, new, said):
    wire(file, old, new)
    text, status = fails("bench", "logp", "--nic", "wire_nic", "--layer", "raw")
    assert re.fullmatch(f"nicbed: {said}.*\n", text) and status == 2


def test_a_fault_in_a_topology_is_a_line(fails, tmp_path):
    (tmp_path / "ring.py").write_text('''
from nicbed.layouts.doors import Topology

class Ring(Topology):
    name = "ring"
    title = "a ring"

    def graph(self, description, addresses, what):
        return description.no_such_knob
''')
    (tmp_path / "ring.toml").write_text('[fabric]\ntopology = "./ring.py"\n')
    text, status = fails("bench", "rtt", "--nic", "ring.toml")
    assert re.match(r"nicbed: \./ring\.py:\d+: AttributeError", text) and status == 2


def test_an_elaborate_that_returns_nothing_is_named(tmp_path, monkeypatch):
    from amaranth.hdl import Fragment

    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty.py").write_text('''
from amaranth.hdl import Elaboratable

class Empty(Elaboratable):
    def elaborate(self, platform):
        pass
''')
    empty = load_file(tmp_path / "empty.py").Empty()
    with pytest.raises(Exception) as raised, pytest.warns(UserWarning, match="returned None"):
        Fragment.get(empty, None)
    assert place(raised.value) == "./empty.py:5"


@pytest.fixture
def program(tmp_path, monkeypatch):
    """A function from outside that fails in its second line."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own.py").write_text("def fail():\n    raise KeyError('x')\n")
    return load_file(tmp_path / "own.py").fail


def test_the_process_of_a_simulator_tells_the_line(program):
    with pytest.raises(KeyError) as raised:
        program()
    _, _, notes, details = pickle.loads(entry._error(raised.value))["error"]
    assert notes == ["at ./own.py:2"] and "Traceback" in details


def test_a_worker_tells_the_line(program):
    assert worker._answer(program) == {"error": "./own.py:2: KeyError: 'x'"}


def test_arguments_are_wrong_for_a_function_that_the_caller_had(tmp_path, monkeypatch):
    """Not for one that only has the same name."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "things.py").write_text("class Thing:\n    def go(self):\n        pass\n")
    theirs = load_file(tmp_path / "things.py").Thing

    class Thing:
        def go(self):
            pass

    class Holder:
        def __init__(self, thing):
            self._things = [thing]

        @property
        def thing(self):
            return self._things[0]

        def run(self, what):
            self.thing.go(what)

    Thing.go.__qualname__ = "Thing.go"
    for thing, said in ((theirs(), "./things.py:2"), (Thing(), None)):
        with pytest.raises(TypeError, match=r"^Thing\.go\(\) takes 1 positional") as raised:
            Holder(thing).run(1)
        assert place(raised.value) == said


def test_a_fault_of_nicbed_is_none_of_the_users():
    with pytest.raises(ZeroDivisionError) as raised:
        _ = 1 / 0
    assert blamed(raised.value) is None and place(raised.value) is None
