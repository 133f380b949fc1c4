"""Headlines of docstrings are no clauses, and files and modules that texts name exist."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CODE = ("rtl", "host", "testbench", "layouts", "firmware")
SOURCES = sorted([*ROOT.glob("*.py"),
                  *(file for part in CODE for file in (ROOT / part).rglob("*.py"))])
SHARED = sorted(file for part in ("labs", "models", "programs")
                for file in (ROOT / "tests" / part).rglob("*.py"))
SUPERSEDED = ROOT / "docs" / "decisions" / "superseded"
PAGES = sorted(page for page in [*(ROOT / "docs").rglob("*.md"), ROOT / "README.md",
                                 ROOT / "CONTRIBUTING.md"] if SUPERSEDED not in page.parents)

CLAUSE = re.compile(r"(What|How|Where|Whether|When|Which|Who|Whose|Why|That)\b")
"""A headline that begins so is a clause without a sentence."""
FILE = re.compile(r"(?<![\w./~-])((?:rtl|host|testbench|layouts|firmware|docs|tests|nics|examples|"
                  r"requirements)/[\w./-]+\.(?:py|md|toml|cpp|h|c|ipynb|txt))\b")
MODULE = re.compile(rf"\bnicbed((?:\.\w+)*\.(?:{'|'.join(CODE)})(?:\.\w+)*)")


def documented(source: str) -> Iterator[tuple[str, str]]:
    """Name and docstring of the module, of its classes and of its functions."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            if text := ast.get_docstring(node):
                yield getattr(node, "name", ""), text


def clauses(source: str) -> list[str]:
    """Headlines that are clauses; those of private functions and methods may be."""
    tree = ast.parse(source)
    private = {node.name for node in ast.walk(tree) if isinstance(
        node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name.startswith("_")}
    return [text.splitlines()[0] for name, text in documented(source)
            if CLAUSE.match(text) and name not in private]


def missing_files(text: str) -> list[str]:
    """Files that ``text`` names and that are neither in the project nor among its tests."""
    return [name for name in FILE.findall(text)
            if not (ROOT / name).exists() and not (ROOT / "tests" / name).exists()]


def exists(dotted: str) -> bool:
    """Tells whether ``.host.am.Gam`` is a module, or a name in one."""
    place, names = ROOT, dotted.strip(".").split(".")
    while names and (place / names[0]).is_dir():
        place /= names.pop(0)
    file = place / f"{names[0]}.py" if names else place / "__init__.py"
    if names and file.exists():
        names.pop(0)
    else:
        file = place / "__init__.py"
    if not file.exists():
        return False
    return not names or re.search(rf"\b{names[0]}\b", file.read_text()) is not None


def missing_modules(text: str) -> list[str]:
    """Modules of nicbed that ``text`` names and that do not exist."""
    return [f"nicbed{name}" for name in MODULE.findall(text) if not exists(name)]


@pytest.mark.parametrize("part", ["", *CODE])
def test_headlines_are_no_clauses(part):
    found = [f"{file.relative_to(ROOT)}: {headline}" for file in SOURCES
             if (file.relative_to(ROOT).parts[0] == part if part else file.parent == ROOT)
             for headline in clauses(file.read_text(encoding="utf-8"))]
    assert not found, "say what it is or does: " + "\n".join(found)


def test_what_docstrings_name_exists():
    found = [f"{file.relative_to(ROOT)}: {name}" for file in SOURCES + SHARED
             for _, text in documented(file.read_text(encoding="utf-8"))
             for name in missing_files(text) + missing_modules(text)]
    assert not found, "\n".join(found)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_what_pages_name_exists(page):
    text = page.read_text(encoding="utf-8")
    found = missing_files(text) + missing_modules(text)
    assert not found, f"{page.relative_to(ROOT)} names {found}"


def test_faults_are_found():
    assert clauses('"""What it is."""\ndef f():\n    """Whether."""\ndef _g():\n    """How."""\n') \
        == ["What it is.", "Whether."]
    assert missing_files("see `host/am/gam.py`, host/am/nothing.py") == ["host/am/nothing.py"]
    assert missing_modules("nicbed.host.am.Gam, nicbed.host.am.gam, nicbed.rtl.fifo") == [
        "nicbed.rtl.fifo"]
