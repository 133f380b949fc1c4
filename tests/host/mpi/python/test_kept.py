"""What a program keeps belongs to its rank: neither other ranks nor later jobs of the same process
see it."""

import pytest
from nicbed.host.mpi.python import python_program

from tests.models.target import Model
from tests.programs.mpi import LIMIT, describe

TOUCH = """
from mpi4py import MPI

own = MPI.COMM_WORLD.Dup()
key = MPI.Datatype.Create_keyval()
other = MPI.Comm.Create_keyval()
code = MPI.Add_error_code(MPI.ERR_OTHER)
print(key, other, own.toint(), MPI.INT.toint(), code, MPI.INT.Get_attr(key), MPI.INT.Get_name(),
      MPI.INFO_ENV.items(), MPI.pickle.THRESHOLD, MPI.COMM_WORLD.Get_attr(MPI.LASTUSEDCODE) - code)
try:
    MPI.Comm.fromint(100)
except ValueError as error:
    print(error)
if MPI.COMM_WORLD.rank == WHO:
    MPI.INT.Set_attr(key, "mine")
    MPI.INT.Set_name("mine")
    MPI.INFO_ENV["mine"] = "1"
    MPI.pickle.THRESHOLD = 7
    for _ in range(50):
        MPI.Comm.Create_keyval()
        MPI.INT.Create_contiguous(2).toint()
MPI.COMM_WORLD.Barrier()
print(MPI.INT.Get_attr(key), MPI.INT.Get_name(), MPI.INFO_ENV.get("mine"), MPI.pickle.THRESHOLD)
"""


@pytest.fixture
def play(tmp_path, capsys):
    """Runs the program; what its ranks print. ``who`` is the rank that changes things."""
    def run(who):
        file = tmp_path / "own.py"
        file.write_text(TOUCH.replace("WHO", str(who)))
        Model(describe()).run([python_program(file)] * 2, limit=LIMIT)
        lines = capsys.readouterr().out.splitlines()
        return [[line[3:] for line in lines if line.startswith(f"{rank}: ")] for rank in range(2)]
    return run


def test_jobs_and_ranks_do_not_see_each_others(play):
    first = play(0)
    assert first[0][-1] == "mine mine 1 7"
    assert first[1][-1] == "None MPI_INT None 262144"
    assert "100 is no handle" in first[0]
    second = play(1)
    assert second[1][:-1] == first[1][:-1] == first[0][:-1] == second[0][:-1]
    assert second[0][-1] == first[1][-1]
