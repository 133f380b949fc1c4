"""How a program for mpi4py begins and ends."""

import pytest
from nicbed.host.mpi.python import python_program
from nicbed.host.mpi.sync import RankError

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


def test_a_program_may_begin_and_end_itself(play):
    assert play("""
import mpi4py
mpi4py.rc(initialize=False)
from mpi4py import MPI
print(MPI.Is_initialized(), MPI.Query_thread() == MPI.THREAD_SINGLE)
MPI.Init_thread()
print(MPI.Is_initialized(), MPI.COMM_WORLD.allreduce(1))
MPI.Finalize()
print(MPI.Is_finalized())
try:
    MPI.Init()
except MPI.Exception as error:
    print(error)
""") == ["False True", "True 2", "True", "rank 0: Init after Finalize"]


@pytest.mark.parametrize("option", ["initialize", "finalize"])
def test_a_program_that_is_to_end_itself_and_does_not(play, option):
    with pytest.raises(RankError, match="^rank [01] ended without MPI_Finalize"):
        play(f"import mpi4py.rc\nmpi4py.rc.{option} = False\nfrom mpi4py import MPI\nMPI.Init()")


def test_a_call_before_init(play):
    with pytest.raises(RankError, match="outside of Init and Finalize"):
        play("from mpi4py import rc\nrc.initialize = False\nfrom mpi4py import MPI\n"
             "MPI.COMM_WORLD.Barrier()")


def test_a_program_without_mpi(play):
    assert play("print('here')") == ["here"]
    assert play("import mpi4py\nmpi4py.rc.initialize = False\nprint('here')") == ["here"]


@pytest.mark.parametrize("errors", ["default", "fatal", "abort"])
def test_errors_may_end_the_run(play, errors):
    text = f"""
import mpi4py
mpi4py.rc.errors = {errors!r}
from mpi4py import MPI
try:
    MPI.COMM_WORLD.Dup().send(0, 9)
except MPI.Exception:
    print("raised")
"""
    with pytest.raises(RankError, match="MPI_ERR_RANK: rank [01]: Send: there is no rank 9"):
        play(text)
    assert play(text.replace(errors, "exception")) == ["raised"]


def test_options_that_there_are_not(play):
    assert play("""
import mpi4py, warnings
for call in (lambda: mpi4py.rc(no=1), lambda: setattr(mpi4py.rc, "no", 1)):
    try:
        call()
    except TypeError as error:
        print(error)
mpi4py.rc(threads=False, thread_level="single", recv_mprobe=False, errors="odd")
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    from mpi4py import MPI
    MPI.COMM_WORLD.Barrier()
print(*(one.message for one in told))
""") == ["unexpected argument 'no'", "object has no attribute 'no'",
         "mpi4py.rc.errors: unexpected value 'odd'"]


def test_a_rank_has_its_own_options(play):
    assert play("""
import mpi4py
mpi4py.rc.irecv_bufsz += 1
from mpi4py import MPI
print(MPI.COMM_WORLD.allgather(mpi4py.rc.irecv_bufsz))
""") == ["[32769, 32769]"]
