"""Programs in Python with windows."""

from textwrap import dedent

import pytest
from nicbed.host.mpi.python import python_program
from nicbed.host.mpi.sync import RankError

from tests.models.target import Model
from tests.programs.mpi import LIMIT, describe


def run(folder, text, ranks=3):
    path = folder / "program.py"
    path.write_text(dedent(text))
    Model(describe(nodes=ranks)).run([python_program(path)] * ranks, limit=10 * LIMIT)


def test_calls(tmp_path):
    run(tmp_path, """
        import numpy as np
        from mpi4py import MPI

        comm = MPI.COMM_WORLD
        rank, size = comm.rank, comm.size
        win = MPI.Win.Allocate(8 * 10, 8, comm=comm)
        here = np.frombuffer(win.tomemory(), np.int64)
        assert win.attrs[1:] == (80, 8) and win.flavor == MPI.WIN_FLAVOR_ALLOCATE
        assert win.model == MPI.WIN_UNIFIED and win.Get_attr(MPI.WIN_SIZE) == 80
        win.Fence()
        win.Put(np.full(2, rank), (rank + 1) % size, 3)
        win.Accumulate([np.ones(3, int), MPI.LONG], 0, [6, 3, MPI.LONG], MPI.SUM)
        win.Fence()
        assert here[3:5].tolist() == [(rank - 1) % size] * 2
        assert rank or here[6:9].tolist() == [size] * 3
        old, got = np.zeros(1, int), np.zeros(2, int)
        win.Lock(0, MPI.LOCK_SHARED)
        win.Fetch_and_op(np.ones(1, int), old, 0, 9)
        win.Rget(got, 0, 3).Wait()
        win.Unlock(0)
        assert 0 <= old[0] < size and got.tolist() == [size - 1] * 2
        key = MPI.Win.Create_keyval()
        win.Set_attr(key, "kept")
        win.name = "board"
        assert win.Get_attr(key) == "kept" and win.name == "board" and win.group.size == size
        try:
            win.Put(old, 0)
        except MPI.Exception as error:
            assert error.Get_error_class() == MPI.ERR_RMA_SYNC
            assert "Put to rank 0 outside of an epoch, board" in str(error)
        else:
            raise AssertionError
        win.Free()
        assert win == MPI.WIN_NULL
        mine = MPI.Alloc_mem(10)  # an array of a class of its own
        win = MPI.Win.Create(mine, 1, MPI.INFO_NULL, comm)
        mine[0] = 7
        win.Fence()
        win.Fence()
        win.Free()
    """)


def test_an_error_that_nobody_handles_is_one_line(tmp_path):
    with pytest.raises(RankError) as found:
        run(tmp_path, """
            from mpi4py import MPI
            win = MPI.Win.Create(bytearray(8), 1, comm=MPI.COMM_WORLD)
            win.Fence()
            win.Put(bytearray(4), 0, 6)
        """, 2)
    assert "Put to rank 0: bytes 6 to 10 of a window of 8, COMM_WORLD.Win" in str(found.value)


def test_atomic_operations_take_one_element_of_one_type(tmp_path):
    run(tmp_path, """
        from mpi4py import MPI
        win = MPI.Win.Create(bytearray(16), 1, MPI.INFO_NULL, MPI.COMM_WORLD)
        big, a, b, c = bytearray(4), bytearray(1), bytearray(1), bytearray(1)
        win.Lock(0)
        win.Fetch_and_op(a, b, 0, op=MPI.NO_OP)
        win.Compare_and_swap(a, b, c, 0)
        win.Compare_and_swap(None, None, None, MPI.PROC_NULL)
        for call, several in ((lambda *given: win.Fetch_and_op(*given, 0, op=MPI.NO_OP),
                               ((big, b), (a, big), (a, [big, MPI.INT]))),
                              (lambda *given: win.Compare_and_swap(*given, 0),
                               ((big, b, c), (a, big, c), (a, b, big), (a, b, [big, MPI.INT])))):
            for given in several:
                try:
                    call(*given)
                except ValueError:
                    continue
                raise AssertionError(given)
        win.Unlock(0)
        win.Free()
    """, 2)


@pytest.mark.parametrize("target, text", [
    ("{}", "target: expecting an integer, a list or a tuple"), ("1.5", "target: expecting an"),
    ("()", "target: expecting 1 to 3 items"), ("(0, 1, MPI.INT, 2)", "target: expecting 1 to 3")])
def test_wrong_targets_are_refused(tmp_path, target, text):
    with pytest.raises(RankError, match=f"ValueError: {text}"):
        run(tmp_path, f"""
            import numpy as np
            from mpi4py import MPI

            win = MPI.Win.Allocate(8, 8)
            win.Fence()
            win.Put(np.zeros(1), 0, {target})
            """)
