"""With which status `nicbed app FILE` ends where a rank's program ends with one."""

import re
from pathlib import Path

import pytest

from tests.testbench.test_cli import nicbed


@pytest.mark.parametrize("name, text, status, line", [
    ("a.py", "import sys\nsys.exit(3)\n", 3, "rank N ended with exit status 3"),
    ("a.py", "from mpi4py import MPI\nMPI.COMM_WORLD.Abort(7)\n", 7,
     "rank N: MPI_Abort(COMM_WORLD, 7)"),
    ("a.py", "raise ValueError\n", 1, "a.py:1: rank N: ValueError"),
    ("a.c", "#include <stdlib.h>\nint main(void) { exit(200); }\n", 200,
     "rank N ended with exit status 200")])
def test_the_status_is_the_ranks(tmp_path: Path, name: str, text: str, status: int, line: str
                                 ) -> None:
    (tmp_path / name).write_text(text)
    run = nicbed("app", str(tmp_path / name), "--sim", "model", "--out", str(tmp_path))
    assert run.returncode == status
    assert re.sub(r"rank \d", "rank N", run.stderr.strip()) == f"nicbed: {line}"
