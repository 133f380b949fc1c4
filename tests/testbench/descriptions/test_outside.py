"""A NIC design of one's own in a study, a search, a gate and a fit: its knobs are known to all."""

from pathlib import Path

import pytest
from nicbed.layouts.doors import LAYERS, NICS
from nicbed.testbench.descriptions.load import load
from nicbed.testbench.errors import UserError
from nicbed.testbench.gate.file import read as read_gate
from nicbed.testbench.machines.calibration import plan as fit_plan
from nicbed.testbench.optimise.search import searched
from nicbed.testbench.sweeps.file import read as read_study
from nicbed.testbench.sweeps.plan import planned
from nicbed.testbench.sweeps.sweep import prepare
from nicbed.testbench.whatif.changes import changed, matter

DESIGN = '''
from nicbed.host.nic.kinds import Rings
from nicbed.layouts.description import Section, cost, structure, timing
from nicbed.layouts.doors import NicDesign

class Knobs(Section):
    ring: int = structure(16, unit="entries", ge=2, le=256, doc="the ring has so many slots")
    setup: int = timing(4, ge=0, le=100, doc="a copy begins so late")
    check: int = cost(7, ge=0, le=100, doc="a look at the ring takes so long")

class Wire(NicDesign):
    name = "wire_nic"
    title = "a wire"
    knobs = Knobs

    def kinds(self, description):
        return (Rings,)
'''
LAYER = '''
from nicbed.layouts.description import Section, cost
from nicbed.layouts.doors import Layer

class Knobs(Section):
    window: int = cost(4, unit="frames", ge=1, le=64, doc="so many frames are in flight")

LAYER = Layer(name="thin_layer", title="frames", knobs=Knobs)
'''


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a design in its own and a description of it; nothing is loaded."""
    for door in (NICS, LAYERS):
        monkeypatch.setattr(door, "_loaded", {})
    monkeypatch.chdir(tmp_path)
    (tmp_path / "wire").mkdir()
    (tmp_path / "wire" / "design.py").write_text(DESIGN)
    (tmp_path / "thin.py").write_text(LAYER)
    (tmp_path / "wire" / "wire.toml").write_text('[nic]\ndesign = "./design.py"\n')
    return tmp_path


def test_a_study_varies_its_knobs() -> None:
    made = planned({"wire_nic.ring": "4:16:*2"}, ["logp"], nic="wire/wire.toml",
                   constraints=["wire_nic.ring * 2 < 32"])
    prepared = prepare(made)
    assert [point["wire_nic.ring"] for point in prepared.points] == [4, 8]
    assert prepared.excluded == 1 and not prepared.refused
    assert [one["logp"].description.wire_nic.ring for one in prepared.wanted] == [4, 8]


def test_a_study_varies_designs(folder: Path) -> None:
    (folder / "other.py").write_text(DESIGN.replace("wire_nic", "other_nic"))
    prepared = prepare(planned({"nic.design": ["rings", "./other.py"]}, ["logp"]))
    assert [one["logp"].description.nic.design for one in prepared.wanted] == [
        "rings", "other_nic"]


def test_a_studys_file(folder: Path) -> None:
    (folder / "study.toml").write_text(
        'nic = "wire/wire.toml"\nbench = ["logp"]\n[set]\n"wire_nic.check" = 9\n'
        '[vary]\n"wire_nic.setup" = [1, 2]\n')
    prepared = prepare(read_study(Path("study.toml")))
    assert [(one["logp"].description.wire_nic.setup, one["logp"].description.wire_nic.check)
            for one in prepared.wanted] == [(1, 9), (2, 9)]
    (folder / "study.toml").write_text('nic = "wire/wire.toml"\nbench = ["logp"]\n'
                                       '[vary]\n"wire_nic.stup" = [1, 2]\n')
    with pytest.raises(UserError, match="no knob is called wire_nic.stup; did you mean wire_nic.s"):
        read_study(Path("study.toml"))


def test_a_layers_knobs_in_a_study() -> None:
    made = planned({"thin_layer.window": [1, 2]}, ["logp"], layer="./thin.py")
    assert [point["thin_layer.window"] for point in made.points] == [1, 2]
    assert load(changes={"thin_layer.window": 2}).thin_layer.window == 2


def test_a_search() -> None:
    made = searched({"wire_nic.ring": "4:16"}, ["logp:o_s"], nic="wire/wire.toml",
                    where=["wire_nic.ring < 12"])
    assert [axis.knob for axis in made.axes] == ["wire_nic.ring"]


def test_a_gate(folder: Path) -> None:
    (folder / "gates").mkdir()
    (folder / "gates" / "gate.toml").write_text(
        '[[gate]]\nnic = "../wire/wire.toml"\nbench = ["logp"]\nset = { "wire_nic.ring" = 8 }\n')
    gate = read_gate(Path("gates/gate.toml"))
    entry = gate.entry()
    assert load(entry.place(gate.path), entry.overrides).wire_nic.ring == 8


def test_a_fit(folder: Path) -> None:
    (folder / "wire" / "wire.toml").write_text(
        '[nic]\ndesign = "./design.py"\n[fit]\nfigures = ["assessment/logp/meiko-cs2/o_s"]\n'
        '[fit.parameters]\n"wire_nic.setup" = { low = 0, high = 50 }\n')
    parameters, _ = fit_plan("wire/wire.toml")
    assert [one.knob for one in parameters] == ["wire_nic.setup"]


def test_what_if_its_knobs_were_others() -> None:
    description = load("wire/wire.toml")
    found = matter(description, "am", ["wire_nic.*"])
    assert [knob.name for knob in found] == ["wire_nic.setup", "wire_nic.check"]
    assert {(one.knob, one.after) for one in changed(description, "am", found)} >= {
        ("wire_nic.setup", 2), ("wire_nic.setup", 8), ("wire_nic.check", 0)}
    assert not [knob for knob in matter(load(), "am") if knob.name.startswith("wire_nic")]
