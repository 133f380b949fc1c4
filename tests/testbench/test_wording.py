"""How numbers of things are said."""

import ast
from pathlib import Path

import pytest
from nicbed.testbench.results.tables import checks
from nicbed.testbench.wording import counted

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(("arguments", "said"), [
    ((1, "point"), "1 point"), ((0, "point"), "0 points"), ((1200, "point"), "1,200 points"),
    ((1, "point is", "points are"), "1 point is"), ((2, "point is", "points are"), "2 points are")])
def test_one_and_more(arguments: tuple[int, str], said: str) -> None:
    assert counted(*arguments) == said


def test_checks_that_hold() -> None:
    one = {"check": "x", "ok": True, "detail": ""}
    assert checks([one]) == ["checks: the one holds"]
    assert checks([one] * 2) == ["checks: all 2 hold"] and checks([]) == []


def test_no_text_makes_its_plural_itself() -> None:
    """``'s' if count > 1 else ''`` in a text is what :func:`counted` is for."""
    found = []
    for path in (ROOT / "testbench").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.IfExp) and {"s", ""} == {
                    one.value for one in (node.body, node.orelse)
                    if isinstance(one, ast.Constant)}:
                found.append(f"{path.relative_to(ROOT)}:{node.lineno}")
    assert found == []
