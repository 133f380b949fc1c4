"""A gate on the target: it passes what was accepted, and names what moved by one cycle."""

import json
import re
from pathlib import Path

import pytest
from nicbed.testbench.commands.gate import run_accept, run_check, run_init
from nicbed.testbench.commands.output import MODE, Mode
from nicbed.testbench.errors import UserError
from nicbed.testbench.gate.file import read


def check(gate: Path, **more: Path) -> None:
    run_check(gate, junit_to=more.get("junit"), markdown_to=more.get("summary"), fresh=False)


def off(gate: Path, to: Path, section: str, knob: str) -> Path:
    """A copy of ``gate`` in ``to`` whose NIC has ``knob`` off by one."""
    for name in (gate.name, "gate.json", "mine.toml"):
        (to / name).write_bytes((gate.parent / name).read_bytes())
    mine = to / "mine.toml"
    head, table, tail = mine.read_text().partition(f"[{section}]\n")
    assert table
    changed, count = re.subn(rf"^({knob} *= *)(\d+)", lambda found:
                             f"{found[1]}{int(found[2]) + 1}", tail, count=1, flags=re.MULTILINE)
    assert count == 1
    mine.write_text(head + table + changed)
    return to / gate.name


def test_what_was_accepted_passes(accepted: Path, capsys: pytest.CaptureFixture[str]) -> None:
    check(accepted)
    assert "mine: 4 figures as accepted" in capsys.readouterr().out
    gate = read(accepted)
    assert gate.reason == "first values"
    assert gate.entry().nic == "mine.toml" and set(gate.entry().accepted) == {"rtt"}


@pytest.mark.parametrize("section, knob, part", [
    ("bus", "dma_setup", "out: receive DMA"), ("link", "latency", "out: flight and switch")])
def test_one_cycle_fails_and_is_named(accepted: Path, tmp_path: Path, section: str, knob: str,
                                      part: str, capsys: pytest.CaptureFixture[str]) -> None:
    gate = off(accepted, tmp_path, section, knob)
    with pytest.raises(UserError, match=part) as error:
        check(gate, junit=tmp_path / "junit.xml", summary=tmp_path / "summary.md")
    assert error.value.status == 1 and "\n" not in str(error.value)
    shown = capsys.readouterr().out
    page = (tmp_path / "summary.md").read_text()
    for told in (part, f"description: {section}.{knob} was", "RTT, 1 word"):
        assert told in shown and told in page
    assert b'failures="' in (tmp_path / "junit.xml").read_bytes()
    token = MODE.set(Mode.JSON)
    try:
        run_accept(gate, "another bus")
    finally:
        MODE.reset(token)
    found = json.loads(capsys.readouterr().out)
    assert not found["holds"] and found["gates"][0]["knobs"][0][0] == f"{section}.{knob}"
    check(gate)
    assert read(gate).reason == "another bus"


@pytest.mark.parametrize("text, told", [
    ("[[gate]]\nnic = 'nowhere'\nbench = ['rtt']", "gate nowhere: nowhere: no such NIC"),
    ("[[gate]]\nbench = ['rtr']", "gate default: no benchmark is called rtr"),
    ("[[gate]]\nbench = ['rtt']\nlayer = 'an'", "gate default: no layer is called an"),
    ("[[gate]]\nbench = ['rtt']\nset.'link.latncy' = 3", "link.latncy"),
    ("[[gate]]\nbench = ['rtt']\nnodes = 65", "65"),
])
def test_what_cannot_be_measured_is_refused(tmp_path: Path, text: str, told: str) -> None:
    gate = tmp_path / "gate.toml"
    gate.write_text(text)
    with pytest.raises(UserError, match=told) as error:
        check(gate)
    assert str(error.value).startswith(f"{gate}: gate ") and "\n" not in str(error.value)


def test_a_figure_that_a_benchmark_does_not_have_is_refused(accepted: Path, tmp_path: Path) -> None:
    gate = tmp_path / "gate.toml"
    gate.write_text("[[gate]]\nbench = ['rtt']\naccepted.rtt.'RTT, 1 wrod' = 3")
    with pytest.raises(UserError, match="RTT, 1 wrod; did you mean RTT, 1 word"):
        check(gate)


def test_a_first_gate_replaces_none(accepted: Path) -> None:
    with pytest.raises(UserError, match="is there"):
        run_init(accepted, nic="default", benches="rtt", overrides=(), nodes=None, layer=None)
