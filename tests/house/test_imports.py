"""Imports: no circle of modules, whenever they are imported, for types or in functions."""

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from nicbed.layouts.doors import LAYERS

ROOT = Path(__file__).resolve().parents[2]
TOP = ("layouts", "rtl", "firmware", "host", "testbench", "nics")


def modules(root: Path) -> dict[str, Path]:
    """All modules below ``root``, by the names that they have in nicbed."""
    found = {}
    for top in TOP:
        for path in sorted((root / top).rglob("*.py")):
            parts = path.relative_to(root).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imported(name: str, path: Path, known: Mapping[str, Path], types: bool = False
             ) -> Iterator[str]:
    """What module ``name`` imports of those that are ``known``, in functions too, under ``if
    TYPE_CHECKING`` only with ``types``."""
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    nodes: list[ast.AST] = [ast.parse(path.read_text())]
    while nodes:
        node = nodes.pop()
        if not types and isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            nodes += node.orelse
            continue
        nodes += ast.iter_child_nodes(node)
        if isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                above = package.split(".")[:len(package.split(".")) - node.level + 1]
                base = ".".join([*above, *filter(None, [node.module])])
            for alias in node.names:
                whole = f"{base}.{alias.name}".removeprefix("nicbed.").lstrip(".")
                yield from {whole, base.removeprefix("nicbed.")} & known.keys() - {name} \
                    if whole not in known else [whole]


def circles(edges: Mapping[str, set[str]]) -> list[list[str]]:
    """The circles: what is left when modules that import none of those left are taken away, and
    then those that none of those left imports."""
    left = {name: set(others) for name, others in edges.items()}
    while True:
        wanted = set().union(*left.values()) if left else set()
        ends = [name for name, others in left.items() if not others & left.keys()
                or name not in wanted]
        if not ends:
            break
        for name in ends:
            del left[name]
    return [sorted(left)] if left else []


def test_no_circle_of_imports() -> None:
    known = modules(ROOT)
    edges = {name: set(imported(name, path, known)) for name, path in known.items()}
    assert sum(map(len, edges.values())) > 1000
    assert circles(edges) == []


def test_no_circle_of_types() -> None:
    """The parts of the functional target know each other's types, and a door those of what it lets
    in."""
    known = {name: path for name, path in modules(ROOT).items()
             if not name.startswith("testbench.backends.model.")}
    edges = {name: set(imported(name, path, known, types=not name.startswith("layouts.doors.")))
             for name, path in known.items()}
    assert sum(map(len, edges.values())) > 1000
    assert circles(edges) == []


BELOW = ("runtime", "serving", "background", "port", "kernel", "nic", "processor", "smp")
"""What layers stand on, of host."""
ABOVE = (*LAYERS.builtin, "splitc", "apps")


def test_what_layers_stand_on_imports_no_layer() -> None:
    known = {name: path for name, path in modules(ROOT).items() if name.startswith("host.")}
    below = {name: path for name, path in known.items() if name.split(".")[1] in BELOW}
    assert len(below) > 30
    wrong = [f"{name}: {other}" for name, path in below.items()
             for other in imported(name, path, known, types=True)
             if other.split(".")[1] in ABOVE]
    assert not wrong


@pytest.mark.parametrize("second", ["from . import one", "def f():\n    from .one import x",
                                    "from nicbed.rtl.one import x"])
def test_a_circle_is_found(tmp_path: Path, second: str) -> None:
    (tmp_path / "rtl").mkdir()
    for name, text in {"__init__": "", "one": "from .two import y\n", "two": second + "\n",
                       "other": "from . import one\n"}.items():
        (tmp_path / "rtl" / f"{name}.py").write_text(text)
    known = modules(tmp_path)
    edges = {name: set(imported(name, path, known)) for name, path in known.items()}
    assert circles(edges) == [["rtl.one", "rtl.two"]]


def test_what_types_need_is_no_circle(tmp_path: Path) -> None:
    (tmp_path / "rtl").mkdir()
    (tmp_path / "rtl" / "one.py").write_text("from .two import y\n")
    (tmp_path / "rtl" / "two.py").write_text("if TYPE_CHECKING:\n    from .one import x\n")
    known = modules(tmp_path)
    edges = {name: set(imported(name, path, known)) for name, path in known.items()}
    assert edges["rtl.one"] == {"rtl.two"} and circles(edges) == []
    edges = {name: set(imported(name, path, known, types=True)) for name, path in known.items()}
    assert circles(edges) == [["rtl.one", "rtl.two"]]
