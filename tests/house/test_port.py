"""How many operations a port's block has, and whether marks are kept, is the port's to know."""

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
PORTS = {"port", "_port", "cpu"}
"""Names of ports."""
OWN = {"_block", "_queue", "count", "entries", "marking", "marks", "open_marks", "parts",
       "rounded"}
"""Members that are, or were, the port's own."""
LOOKS = ["host/am/sending.py: _block in send"]
"""Where a message passes, and to ask would take 1 % of Python's time for it (decision 146)."""


def reads(text: str) -> Iterator[str]:
    """Members of a port in OWN that are used, and in which function."""
    def walk(node: ast.AST, function: str) -> Iterator[str]:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            function = node.name
        if isinstance(node, ast.Attribute) and node.attr in OWN:
            of = node.value
            name = of.id if isinstance(of, ast.Name) else getattr(of, "attr", "")
            if name in PORTS:
                yield f"{node.attr} in {function}"
        for child in ast.iter_child_nodes(node):
            yield from walk(child, function)
    return walk(ast.parse(text), "the module")


def test_no_layer_looks_into_the_ports_block():
    found = [f"{path.relative_to(ROOT)}: {read}"
             for top in ("examples", "host", "testbench")
             for path in sorted((ROOT / top).rglob("*.py"))
             if ROOT / "host" / "port" not in path.parents
             for read in reads(path.read_text())]
    assert found == LOOKS


def test_it_is_found():
    assert [*reads("def f(port):\n if port.count == 6:\n  self.port.rounded = cpu.parts\n")] == [
        "count in f", "rounded in f", "parts in f"]
