"""What is shipped is what is there."""

import ast
import graphlib
import re
import subprocess
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
TOP = {"rtl", "host", "testbench", "firmware", "layouts", "nics"}


def test_every_package_is_listed() -> None:
    """An explicit list forgets: each folder of modules must be in it."""
    there = {
        "nicbed." + ".".join(path.parent.relative_to(ROOT).parts)
        for top in TOP for path in (ROOT / top).rglob("__init__.py")
        if "__pycache__" not in path.parts
    }
    assert there | {"nicbed", "nicbed.examples"} == set(PROJECT["tool"]["setuptools"]["packages"])


def test_every_data_file_is_shipped() -> None:
    """What is no module goes into a wheel only if a pattern of package-data names it."""
    patterns = {ROOT.joinpath(*package.split(".")[1:]) / pattern for package, found in
                PROJECT["tool"]["setuptools"]["package-data"].items() for pattern in found}
    listed = subprocess.run(["git", "ls-files", "-z", *sorted(TOP), "examples"], cwd=ROOT,
                            capture_output=True, text=True, check=True)
    files = [name for name in listed.stdout.split("\0") if name and not name.endswith(".py")]
    assert files
    files.append("py.typed")
    missing = [name for name in files
               if not any((ROOT / name).match(str(pattern)) for pattern in patterns)]
    assert not missing


def test_every_folder_with_modules_is_a_package() -> None:
    for top in TOP:
        for path in (ROOT / top).rglob("*.py"):
            assert (path.parent / "__init__.py").exists(), f"{path.parent} has no __init__.py"


def named_folders(page: str) -> set[str]:
    """The folders in the section Layout of ``page``, each with those around it."""
    found, around = set(), []
    _, _, layout = page.partition("\n## Layout\n")
    for line in layout.partition("\n## ")[0].splitlines():
        if row := re.match(r" {4}( *)(\w+)/ ", line):
            around = [*around[:len(row[1]) // 2], row[2]]
            found.add("/".join(around))
    return found


def test_architecture_names_every_package() -> None:
    page = (ROOT / "docs" / "explanation" / "architecture.md").read_text(encoding="utf-8")
    there = {str(path.parent.relative_to(ROOT)) for top in TOP - {"nics"}
             for path in (ROOT / top).rglob("__init__.py") if "__pycache__" not in path.parts}
    named = named_folders(page)
    assert not there - named, "section Layout of docs/explanation/architecture.md lacks them"
    assert all((ROOT / folder).is_dir() for folder in named)


def test_lock_files_pin_with_hashes_and_name_no_index() -> None:
    for lock in (ROOT / "requirements").glob("*.txt"):
        text = lock.read_text()
        assert "--hash=sha256:" in text
        assert "http" not in text and "--index" not in text, f"{lock.name} names an index"


def test_locks_hold_what_the_project_asks_for() -> None:
    """Each requirement has a version in its lock, and every one there lies in the range."""
    groups = {"core": PROJECT["project"]["dependencies"],
              **PROJECT["project"]["optional-dependencies"]}
    for group, wanted in groups.items():
        pinned: dict[str, list[str]] = {}
        for name in {"core", group}:
            for line in (ROOT / "requirements" / f"{name}.txt").read_text().splitlines():
                if "==" in line.split(";")[0]:
                    project, version = line.split()[0].split("==")
                    pinned.setdefault(project, []).append(version)
        for text in wanted:
            asked = Requirement(text)
            found = pinned.get(asked.name, [])
            assert found, f"requirements/{group}.txt lacks {asked.name}"
            if asked.marker is None:
                assert all(map(asked.specifier.contains, found)), (text, found)
            else:
                assert any(map(asked.specifier.contains, found)), (text, found)


def test_versions_are_pinned_only_where_they_are_part_of_the_target() -> None:
    """An exact version of a common library keeps people from installing nicbed beside anything."""
    pinned = {Requirement(text).name for text in PROJECT["project"]["dependencies"]
              if "==" in text.split(";")[0]}
    assert pinned == {"pythondata-cpu-serv", "pythondata-cpu-picorv32",
                      "pythondata-cpu-vexriscv", "ziglang"}


class NoTypes(ast.NodeTransformer):
    """Leaves out what only types need."""

    def visit_If(self, node: ast.If) -> ast.AST | None:
        return None if ast.unparse(node.test) == "TYPE_CHECKING" else self.generic_visit(node)


def runs(text: str) -> str:
    """A module without the imports that only types need."""
    return ast.unparse(NoTypes().visit(ast.parse(text)))


def test_imports_point_one_way() -> None:
    """testbench → host → firmware → layouts ← rtl. Annotations may name what a door lets in."""
    forbidden = {"layouts": ("rtl", "host", "testbench", "firmware"),
                 "rtl": ("host", "testbench", "firmware"),
                 "host": ("rtl", "testbench"),
                 "firmware": ("rtl", "host", "testbench")}
    wrong = []
    for package, others in forbidden.items():
        for path in (ROOT / package).rglob("*.py"):
            depth = len(path.relative_to(ROOT / package).parts)
            for line in runs(path.read_text()).splitlines():
                words = line.strip().split()
                if len(words) < 2 or words[0] not in ("from", "import"):
                    continue
                for other in others:
                    if words[1].startswith((f"nicbed.{other}", "." * (depth + 1) + other)):
                        wrong.append(f"{path.relative_to(ROOT)}: {line.strip()}")
    assert not wrong


def imports(package: str) -> dict[str, set[str]]:
    """The modules of ``package``, and which others of them each imports, types apart."""
    files = {}
    for path in (ROOT / package).rglob("*.py"):
        parts = path.relative_to(ROOT).with_suffix("").parts
        files[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    found: dict[str, set[str]] = {}
    for name, path in files.items():
        folder = path.parent.relative_to(ROOT).parts
        found[name] = set()
        for node in ast.walk(ast.parse(runs(path.read_text()))):
            if isinstance(node, ast.ImportFrom) and node.level:
                base = ".".join((*folder[:len(folder) + 1 - node.level],
                                 *(node.module or "").split("."))).rstrip(".")
                named = {f"{base}.{alias.name}" for alias in node.names} & files.keys()
                found[name] |= (named or {base} & files.keys()) - {name}
    return found


@pytest.mark.parametrize("package", ["layouts", "host", "firmware"])
def test_no_circle_of_imports(package: str) -> None:
    """A module can be read once those that it imports have been."""
    found = imports(package)
    assert sum(map(len, found.values())) > len(found) // 2
    graphlib.TopologicalSorter(found).prepare()


def test_layouts_and_host_need_no_hdl() -> None:
    for package in ("layouts", "host"):
        for path in (ROOT / package).rglob("*.py"):
            text = runs(path.read_text())
            for library in ("amaranth", "cocotb"):
                assert f"import {library}" not in text and f"from {library}" not in text, path


def test_no_tracked_file_is_ignored() -> None:
    listed = subprocess.run(["git", "ls-files", "-ci", "--exclude-standard"], cwd=ROOT,
                            capture_output=True, text=True)
    assert listed.stdout == ""
