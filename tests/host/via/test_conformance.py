"""The tests that docs/reference/via-conformance.md names exist, and each promise has a test or a
reason."""

import re
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[2]
PAGE = TESTS.parent / "docs" / "reference" / "via-conformance.md"
ROWS = [line for line in PAGE.read_text().splitlines()
        if line.startswith("| ") and not line.startswith(("| ---", "| Promise"))]
NAMED = sorted({tuple(found) for row in ROWS
                for found in re.findall(r"`([\w/]+\.py)::(\w+)`", row)})


def test_every_promise_has_a_test_or_a_reason():
    assert len(ROWS) > 80
    for row in ROWS:
        assert ".py::" in row or "Not testable here: " in row, row


@pytest.mark.parametrize("file", sorted({file for file, _ in NAMED}))
def test_named_tests_exist(file):
    text = (TESTS / file).read_text()
    for name in (name for other, name in NAMED if other == file):
        assert re.search(rf"^def {name}\(", text, re.MULTILINE), name
