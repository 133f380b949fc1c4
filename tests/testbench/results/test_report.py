"""Result files, tables and plots: complete, exact, the same bytes each time."""

import json
from fractions import Fraction

import pytest
from nicbed.layouts.description import Description
from nicbed.layouts.trace import TICKS
from nicbed.rtl.nic.design import DESIGN
from nicbed.testbench.benches import get
from nicbed.testbench.benches.common import logp_report
from nicbed.testbench.benches.common.logp_evaluation import evaluate, plain_truth
from nicbed.testbench.benches.common.logp_truth import LogpTruth
from nicbed.testbench.errors import UserError
from nicbed.testbench.results import document as files
from nicbed.testbench.results.tables import checks, console

from tests.models.logp_machine import Machine


def raw(machine: Machine) -> dict:
    """What the logp benchmark would have measured on ``machine``."""
    rtt = machine.round_trip()
    found = {"rtt": {"trips": [rtt * TICKS], "begin": 0, "end": 1 << 60,
                     "marks": machine.marks, "events": machine.events}, "curves": []}
    for delay in [0, rtt // 16, rtt // 8, rtt // 4, rtt // 2, rtt, rtt * 3 // 2, rtt * 2]:
        issued, handled = machine.run(512, delay)
        found["curves"].append({"delay": delay, "issued": issued, "handled": handled, "begin": 0,
                                "marks": machine.marks, "events": machine.events})
    return found


def logp_document(machine: Machine) -> dict:
    return files.build("logp", "am", "verilator", Description(), {"requests": 512},
                       get("logp").module("am").evaluate(raw(machine), Description(), {}))


@pytest.mark.parametrize("machine", [
    Machine(service=60, period=5), Machine(handle=150), Machine(send=41, finish=33),
    Machine(window=10, flight=700), Machine(poll=9, period=9)])
def test_logp_document(machine):
    document = logp_document(machine)
    assert all(check["ok"] for check in document["checks"]), document["checks"]
    assert document["truth"]["o_s"] == machine.send + machine.poll
    assert document["truth"]["L"] == machine.flight
    assert document["truth"]["rtt"] == document["results"]["rtt"] == machine.round_trip()
    assert set(document["results"]) >= {"o_s", "o_r", "g", "L", "rtt"}
    assert {"benchmark", "layer", "sim", "config", "config_hash", "versions", "unit", "clock_mhz",
            "results", "truth", "points"} <= set(document)
    for life in document["breakdown"].values():
        assert sum(stage["cycles"] for stage in life) > machine.flight


@pytest.mark.parametrize("machine", [Machine(service=60, period=5), Machine(poll=9, period=9)])
def test_two_truths_of_logp(machine):
    """By LogP's definition the estimates are right; the handling alone is less."""
    document = logp_document(machine)
    rows = {row["quantity"]: row for row in document["comparison"]}
    for name in ("o_s", "o_r", "g", "L", "RTT"):
        assert abs(rows[name]["defined_difference"]) <= rows[name]["defined"] / 50
    defined = document["truth"]["logp"]
    assert 2 * (defined["o_s"] + defined["o_r"] + defined["L"]) == pytest.approx(
        document["truth"]["rtt"])
    assert defined["o_r"] == rows["o_r"]["defined"] >= document["truth"]["o_r"]


def test_the_check_behind_a_message_belongs_to_logps_o_r():
    """A dearer check behind each message raises o_r by LogP's definition, and nothing else."""
    class Dearer(LogpTruth):
        @property
        def behind(self):
            return super().behind + 13 * TICKS

    data = raw(Machine())
    before, after = (plain_truth(kind.of(data, DESIGN)) for kind in (LogpTruth, Dearer))
    assert after["logp"]["o_r"] == before["logp"]["o_r"] + 13
    assert after["logp"]["L"] == before["logp"]["L"] - 13
    assert after["o_r"] == before["o_r"] and after["L"] == before["L"]


def test_breakdown_sums_to_the_traced_life():
    machine = Machine()
    document = logp_document(machine)
    legs = document["truth"]["legs"]
    life = document["breakdown"]["a request"]
    assert sum(stage["cycles"] for stage in life) == (
        legs["o_s_request"] + legs["flight_out"] + legs["seen_out"] + machine.handle
        + machine.reply)


def test_a_wrong_trace_fails_a_check():
    data = raw(Machine())
    data["rtt"]["trips"] = [data["rtt"]["trips"][0] + 3]
    outcome = evaluate(data, DESIGN)
    failed = [check["check"] for check in outcome.checks if not check["ok"]]
    assert failed == ["RTT is the sum of its legs"]
    assert "check failed" in checks(outcome.checks)[0]


def test_a_wrong_estimate_fails_a_check():
    data = raw(Machine())
    for run in data["curves"]:
        run["issued"] = [ticks + 4 * TICKS * (index + 1) for index, ticks in enumerate(
            run["issued"])]
    outcome = evaluate(data, DESIGN)
    assert "o_s within 2 % of the truth of the first sends" in [
        check["check"] for check in outcome.checks if not check["ok"]]


def test_tables_and_plots_render(capsys):
    from nicbed.testbench.results import plots

    document = logp_document(Machine(service=60))
    out = console()
    for item in logp_report.tables(document):
        out.print(item)
    text = capsys.readouterr().out
    assert "g is bound by: link, 100 % busy" in text and "flight out" in text
    first = plots.render(logp_report.draw, document)
    assert first == plots.render(logp_report.draw, document)
    assert first[".png"].startswith(b"\x89PNG") and b"<svg" in first[".svg"]
    assert b"<dc:date>" not in first[".svg"]


def test_same_configuration_same_bytes():
    first, second = (files.text(logp_document(Machine())) for _ in range(2))
    assert first == second
    assert json.loads(first)["config"]["link"]["latency"] == 4


def test_hash_tells_configurations_apart():
    base = Description()
    other = Description.model_validate({"link": {"latency": 5}})
    assert files.config_hash(base, {}) == files.config_hash(Description(), {})
    assert files.config_hash(base, {}) != files.config_hash(other, {})
    assert files.config_hash(base, {}) != files.config_hash(base, {"requests": 3})


def test_numbers():
    assert files.number(Fraction(1, 3)) == 0.333333
    assert files.number(Fraction(8, 2)) == 4 and isinstance(files.number(4.0), int)
    assert files.cycles(TICKS * 3 // 2) == 1.5
    assert files.plain({"a": (Fraction(1, 2), True, None)}) == {"a": [0.5, True, None]}


def test_text_is_json_and_refuses_nan():
    value = {"b": list(range(200)), "a": {"x": [{"y": 1.25}] * 30}, "empty": {}}
    assert json.loads(files.text(value)) == value
    with pytest.raises(ValueError):
        files.text({"a": float("nan")})


def test_a_file_is_written_completely_or_not_at_all(tmp_path):
    path = tmp_path / "new" / "file.json"
    files.save(path, b"whole")
    assert path.read_bytes() == b"whole" and list(path.parent.iterdir()) == [path]
    with pytest.raises(TypeError):
        files.save(path, "text")  # type: ignore[arg-type]
    assert path.read_bytes() == b"whole" and list(path.parent.iterdir()) == [path]
    (tmp_path / "plain").write_text("")
    with pytest.raises(UserError, match="cannot be written"):
        files.save(tmp_path / "plain" / "x.json", b"")
