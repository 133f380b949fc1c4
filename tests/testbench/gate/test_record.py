"""What is kept beside a gate file."""

from pathlib import Path

import pytest
from nicbed.testbench.errors import UserError
from nicbed.testbench.gate.record import Kept, beside, keep, recall

from tests.testbench.gate.fakes import CONFIG, KEPT


def test_what_was_kept_comes_back(tmp_path: Path) -> None:
    gate = tmp_path / "gate.toml"
    assert recall(gate) == {}
    kept = {"near": KEPT, "far": Kept(CONFIG, None),
            "small": Kept(CONFIG, None, {"merge": {"lut": 3, "ram": 0}})}
    keep(gate, kept)
    assert recall(gate) == kept


def test_a_file_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    gate = tmp_path / "gate.toml"
    beside(gate).mkdir()
    with pytest.raises(UserError, match="gate.json: cannot be read: Is a directory"):
        recall(gate)


@pytest.mark.parametrize("text, told", [
    ("{", "restore it"), ("[]", "restore it"), ("{}", "restore it"),
    ('{"format": 1, "gates": {"a": {"config": {}, "split": {"total": "1"}}}}', "restore it"),
    ('{"format": 1, "gates": {"a": {"config": {}, "split": {}}}}', "restore it"),
    ('{"format": 2, "gates": {}}', "form 2, this nicbed reads 1"),
])
def test_another_file_is_refused(tmp_path: Path, text: str, told: str) -> None:
    gate = tmp_path / "gate.toml"
    beside(gate).write_text(text)
    with pytest.raises(UserError, match=told) as error:
        recall(gate)
    assert "\n" not in str(error.value)
