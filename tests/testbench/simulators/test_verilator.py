"""Verilator is run, and what it says is told."""

import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from nicbed.testbench.simulators import verilator
from nicbed.testbench.simulators.verilator import BuildError, Compilation, Toolchain, verilate


def test_what_it_says_need_not_be_text(monkeypatch, tmp_path):
    """It has written names of a netlist's signals with bytes that are no UTF-8."""
    program = tmp_path / "verilator"
    program.write_text(f"#!{sys.executable}\nimport os\nos.write(1, b'path: top.\\x86834')\n"
                       "raise SystemExit(int(os.environ['ENDS']))\n")
    program.chmod(0o755)
    monkeypatch.setattr(verilator, "toolchain",
                        lambda: Toolchain(program, tmp_path, "", (sys.executable,), ""))
    monkeypatch.setenv("ENDS", "0")
    assert verilate([], tmp_path, top="top") == []
    monkeypatch.setenv("ENDS", "1")
    with pytest.raises(BuildError) as refused:
        verilate([], tmp_path, top="top")
    assert refused.value.log == "path: top.\ufffd834"


def test_all_is_compiled_and_linked_at_one_level(
        monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The compiler of PyPI compiles its libraries again for another level, for 20 s."""
    commands: list[Sequence[str]] = []
    monkeypatch.setenv("NICBED_CACHE", str(tmp_path))
    monkeypatch.setattr(verilator, "_run", lambda command, work: commands.append(command))
    verilator.compile_all(Compilation(tmp_path, []), tmp_path / "simulator")
    levels = [[word for word in command if word.startswith("-O")] for command in commands]
    assert len(commands) > len(verilator.RUNTIME)
    assert levels == [["-O3"]] * len(commands)


def test_in_a_unit_what_runs_once_comes_last(monkeypatch: pytest.MonkeyPatch, tmp_path: Path
                                             ) -> None:
    """What comes first includes the headers, whose functions are as optimised as it is."""
    monkeypatch.setattr(verilator, "UNIT_BYTES", 2000)
    sizes = {"Va__0__Slow.cpp": 900, "Va__0.cpp": 100, "Va__1__Slow.cpp": 800, "Va__1.cpp": 700,
             "Va__2.cpp": 300}
    for name, size in sizes.items():
        (tmp_path / name).write_text(" " * size)
    units = verilator._units([tmp_path / name for name in sizes], tmp_path)
    assert len(units) == 2
    for unit in units:
        slow = ["__Slow" in line for line in unit.read_text().splitlines() if "#include" in line]
        assert slow == sorted(slow) and True in slow and False in slow
