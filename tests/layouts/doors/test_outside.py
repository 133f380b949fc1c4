"""Sections of objects from outside: in a description, in its file, in --set, in its registers."""

import copy
import pickle
import subprocess
import sys

import pytest
from nicbed.layouts.description import Description, KnobError, knobs
from nicbed.layouts.doors import LAYERS, NICS, Layer
from nicbed.layouts.errors import UserError
from nicbed.layouts.timing import (
    TIMING_REGISTERS,
    own_registers,
    packed_timing,
    timing_registers,
    timing_values,
)
from nicbed.testbench.descriptions.load import difference, load, parse_set

DESIGN = '''
from fractions import Fraction
from nicbed.layouts.description import Section, cost, structure, timing
from nicbed.layouts.doors import NicDesign
from nicbed.layouts.rate import Rate

class Knobs(Section):
    ring: int = structure(16, unit="entries", ge=2, le=256, doc="slots of the ring")
    order: str = timing("first", unit="", pattern="^(first|last|none)$", doc="whose turn it is")
    rate: Rate = timing(Fraction(2), unit="bytes/cycle", ge=1, le=8, doc="of the copy")
    setup: int = timing(3, ge=0, le=100, doc="before the copy")
    check: int = cost(7, ge=0, le=100, doc="a look at the ring")

class Wire(NicDesign):
    name = "wire_nic"
    title = "a wire"
    knobs = Knobs

    def needs(self, description):
        if description.wire_nic.ring > description.nic.receive_ring:
            yield (f"wire_nic.ring = {description.wire_nic.ring}: must be at most "
                   f"nic.receive_ring = {description.nic.receive_ring}")
'''

LAYER = '''
from nicbed.layouts.description import Section, cost
from nicbed.layouts.doors import Layer

class Knobs(Section):
    window: int = cost(4, unit="frames", ge=1, le=64, doc="frames in flight")

LAYER = Layer(name="thin_layer", title="frames and nothing else", knobs=Knobs)
'''


@pytest.fixture(autouse=True)
def doors(monkeypatch):
    """The doors as they were, after each test."""
    for door in (NICS, LAYERS):
        monkeypatch.setattr(door, "_loaded", {})


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The current directory: a description beside a design's folder."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "wire").mkdir()
    (tmp_path / "wire" / "design.py").write_text(DESIGN)
    (tmp_path / "wire.toml").write_text(
        '[nic]\ndesign = "./wire/design.py"\n[wire_nic]\nring = 32\n')
    (tmp_path / "thin.py").write_text(LAYER)
    return tmp_path


def refused(what, *arguments, **more):
    with pytest.raises(UserError) as caught:
        what(*arguments, **more)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_file_names_a_design_from_its_own_folder(folder, monkeypatch):
    monkeypatch.chdir("/")
    description = load(str(folder / "wire.toml"), ["wire_nic.setup=9"])
    assert description.nic.design == "wire_nic" and description.design.title == "a wire"
    assert (description.wire_nic.ring, description.wire_nic.setup) == (32, 9)
    assert str(folder) not in description.model_dump_json() + repr(description)


def test_set_names_one_from_the_current_folder(folder):
    description = load("default", ["wire_nic.ring=8", "nic.design=./wire/design.py:Wire"])
    assert description.wire_nic.ring == 8
    assert load("default").model_extra == {}


def test_the_knobs_of_a_description_and_of_all_that_was_loaded(folder):
    before, every = ([knob.name for knob in found] for found in (knobs(Description()), knobs()))
    description = load("wire.toml")
    own = ["wire_nic.ring", "wire_nic.order", "wire_nic.rate", "wire_nic.setup", "wire_nic.check"]
    assert [knob.name for knob in knobs(description)] == before + own
    assert [knob.name for knob in knobs()] == every + own
    assert [knob.name for knob in knobs(Description())] == before
    assert parse_set("wire_nic.ring=0x10") == ("wire_nic.ring", 16)
    knob = next(knob for knob in knobs() if knob.name == "wire_nic.ring")
    assert knob.of(description) == 32 and knob.bounds == "2 to 256"


def test_values_change_and_the_design_stays(folder):
    description = load("wire.toml")
    changed = description.with_({"wire_nic.rate": "5/2", "link.latency": 7})
    assert changed.wire_nic.rate == 2.5 and changed.wire_nic.ring == 32
    assert changed.design is description.design
    assert difference([description, changed]) == {"link.latency": [4, 7],
                                                  "wire_nic.rate": [2, "5/2"]}
    assert difference([Description(), description])["wire_nic.ring"] == [None, 32]
    assert description.with_({"nic.design": "rings"}) == Description()
    assert Description().with_({"nic.design": "./wire/design.py", "wire_nic.ring": 32}
                               ) == description


def test_a_description_is_copied_dumped_and_read_back(folder):
    description = load("wire.toml")
    assert Description.model_validate(description.model_dump()) == description
    assert Description.model_validate(description.model_dump(mode="json")) == description
    assert copy.deepcopy(description) == description == load(description)
    assert hash(description) == hash(load(description))
    assert description.model_dump(mode="json")["wire_nic"] == {
        "ring": 32, "order": "first", "rate": 2, "setup": 3, "check": 7}


def test_another_process_loads_the_design_again(folder):
    description = load("wire.toml").with_({"wire_nic.setup": 5})
    (folder / "kept").write_bytes(pickle.dumps(description))
    code = ("import pickle; d = pickle.load(open('kept', 'rb'));"
            "print(d.wire_nic.setup, d.design.title, d.nic.design.digest)")
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == f"5 a wire {description.nic.design.digest}\n"
    (folder / "wire" / "design.py").write_text(DESIGN + "# another one\n")
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    said = run.stderr.splitlines()[-1]
    assert "wire_nic: ./wire/design.py has changed since it was named" in said


def test_timing_knobs_are_registers_behind_the_targets(folder):
    description = load("wire.toml", ["wire_nic.order=none"])
    own = own_registers(description)
    assert [(one.index - len(TIMING_REGISTERS), one.key, one.width) for one in own] == [
        (0, "order", 2), (1, "rate", 20), (2, "setup", 7)]
    assert timing_registers(description) == TIMING_REGISTERS + own
    values = timing_values(description)
    assert values[:len(TIMING_REGISTERS)] == timing_values(Description())
    assert values[len(TIMING_REGISTERS):] == [2, 2 << 16, 3]
    assert packed_timing(values[-3:], own) == [2 | 2 << 18 | (3 << 22)]
    assert timing_registers(Description()) == TIMING_REGISTERS


def test_the_rules_of_a_design_are_the_descriptions(folder):
    said = "wire_nic.ring = 64: must be at most nic.receive_ring = 16"
    assert refused(load, "wire.toml", ["wire_nic.ring=64", "nic.receive_ring=16"]) == \
        f"--set: {said}"


@pytest.mark.parametrize("overrides, said", [
    (["wire_nic.ring=1000"],
     "--set: wire_nic.ring = 1000: must be a whole number of entries from 2 to 256"),
    (["wire_nic.ring=many"],
     "--set: wire_nic.ring = 'many': must be a whole number of entries from 2 to 256"),
    (["wire_nic.rnig=4"],
     "--set wire_nic.rnig=4: no knob is called wire_nic.rnig; did you mean wire_nic.ring or "
     "wire_nic.rate or wire_nic.order?"),
    (["wire_nic.order=middle"],
     "--set: wire_nic.order = 'middle': must be 'first' or 'last' or 'none'"),
    (["nic.design=rings"], "wire_nic = {'ring': 32}: is of NIC design wire_nic, which this "
                           "description does not name"),
    (["nic.design=./wire/deisgn.py"],
     "--set: nic.design = './wire/deisgn.py': there is no file ./wire/deisgn.py; did you mean "
     "design.py?"),
    (["nic.design=rigns"], "--set: nic.design = 'rigns': no NIC design is called rigns; did you "
                           "mean rings?; one of your own is given by its path, ./rigns.py"),
])
def test_one_line_says_what_is_wrong(folder, overrides, said):
    found = refused(load, "wire.toml", overrides)
    assert found.removeprefix("wire.toml: ") == said


@pytest.mark.parametrize("text, said", [
    ("[wire_nic]\nrnig = 3\n",
     "wire_nic.rnig = 3: no knob is called wire_nic.rnig; did you mean wire_nic.ring or "
     "wire_nic.rate or wire_nic.order?"),
    ("[wire_inc]\nring = 3\n", "wire_inc = {'ring': 3}: no table is called wire_inc; did you mean "
                               "wire_nic?"),
    ("[wire_nic]\nring = '3'\n", "wire_nic.ring = '3': must be a whole number of entries from 2 to "
                                 "256"),
])
def test_one_line_says_what_is_wrong_in_a_file(folder, text, said):
    (folder / "bad.toml").write_text(f'[nic]\ndesign = "./wire/design.py"\n{text}')
    assert refused(load, "bad.toml") == f"bad.toml: {said}"


@pytest.mark.parametrize("old, new, said", [
    ('"wire_nic"', '"link"', "NIC design link: a description has a link of its own"),
    ('"wire_nic"', '"with_"', "a NIC design has a name of small letters"),
    ('"wire_nic"', '"design"', "NIC design design: a description has a design of its own"),
    ('structure(16, unit="entries", ge=2, le=256, doc="slots of the ring")', "16",
     "NIC design wire_nic: knob ring: must be declared by structure, timing or cost"),
    (", ge=2, le=256", "", "NIC design wire_nic: knob ring: must have bounds, ge and le"),
    ('pattern="^(first|last|none)$", ', "", "NIC design wire_nic: knob order: must have a pattern"),
    ("le=100, doc=\"before", "le=1 << 32, doc=\"before",
     "NIC design wire_nic: knob setup: le = 4294967296: a register holds at most 4294967295"),
    ("ge=1, le=8, doc", "ge=1, le=16, doc",
     "NIC design wire_nic: knob rate: le = 16: a register holds at most 15"),
    ("knobs = Knobs", "knobs = 5", "NIC design wire_nic: knobs must be a class of Section"),
])
def test_declarations_of_knobs_are_checked(folder, old, new, said):
    (folder / "wire" / "design.py").write_text(DESIGN.replace(old, new))
    (folder / "wire.toml").write_text('[nic]\ndesign = "./wire/design.py"\n')
    assert said in refused(load, "wire.toml")


def test_a_layers_section(folder):
    (folder / "thin.toml").write_text("[thin_layer]\nwindow = 9\n")
    assert "no table is called thin_layer" in refused(load, "thin.toml")
    assert isinstance(LAYERS.get("./thin.py"), Layer)
    description = load("thin.toml")
    assert description.thin_layer.window == 9
    assert description.with_({"thin_layer.window": 10}).thin_layer.window == 10
    assert Description().with_({"thin_layer.window": 9}) == description
    assert pickle.loads(pickle.dumps(description)) == description
    (folder / "thin.py").write_text(LAYER.replace("cost(", "structure(").replace(
        "import Section, cost", "import Section, structure"))
    LAYERS.get("./thin.py")
    assert "thin_layer: knob window is of kind structure: must be cost" in \
        refused(load, "thin.toml")


def test_with_refuses_what_is_wrong():
    with pytest.raises(KnobError, match="link.latnecy: no knob is called link.latnecy; did you"):
        Description().with_({"link.latnecy": 3})
    with pytest.raises(ValueError, match="link.latency = -3: must be a whole number of cycles"):
        Description().with_({"link.latency": -3})
    assert Description().with_({}) == Description()


def test_two_designs_of_a_name_in_a_file_keep_their_knobs(tmp_path):
    """Each by its path; the one that is loaded later changes nothing of the other."""
    (tmp_path / "twins.py").write_text('''
from nicbed.layouts.description import Section, structure
from nicbed.layouts.doors import NicDesign

class Slots(Section):
    slots: int = structure(32, ge=4, le=64, doc="it has so many slots")

class Rows(Section):
    rows: int = structure(8, ge=4, le=64, doc="it has so many rows")

class One(NicDesign):
    name, title, knobs = "twin", "slots", Slots

class Other(NicDesign):
    name, title, knobs = "twin", "rows", Rows
''')
    for design, knob in (("One", "slots"), ("Other", "rows")):
        (tmp_path / f"{design}.toml").write_text(
            f'[nic]\ndesign = "./twins.py:{design}"\n[twin]\n{knob} = 16\n')
    one, other = (load(str(tmp_path / f"{name}.toml")) for name in ("One", "Other"))
    assert one.design.title == "slots" and other.design.title == "rows"
    assert one.nic.design != other.nic.design
    assert one.with_({"twin.slots": 64}).twin.slots == 64
    assert other.with_({"twin.rows": 64}).twin.rows == 64
    with pytest.raises(KnobError, match=r"no knob is called twin\.rows"):
        one.with_({"twin.rows": 64})
    assert load(str(tmp_path / "One.toml")) == pickle.loads(pickle.dumps(one)) == one
    with pytest.raises(UserError, match=r"2 of them, One and Other: say which"):
        load("default", (f"nic.design={tmp_path}/twins.py",))
