"""Three knobs on the target, measured, kept and asked again."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from nicbed.testbench.errors import UserError
from nicbed.testbench.store import Store
from nicbed.testbench.sweeps import Local, Outcome, Task
from nicbed.testbench.whatif import Question, ask

PATTERNS = ("link.latency", "cpu.load", "cpu.trap")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("store")


@pytest.fixture(scope="module")
def found(place: Path) -> dict[str, Any]:
    return ask(Question.of(patterns=PATTERNS), Local(1, store=Store(place)))


def test_links_do_what_is_predicted(found: dict[str, Any]) -> None:
    """A link is crossed four times in a round trip, and no CPU knows of it."""
    rows = {row["how"]: row for row in found["results"]["effects"] if row["knob"] == "link.latency"}
    assert set(rows) == {"halved", "doubled", "free"}
    for how, cycles in (("halved", -8), ("doubled", 16), ("free", -16)):
        assert rows[how]["predicted"] == {"RTT": cycles, "L": cycles / 2}
        assert rows[how]["grown"]["RTT"] == pytest.approx(cycles, abs=1)
        assert abs(rows[how]["grown"]["o_s"]) < 0.01 and not rows[how]["surprises"]


def test_loads_cost_what_is_counted(found: dict[str, Any]) -> None:
    [doubled] = [row for row in found["results"]["effects"]
                 if row["knob"] == "cpu.load" and row["how"] == "doubled"]
    assert doubled["grown"]["RTT"] == pytest.approx(doubled["predicted"]["RTT"], abs=2)
    assert doubled["grown"]["o_s"] > 0 and doubled["predicted"]["RTT"] > 8


def test_a_trap_is_on_no_path_of_this_layer(found: dict[str, Any]) -> None:
    assert found["results"]["without"] == ["cpu.trap"]
    assert all(one["ok"] for one in found["checks"])


class Stored:
    """Refuses to measure what the store does not have."""

    def __init__(self, place: Path) -> None:
        self._local = Local(1, store=Store(place))
        self.count = 0

    def outcomes(self, tasks: Sequence[Task]) -> Iterator[Outcome]:
        for outcome in self._local.outcomes(tasks):
            assert outcome.stored, "measured again"
            self.count += 1
            yield outcome


def test_what_was_measured_is_not_measured_again(found: dict[str, Any], place: Path) -> None:
    """A trap made free is not measured at all: eight points are left, and each is in the store."""
    executor = Stored(place)
    told: list[Any] = []
    again = ask(Question.of(patterns=PATTERNS), executor, lambda *one: told.append(one))
    assert again == found and executor.count == 8 and told[-1][1:] == (8, 8)


class Failing:
    """Fails at the point with the number ``at``."""

    def __init__(self, place: Path, at: int) -> None:
        self._local, self._at = Local(1, store=Store(place)), at

    def outcomes(self, tasks: Sequence[Task]) -> Iterator[Outcome]:
        for one in self._local.outcomes(tasks):
            yield Outcome(one.number, error="it hung") if one.number == self._at else one


def test_a_point_that_fails_is_a_line(found: dict[str, Any], place: Path) -> None:
    made = ask(Question.of(patterns=PATTERNS), Failing(place, 1))
    [failed] = made["failed"]
    assert failed == {"knob": "link.latency", "how": "halved", "line": "it hung"}
    assert len(made["results"]["effects"]) == len(found["results"]["effects"]) - 1
    with pytest.raises(UserError, match="it hung"):
        ask(Question.of(patterns=PATTERNS), Failing(place, 0))


@pytest.mark.full
@pytest.mark.parametrize("layer, overrides", [("via", ()), ("mpl", ()),
                                              ("gm", ("nic.processor=picorv32",))])
def test_other_layers(layer: str, overrides: tuple[str, ...]) -> None:
    """Links are predicted everywhere, prices where a round trip's work is what is on its path."""
    question = Question.of(layer=layer, overrides=overrides, patterns=["link.latency", "cpu.load"])
    made = ask(question, Local(1))["results"]["effects"]
    [doubled] = [row for row in made if (row["knob"], row["how"]) == ("link.latency", "doubled")]
    assert doubled["grown"]["RTT"] == pytest.approx(doubled["predicted"]["RTT"], abs=3)
    assert not any(row["predicted"] for row in made if row["knob"] == "cpu.load")
