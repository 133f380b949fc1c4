"""What is kept beside a gate file."""

from pathlib import Path

import pytest
from nicbed.testbench.errors import UserError
from nicbed.testbench.gate.record import Kept, beside, keep, recall

from tests.testbench.gate.fakes import CONFIG, KEPT


def test_what_was_kept_comes_back(tmp_path: Path) -> None:
    gate = tmp_path / "gate.toml"
    assert recall(gate) == {}
    kept = {"near": KEPT, "far": Kept(CONFIG, None)}
    keep(gate, kept)
    assert recall(gate) == kept


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
