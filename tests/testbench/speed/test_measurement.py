"""The rows of `nicbed speed`, and its table."""

from types import SimpleNamespace
from typing import Any

import pytest
from nicbed.testbench.descriptions import load as descriptions
from nicbed.testbench.results.speed import KILOBYTE, show
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
        return {**RAN, "account": account} | (
            {"messages": 0, "timed_messages": 0} if silent else {})

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


def test_of_few_messages_more_cycles_are_timed() -> None:
    """A job in which a message takes 100,000 cycles, and the first ones are no part of it."""
    class Slow:
        description = SimpleNamespace(fabric=SimpleNamespace(nodes=2))
        account = None
        until: list[int] = []

        async def run(self, programs: Any, **_: Any) -> Any:
            self.until.append(programs)
            count = (programs + 70_000) // 100_000
            return SimpleNamespace(cycles=programs, wakes=0, results=[count, None])

        def timed(self, on: bool) -> float:
            return 0.0

    def messages(name: str, short: int) -> int:
        lab = Slow()
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(measurement, "programs", lambda layer, name, until, *_: until)
            coroutine = measurement.workload(lab, "mpi", name, 1000, short, 1, "")
            with pytest.raises(StopIteration) as ended:
                coroutine.send(None)
        return ended.value.value["timed_messages"]

    assert messages("stream", 1_000_000) == 10
    assert messages("stream", 40_000) == 7
    assert messages("stream", 1000) == 0


def test_without_a_message_there_is_no_figure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(RAN, "larger_messages", 0)
    found = rows(monkeypatch, "mpi")["results"]["bulk"]["2"]
    assert found["python_us_per_kb"] is None and found["python_us_per_message"] == 1000
    monkeypatch.setitem(RAN, "timed_messages", 0)
    found = rows(monkeypatch, "mpi")["results"]["bulk"]["2"]
    assert found["python_us_per_kb"] is None and found["python_us_per_message"] is None
