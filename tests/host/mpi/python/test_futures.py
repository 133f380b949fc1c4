"""mpi4py.futures: tasks for other ranks."""

import pytest
from nicbed.host.mpi.python import python_program
from nicbed.host.mpi.sync import RankError

from tests.models.target import Model
from tests.programs.mpi import LIMIT, describe


@pytest.fixture
def play(tmp_path, capsys):
    """Runs a program's text; the lines that its rank 0 prints."""
    def run(text, nodes=3):
        file = tmp_path / "own.py"
        file.write_text(text)
        Model(describe(nodes=nodes)).run([python_program(file)] * nodes, limit=LIMIT)
        return [line[3:] for line in capsys.readouterr().out.splitlines()
                if line.startswith("0: ")]
    return run


TASKS = """
from mpi4py import MPI
from mpi4py.futures import MPICommExecutor, MPIPoolExecutor, as_completed
def power(x, y=2):
    MPI.compute(10_000 * x)
    return x ** y
def where(x): return MPI.COMM_WORLD.rank
def fails(x): raise KeyError(x)
"""


@pytest.mark.parametrize("nodes", [2, 3, 4])
def test_tasks_and_their_results(play, nodes):
    assert play(TASKS + """
with MPICommExecutor(root=0) as executor:
    if executor is not None:
        assert isinstance(executor, MPIPoolExecutor)
        print(list(executor.map(power, range(9))), list(executor.starmap(power, [(2, 5), (3, 1)])))
        print(list(executor.map(power, range(9), chunksize=4)),
              executor.submit(power, 3, y=3).result())
        print(sorted(executor.map(power, range(5), unordered=True)))
        print({*executor.map(where, range(9))} == {*range(1, MPI.COMM_WORLD.size)})
        print([one.result() for one in as_completed([executor.submit(power, x) for x in (90, 1)])])
        left = [executor.submit(power, 1) for _ in range(9)]
        print(left[-1].cancel(), left[0].cancel())
    else:
        assert MPI.COMM_WORLD.rank > 0
if MPI.COMM_WORLD.rank == 0:
    print(left[7].done(), left[8].cancelled())
print(MPI.COMM_WORLD.allreduce(1))
""", nodes) == [
            "[0, 1, 4, 9, 16, 25, 36, 49, 64] [32, 3]",
            "[0, 1, 4, 9, 16, 25, 36, 49, 64] 27", "[0, 1, 4, 9, 16]", "True",
            "[8100, 1]" if nodes == 2 else "[1, 8100]", "True False", "True True", str(nodes)]


def test_errors_come_to_the_root(play):
    assert play(TASKS + """
with MPICommExecutor(MPI.COMM_WORLD) as executor:
    if executor:
        for task in (executor.submit(fails, 5), executor.submit(lambda: 1),
                     executor.submit(power, "text"), executor.submit(exit, 3)):
            print(type(task.exception()).__name__)
        try:
            list(executor.map(fails, [7]))
        except KeyError as error:
            print(error)
        executor.shutdown()
        try:
            executor.submit(power, 1)
        except RuntimeError as error:
            print(error)
""") [2:] == ["ValueError", "SystemExit", "7", "cannot submit after shutdown"]


def test_pythons_own_waiting(play):
    """It would wait for a thread that completes the tasks."""
    assert play(TASKS + """
import concurrent.futures as own
from mpi4py import futures
with MPICommExecutor() as executor:
    if executor:
        for wait in (own.wait, futures.wait):
            done, left = wait([executor.submit(power, x) for x in range(5)])
            print(sorted(one.result() for one in done), left)
        print(sum(one.result() for one in
                  own.as_completed([executor.submit(power, x) for x in range(5)])))
""", nodes=3) == ["[0, 1, 4, 9, 16] set()"] * 2 + ["30"]


def test_the_root_does_the_tasks_of_a_communicator_of_its_own(play):
    assert play(TASKS + """
with MPICommExecutor(MPI.COMM_SELF) as executor:
    tasks = [executor.submit(power, 4), executor.submit(fails, 0)]
    print(tasks[0].result(), repr(tasks[1].exception()), *executor.map(where, [0]))
""", nodes=2) == ["16 KeyError(0) 0"]


@pytest.mark.parametrize("line, told", [
    ("from mpi4py.futures import MPIPoolExecutor as p; p()", "use MPICommExecutor"),
    ("import mpi4py.util.pkl5", "mpi4py.util is not supported"),
    ("from mpi4py import util", "mpi4py.util is not supported"),
    ("from mpi4py import run", "mpi4py.run is not supported")])
def test_unsupported_features_are_refused(play, line, told):
    with pytest.raises(RankError, match=told):
        play(line, nodes=2)
