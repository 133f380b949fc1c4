"""Mutants: each is killed by the test that its patch names.

``mutants/AREA/*.patch``: a line "killed by FILE::TEST", then a diff against the package. It is
applied to a copy of the package, and the named test has to fail there.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

TREE = Path(__file__).parents[2]
PATCHES = sorted(Path(__file__).parent.glob("*/*.patch"))
PLACES = {"am2": ("host/am2/",), "exports": ("testbench/exports/",), "gate": ("testbench/gate/",),
          "intervals": ("testbench/machines/intervals/",), "kernel": ("host/kernel/",),
          "mpi": ("host/mpi/",), "smp": ("rtl/cpu/", "host/smp/"),
          "store": ("testbench/store/",), "tcp": ("host/tcp/",),
          "unet": ("firmware/unet/", "host/unet/"), "via": ("rtl/vi/", "host/via/"),
          "vmmc": ("firmware/vmmc/", "host/vmmc/")}
"""Each area, and the folders that its patches change."""
PARTS = ("firmware", "host", "layouts", "nics", "rtl", "testbench", "tests")
KILLED = "killed by "
TIME = 300
"""Seconds that a test may take; one that hangs is killed, too."""


def killer_of(patch: Path) -> str:
    """The test that a patch names."""
    first = patch.read_text().splitlines()[0]
    assert first.startswith(KILLED), f"{patch.name} does not say what kills it"
    return first.removeprefix(KILLED)


def touched(patch: Path) -> list[str]:
    """The files that a patch changes."""
    return [line.removeprefix("+++ b/").split("\t")[0] for line in patch.read_text().splitlines()
            if line.startswith("+++ ")]


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A copy of the package, beside a PYTHONPATH of its own."""
    place = tmp_path_factory.mktemp("mutants") / "nicbed"
    for part in PARTS:
        shutil.copytree(TREE / part, place / part, ignore=shutil.ignore_patterns("__pycache__"))
    for file in TREE.glob("*.*"):
        if file.is_file():
            shutil.copy(file, place)
    yield place
    shutil.rmtree(place)


def run(place: Path, test: str) -> subprocess.CompletedProcess[str]:
    """All rows, or the one that is named, though they take long."""
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-x", "-p", "no:cacheprovider", "--full", f"tests/{test}"],
        cwd=place, capture_output=True, text=True, timeout=TIME,
        env=os.environ | {"PYTHONPATH": str(place.parent), "PYTHONDONTWRITEBYTECODE": "1",
                          "NICBED_CACHE": str(place.parent / "cache")})


def apply(place: Path, patch: Path, *options: str) -> None:
    """By git, which needs no repository for it (and must not find one above). What is around the
    lines that a patch replaces may have changed."""
    result = subprocess.run(
        ["git", "apply", "-p1", "-C0", *options, str(patch)], cwd=place, capture_output=True,
        text=True, env=os.environ | {"GIT_CEILING_DIRECTORIES": str(place.parent)})
    assert result.returncode == 0, f"{patch.name}: {result.stderr}"


def test_patches_are_of_this_tree(tmp_path):
    """Each still fits."""
    assert len(PATCHES) >= 90
    for patch in PATCHES:
        for path in touched(patch):
            assert path.startswith(PLACES[patch.parent.name]), path
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(TREE / path, tmp_path / path)
        apply(tmp_path, patch, "--check")


def test_killers_are_there():
    """Each patch names a test, and a row of it, that pytest finds."""
    killers = sorted({f"tests/{killer_of(patch)}" for patch in PATCHES})
    found = subprocess.run([sys.executable, "-m", "pytest", "--collect-only", "-p",
                            "no:cacheprovider", *killers],
                           cwd=TREE, capture_output=True, text=True, timeout=TIME)
    assert found.returncode == 0, found.stdout[-3000:]


@pytest.mark.full
@pytest.mark.parametrize("test", sorted({killer_of(patch) for patch in PATCHES}))
def test_passes_without_mutants(copy, test):
    result = run(copy, test)
    assert result.returncode == 0 and "passed" in result.stdout, result.stdout[-3000:]


@pytest.mark.full
@pytest.mark.parametrize("patch", PATCHES, ids=lambda patch: patch.stem)
def test_mutant_is_killed(copy, patch):
    apply(copy, patch)
    try:
        result = run(copy, killer_of(patch))
    except subprocess.TimeoutExpired:
        return
    finally:
        apply(copy, patch, "--reverse")
    assert result.returncode == 1, result.stdout[-3000:] + result.stderr[-3000:]
