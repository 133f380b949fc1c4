"""The rows of `nicbed speed`, and its table."""

from types import SimpleNamespace
from typing import Any

import pytest
from nicbed.testbench.descriptions import load as descriptions
from nicbed.testbench.report.speed import KILOBYTE, show
from nicbed.testbench.run.sent_again import Account
from nicbed.testbench.speed import measurement
from nicbed.testbench.speed.workloads import LARGER

from tests.models.target import Model
from tests.programs.mpi import describe

RAN = {"seconds": 2.0, "cycles": 800, "messages": 4, "python": 0.02, "timed_messages": 20,
       "larger_python": 0.012, "larger_messages": 10, "wakes": 8, "memory": 50}


def rows(monkeypatch: pytest.MonkeyPatch, layer: str) -> dict[str, Any]:
    """A measurement in which every job takes what RAN says."""
    account = Account()
    account.runs = 1

    def ran(*_: Any, arguments: dict[str, Any], **__: Any) -> dict[str, Any]:
        silent = arguments["name"] == "idle"
        return {**RAN, "account": account} | ({"messages": 0} if silent else {})

    monkeypatch.setattr(measurement, "run_job", ran)
    monkeypatch.setattr(measurement, "_bare", lambda *_: 1.0)
    monkeypatch.setattr(measurement.simulator, "build",
                        lambda *_, **__: SimpleNamespace(command=[]))
    return measurement.measure(descriptions.load(), layer=layer, nodes=[2])


def test_what_a_kilobyte_takes_is_the_difference_of_two_sizes(
        monkeypatch: pytest.MonkeyPatch) -> None:
    found = rows(monkeypatch, "mpi")["results"]
    assert found["bulk"]["2"]["python_us_per_message"] == 1000
    assert found["bulk"]["2"]["python_us_per_kb"] == pytest.approx((1200 - 1000) / 192, abs=1e-3)
    assert found["bulk"]["2"]["timed_messages"] == 20 * measurement.TURNS
    assert found["stream"]["2"]["python_us_per_kb"] is None
    assert found["idle"]["2"]["python_us_per_message"] is None


@pytest.mark.parametrize("layer, has", [("mpi", True), ("via", False)])
def test_the_table_has_a_column_for_it_where_there_is_such_a_workload(
        monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], layer: str,
        has: bool) -> None:
    monkeypatch.setenv("COLUMNS", "160")
    show(rows(monkeypatch, layer))
    printed = capsys.readouterr().out
    assert (KILOBYTE in printed) == has and ("1.04" in printed) == has


def test_messages_of_the_larger_workload_are_as_much_larger_as_it_says() -> None:
    """By the time that they take: the wire bounds both."""
    def cycles(larger: bool) -> float:
        model, until = Model(describe("via", memory__bytes=1 << 22)), 2_400_000
        done = model.run(measurement.programs("mpi", "bulk", until, 2, larger), limit=1 << 26,
                         tracing=False)
        return until / sum(filter(None, done.results))

    small, large = cycles(False), cycles(True)
    assert large / small == pytest.approx((64 + LARGER["bulk"].more) / 64, rel=0.1)
