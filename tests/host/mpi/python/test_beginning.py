"""How a program for mpi4py begins and ends."""

import pytest
from nicbed.host.mpi.python import python_program

from tests.models.target import Model
from tests.programs.mpi import LIMIT, describe


@pytest.fixture
def play(tmp_path, capsys):
    """Runs a program's text on two ranks; what rank 0 prints."""
    def run(text):
        file = tmp_path / "own.py"
        file.write_text(text)
        Model(describe(nodes=2)).run([python_program(file)] * 2, limit=LIMIT)
        return [line[3:] for line in capsys.readouterr().out.splitlines()
                if line.startswith("0: ")]
    return run


def test_the_version_is_that_of_the_calls(play):
    assert play("from mpi4py import MPI\nprint(MPI.Get_version(), MPI.VERSION, MPI.SUBVERSION)"
                ) == ["(3, 1) 3 1"]
