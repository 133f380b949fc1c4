"""``nicbed gate`` with measurements that no run made: what is printed, written and refused."""

import json
from pathlib import Path
from typing import Any

import pytest
from nicbed.testbench.commands import gate as command
from nicbed.testbench.commands.output import MODE, Mode
from nicbed.testbench.errors import UserError
from nicbed.testbench.gate.file import read
from nicbed.testbench.gate.record import keep, recall

from tests.testbench.gate.fakes import KEPT, now

TWO = "\n".join(f"[[gate]]\nname = '{name}'\nbench = ['logp']\n[gate.accepted.logp]\n"
                f"o_s = 20.5\ng = 'none'\n" for name in ("near", "far"))


@pytest.fixture
def gate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two entries, of which the second one's o_s has moved."""
    path = tmp_path / "gate.toml"
    path.write_text(TWO)
    keep(path, {"near": KEPT, "far": KEPT})
    monkeypatch.setattr(command, "measured", lambda *_, **__: {"near": now(), "far": now(20.75)})
    return path


def check(gate: Path) -> None:
    command.run_check(gate, junit_to=None, markdown_to=None, fresh=False)


def test_one_entry_of_two_fails_the_gate(gate: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(UserError, match="1 of 4 figures is not as it was accepted, in far"
                       ) as error:
        check(gate)
    assert error.value.status == 1
    shown = capsys.readouterr().out
    assert "near: 2 figures as accepted" in shown
    assert "no part of the round trip of the smallest message moved" in shown


def test_accepting_takes_the_values_and_says_what_they_were(
        gate: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command.run_accept(gate, "a longer path")
    assert "20.5" in (shown := capsys.readouterr().out) and "20.75" in shown
    assert read(gate).entry("far").accepted == {"logp": {"o_s": 20.75, "g": "none"}}
    assert recall(gate) == {"near": KEPT, "far": KEPT}
    check(gate)


def test_a_reason_is_asked_for_before_anything_is_measured(
        gate: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def measured(*_: Any, **__: Any) -> None:
        raise AssertionError

    monkeypatch.setattr(command, "measured", measured)
    with pytest.raises(UserError, match="--reason"):
        command.run_accept(gate, " ")
    for bench in ("", " , "):
        with pytest.raises(UserError, match="--bench needs benchmarks"):
            command.run_init(gate, nic="default", benches=bench, overrides=(), nodes=None,
                             layer=None)


def test_json_has_every_figure(gate: Path, capsys: pytest.CaptureFixture[str]) -> None:
    token = MODE.set(Mode.JSON)
    try:
        with pytest.raises(UserError):
            check(gate)
    finally:
        MODE.reset(token)
    found = json.loads(capsys.readouterr().out)
    assert [one["holds"] for one in found["gates"]] == [True, False] and not found["holds"]
    assert found["gates"][1]["figures"][0] == {
        "benchmark": "logp", "figure": "o_s", "unit": "cycles", "accepted": 20.5, "now": 20.75,
        "holds": False}
