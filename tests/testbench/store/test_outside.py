"""Keys cover the bytes of what is from outside, and no path of the machine."""

import json
from dataclasses import replace

import pytest
from nicbed import Testbed
from nicbed.layouts.doors import LAYERS, NICS
from nicbed.testbench.descriptions.load import load
from nicbed.testbench.simulators import simulator
from nicbed.testbench.store import keys
from nicbed.testbench.synth.identity import identity

DESIGN = '''
from nicbed.host.nic.kinds import Rings
from nicbed.layouts.description import Section, cost, structure, timing
from nicbed.layouts.doors import NicDesign
from .depth import DEPTH

class Knobs(Section):
    ring: int = structure(DEPTH, unit="entries", ge=2, le=256, doc="slots of the ring")
    setup: int = timing(3, ge=0, le=100, doc="before the copy")
    check: int = cost(7, ge=0, le=100, doc="a look at the ring")

class Wire(NicDesign):
    name = "wire_nic"
    title = "a wire"
    knobs = Knobs

    def kinds(self, description):
        from nicbed.host.nic.kinds import Rings
        return (Rings,)
'''
LAYER = '''
from nicbed.layouts.doors import Layer

LAYER = Layer(name="thin_layer", title="frames and nothing else")
'''


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The current directory, with a design, its description and a layer."""
    for door in (NICS, LAYERS):
        monkeypatch.setattr(door, "_loaded", {})
    monkeypatch.chdir(tmp_path)
    (tmp_path / "wire").mkdir()
    (tmp_path / "wire" / "design.py").write_text(DESIGN)
    (tmp_path / "wire" / "depth.py").write_text("DEPTH = 16\n")
    (tmp_path / "wire" / "wire.v").write_text("module wire; endmodule\n")
    (tmp_path / "wire" / "wire.toml").write_text('[nic]\ndesign = "./design.py"\n')
    (tmp_path / "thin.py").write_text(LAYER)
    return tmp_path


def measured(nic="wire/wire.toml", **knobs):
    with Testbed(nic, store=None) as bed:
        return bed.benchmark("rtt", knobs={key.replace("__", "."): value
                                           for key, value in knobs.items()})


def structure(nic="wire/wire.toml", **overrides):
    return (simulator.same_simulator(load(nic, **overrides)),
            simulator.place(load(nic, **overrides)), identity(load(nic, **overrides)))


@pytest.mark.parametrize("name, text", [
    ("design.py", DESIGN + "# a comment\n"), ("depth.py", "DEPTH = 16  # slots\n"),
    ("wire.v", "module wire(); endmodule\n")])
def test_a_changed_file_is_another_key(folder, name, text):
    before, built = keys.key(measured()), structure()
    assert keys.key(measured()) == before and structure() == built
    (folder / "wire" / name).write_text(text)
    assert keys.key(measured()) != before
    for one, other in zip(built, structure(), strict=True):
        assert one != other


def test_what_a_description_and_a_test_say_of_it_does_not_count(folder):
    before, built = keys.key(measured()), structure()
    (folder / "wire" / "test_wire.py").write_text("")
    (folder / "wire" / "wire.toml").write_text('[nic]\ndesign = "./design.py:Wire"\n')
    (folder / "wire" / "README.md").write_text("a wire\n")
    assert keys.key(measured("wire/wire.toml")) != before, "the object is named another way"
    (folder / "wire" / "wire.toml").write_text('# A wire.\n[nic]\ndesign = "../wire/design.py"\n')
    assert keys.key(measured()) == before and structure() == built


def test_the_place_does_not_count(folder):
    before, built = measured(), structure()
    (folder / "wire").rename(folder / "elsewhere")
    after = measured("elsewhere/wire.toml")
    assert keys.key(after) == keys.key(before) and structure("elsewhere/wire.toml") == built
    assert str(folder) not in json.dumps(before.document({"results": {}, "checks": [],
                                                          "truth": {}, "points": {}}))


def test_knobs_count_by_their_kind(folder):
    key, built = keys.key(measured()), structure()
    for knob, kind in (("ring", "structure"), ("setup", "timing"), ("check", "cost")):
        assert keys.key(measured(**{f"wire_nic__{knob}": 5})) != key
        other = structure(changes={f"wire_nic.{knob}": 5})
        assert (other[0] != built[0]) == (kind == "structure"), knob
        assert (other[1] != built[1]) == (kind == "structure"), knob


def test_an_outside_layer_counts(folder):
    plain = measured("default")
    before = keys.key(replace(plain, layer=LAYERS.resolve("./thin.py")))
    assert before != keys.key(replace(plain, layer="thin_layer"))
    assert keys.key(replace(plain, layer=LAYERS.resolve("./thin.py"))) == before
    (folder / "thin.py").write_text(LAYER + "# another\n")
    assert keys.key(replace(plain, layer=LAYERS.resolve("./thin.py"))) != before
    assert simulator.place(plain.description) == simulator.place(load("default"))
