"""The laboratory with a NIC of one's own: each command takes it like the one that comes with
nicbed. All of them share a simulator, which ``check/test_from_outside.py`` builds, too."""

import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from nicbed.testbench.cli.entry import run_command
from nicbed.testbench.commands.new import write_new
from nicbed.testbench.descriptions import load
from nicbed.testbench.results.comparison import difference_table
from nicbed.testbench.synth.plan import without_board

Run = Callable[..., tuple[int, str]]
RAW = ("--layer", "raw")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a NIC, and a description of it that is slower."""
    folder = tmp_path_factory.mktemp("own")
    write_new("nic", "my_nic", folder)
    table = folder / "my_nic" / "my_nic.toml"
    table.write_text(table.read_text().replace("[nic]\n", "[nic]\nmtu = 256\n"))
    (folder / "my_nic" / "slow.toml").write_text(
        table.read_text().replace("gap = 4", "gap = 100"))
    return folder


@pytest.fixture
def nicbed(place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
           tmp_path: Path) -> Run:
    """Does what a command line says in the folder; its status, and what it printed."""
    def run(*arguments: str) -> tuple[int, str]:
        monkeypatch.setattr(sys, "argv", ["nicbed", *arguments])
        status = 0
        try:
            run_command()
        except SystemExit as ended:
            status = int(ended.code or 0)
        said = capsys.readouterr()
        return status, said.out + said.err

    monkeypatch.chdir(place)
    monkeypatch.setenv("NICBED_STORE", str(place / "store"))
    return run


def test_why_splits_its_flight_by_its_own_stages(nicbed: Run) -> None:
    status, said = nicbed("why", "my_nic", "my_nic/slow.toml", *RAW)
    assert status == 0, said
    assert re.search(r"out: frame out of host memory +\d", said) and "not traced" not in said
    assert re.search(r"frame into a slot, node 1 +\d", said) and "send DMA" not in said
    assert "checks: all" in said


def test_why_names_its_file_by_a_layer_of_ones_own(nicbed: Run, place: Path) -> None:
    write_new("layer", "my_layer", place)
    status, said = nicbed("why", "my_nic", "my_nic/slow.toml", "--layer", "./my_layer/layer.py")
    assert status == 0 and re.search(r"^results/why-my_layer-\w+\.json$", said, re.M), said


def test_a_sweep_measures_it_by_several_workers(nicbed: Run) -> None:
    status, said = nicbed("sweep", "--nic", "my_nic", *RAW, "--vary", "my_nic.gap=0,200",
                          "--metric", "g=logp:g", "--workers", "2")
    assert status == 0, said
    [low, high] = [float(value) for value in re.findall(r"^ +(?:0|200) +([\d.]+)", said, re.M)]
    assert high > low + 150


def test_whatif_changes_its_knob(nicbed: Run) -> None:
    status, said = nicbed("whatif", "my_nic/slow.toml", *RAW, "--knobs", "my_nic.*")
    assert status == 0, said
    assert re.search(r"my_nic\.gap +100 .*\+0\.[6-9]", said)


def test_optimise_finds_its_best_gap(nicbed: Run) -> None:
    status, said = nicbed("optimise", "--nic", "my_nic", *RAW, "--vary", "my_nic.gap=0,100,200",
                          "--minimise", "logp:g", "--trials", "3")
    assert status == 0, said
    best, _ = said.split("3 trials of 3 points")
    assert re.findall(r"^ +(\d+) +[\d.]+ *$", best, re.M) == ["0"], said


def test_compare_puts_it_beside_another(nicbed: Run) -> None:
    status, said = nicbed("compare", "my_nic", "my_nic/slow.toml", "--bench", "logp", *RAW)
    assert status == 0, said
    assert re.search(r"my_nic\.gap +4 +100", said)


def test_compare_has_no_value_for_a_knob_of_the_other() -> None:
    found = difference_table({"descriptions": ["mine", "other"],
                              "differences": {"mine.gap": [4, None]}})
    assert [list(column.cells) for column in found.columns] == [["mine.gap"], ["4"], ["-"]]


def test_a_gate_notices_that_it_has_become_slower(nicbed: Run, place: Path) -> None:
    status, said = nicbed("gate", "init", "own-gate.toml", "--nic", "my_nic", "--bench", "logp",
                          *RAW)
    assert status == 0 and "5 figures as accepted" in said, said
    assert nicbed("gate", "check", "own-gate.toml")[0] == 0
    table = place / "my_nic" / "my_nic.toml"
    before = table.read_text()
    table.write_text(before.replace("gap = 4", "gap = 44"))
    status, said = nicbed("gate", "check", "own-gate.toml")
    table.write_text(before)
    assert status == 1, said
    [moved] = re.findall(r"^ *logp +g +([\d.]+) +([\d.]+)", said, re.M)
    accepted, now = map(float, moved)
    assert accepted + 35 < now < accepted + 45, "gap is 40 more"


@pytest.mark.parametrize("verilog", [False, True])
def test_it_converts_for_yosys(verilog: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
                               ) -> None:
    """It converts for Yosys, with the Verilog that it brings along."""
    from amaranth.hdl import Signal

    name = "my_v_nic" if verilog else "my_a_nic"
    monkeypatch.chdir(tmp_path)
    write_new("nic", name, tmp_path, verilog=verilog)
    description = load.load(name)
    design = description.design
    side = design.side(description, description.node.cpus)
    plan = without_board(design.build(description, side, step=Signal(init=1)))
    assert "link_tx" in plan.text or "link__tx" in plan.text
    assert any(f"module {name}" in text for text in plan.cores.values()) == verilog
