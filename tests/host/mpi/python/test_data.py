"""The data of messages of programs in Python: what is sent, ignored, and given to operations."""

import pytest
from nicbed.host.mpi.python import python_program

from tests.models.target import Model
from tests.programs.mpi import LIMIT, describe

HEAD = """
import numpy as np
from mpi4py import MPI
comm = MPI.COMM_WORLD
rank, size = comm.rank, comm.size
left, right = (rank - 1) % size, (rank + 1) % size
"""


@pytest.fixture
def play(tmp_path):
    """Runs a program's text, which checks itself."""
    def run(text, nodes=3):
        file = tmp_path / "own.py"
        file.write_text(HEAD + text)
        Model(describe(nodes=nodes)).run([python_program(file)] * nodes, limit=LIMIT)
    return run


@pytest.mark.parametrize("nodes", [2, 3, 4])
def test_ignored_arguments_are_not_looked_at(play, nodes):
    """In place, away from the root, of nobody and of nothing; in each of the three ways."""
    play("""
BAD, root = object(), size - 1
here = rank == root

def ways(call, into, wanted, *arguments):
    for how in (call, f"I{call.lower()}", f"{call}_init"):
        a[:] = 1000 * rank + np.arange(4 * size)
        b[:] = -1
        if here and call in ("Gather", "Gatherv", "Reduce") or call.startswith("Allgather"):
            b[rank if call != "Reduce" else 0] = a[0]
        found = getattr(comm, how)(*arguments)
        for turn in range(found is not None):
            if how.endswith("_init"):
                found.Start()
            found.Wait()
        if wanted is not None:
            assert np.array_equal(into[:len(wanted)], wanted), (how, into, wanted)

a, b = np.zeros(4 * size, 'i'), np.zeros(4 * size, 'i')
every, at = 1000 * np.arange(size), list(range(size))
total = every.sum()
one = ([1] * size, at)
kinds = [MPI.INT] * size
four = [4 * place for place in at]
if here:
    ways("Gather", b, every, MPI.IN_PLACE, [b, 1, MPI.INT], root)
    ways("Gatherv", b, every, MPI.IN_PLACE, [b, one, MPI.INT], root)
    ways("Scatter", b, [-1], [a, 1, MPI.INT], MPI.IN_PLACE, root)
    ways("Scatterv", b, [-1], [a, one, MPI.INT], MPI.IN_PLACE, root)
    ways("Reduce", b, [total], MPI.IN_PLACE, [b, 1, MPI.INT], MPI.SUM, root)
else:
    ways("Gather", b, [-1], [a, 1, MPI.INT], BAD, root)
    ways("Gatherv", b, [-1], [a, 1, MPI.INT], BAD, root)
    ways("Scatter", b, [1000 * root + rank], BAD, [b, 1, MPI.INT], root)
    ways("Scatterv", b, [1000 * root + rank], BAD, [b, 1, MPI.INT], root)
    ways("Reduce", b, [-1], [a, 1, MPI.INT], BAD, MPI.SUM, root)
ways("Allgather", b, every, MPI.IN_PLACE, [b, 1, MPI.INT])
ways("Allgatherv", b, every, MPI.IN_PLACE, [b, one, MPI.INT])
ways("Alltoall", a, every + rank, MPI.IN_PLACE, [a, 1, MPI.INT])
ways("Alltoall", a, np.repeat(every, 2) + np.tile([2 * rank, 2 * rank + 1], size), MPI.IN_PLACE,
     [a, 2, MPI.INT])
ways("Alltoallv", a, every + rank, MPI.IN_PLACE, [a, one, MPI.INT])
ways("Alltoallw", a, every + rank, MPI.IN_PLACE, [a, ([1] * size, four), kinds])
ways("Allreduce", a, [total], MPI.IN_PLACE, [a, 1, MPI.INT])
ways("Scan", a, [every[:rank + 1].sum()], MPI.IN_PLACE, [a, 1, MPI.INT])
ways("Exscan", a, [every[:rank].sum()], MPI.IN_PLACE, [a, 1, MPI.INT])
ways("Reduce_scatter", a, [total + size * rank], MPI.IN_PLACE, [a, size, MPI.INT], [1] * size)
ways("Reduce_scatter_block", a, [total + size * rank], MPI.IN_PLACE, [a, 1, MPI.INT])
NULL = [None, 0, MPI.DATATYPE_NULL]
none = [None, ([0] * size, [-9] * size), MPI.DATATYPE_NULL]
empty = [bytearray(), ([0] * size, [-9] * size), [MPI.DATATYPE_NULL] * size]
for name, arguments in {
        "Bcast": [NULL], "Gather": [NULL, NULL], "Gatherv": [NULL, none], "Scatter": [NULL, NULL],
        "Scatterv": [none, NULL], "Allgather": [NULL, NULL], "Allgatherv": [NULL, none],
        "Alltoall": [NULL, NULL], "Alltoallv": [none, none], "Alltoallw": [empty, empty],
        "Reduce": [NULL, NULL], "Allreduce": [NULL, NULL], "Scan": [NULL, NULL],
        "Exscan": [NULL, NULL], "Reduce_scatter_block": [NULL, NULL]}.items():
    ways(name, a, None, *arguments)
comm.Send(BAD, MPI.PROC_NULL)
comm.Recv(BAD, MPI.PROC_NULL)
comm.Isend(BAD, MPI.PROC_NULL).Wait()
comm.Sendrecv(BAD, MPI.PROC_NULL, 0, BAD, MPI.PROC_NULL)
comm.Sendrecv_replace(BAD, MPI.PROC_NULL, 0, MPI.PROC_NULL)
status = MPI.Status()
comm.Recv_init(BAD, MPI.PROC_NULL).Start()
comm.Sendrecv(NULL, right, 0, NULL, left, 0, status)
assert status.source == left
""", nodes)


@pytest.mark.parametrize("nodes", [2, 3, 4])
def test_operations_of_the_program_on_types_of_the_program(play, nodes):
    """A product of matrices, over each way to lay them out in memory."""
    play("""
n, count = 2, 3
one = np.arange(n * n)
kinds = {"in a row": (MPI.INT.Create_contiguous(4), one),
         "with gaps": (MPI.INT.Create_vector(4, 1, 3).Create_resized(0, 48), 3 * one),
         "behind": (MPI.INT.Create_hindexed([4], [8]).Create_resized(0, 40), 2 + one)}

def product(lower, higher, datatype):
    assert datatype == kind
    a, b = np.frombuffer(lower, 'i'), np.frombuffer(higher, 'i')
    for at in range(0, len(a), kind.extent // 4):
        first, second = a[at + where].reshape(n, n), b[at + where].reshape(n, n)
        b[at + where] = (first @ second % 97).reshape(-1)

def wanted(first, last):
    found = every[first]
    for other in range(first + 1, last + 1):
        found = np.array([x @ y % 97 for x, y in zip(found, every[other])])
    return found

every = np.random.default_rng(1).integers(0, 97, (size, count, n, n)).astype('i')
op = MPI.Op.Create(product)
assert not op.Is_commutative()
for kind, where in kinds.values():
    step = kind.extent // 4
    a, b = (np.full(count * step, -1, 'i') for _ in range(2))
    for at in range(count):
        a[at * step + where] = every[rank][at].reshape(-1)
    out, into = [a, count, kind], [b, count, kind]
    def result():
        return np.array([b[at * step + where].reshape(n, n) for at in range(count)])
    comm.Allreduce(out, into, op)
    assert np.array_equal(result(), wanted(0, size - 1))
    comm.Reduce(out, into if rank == size - 1 else None, op, size - 1)
    assert rank < size - 1 or np.array_equal(result(), wanted(0, size - 1))
    comm.Iscan(out, into, op).Wait()
    assert np.array_equal(result(), wanted(0, rank))
    comm.Exscan(out, into, op)
    assert not rank or np.array_equal(result(), wanted(0, rank - 1))
    b[:] = a
    op.Reduce_local(out, into)
    assert np.array_equal(result(), [x @ x % 97 for x in every[rank]])
    gaps = np.ones(len(a), bool)
    for at in range(count):
        gaps[at * step + where] = False
    assert (a[gaps] == -1).all() and (b[gaps] == -1).all()
for bad in (MPI.MAXLOC, MPI.REPLACE):
    try:
        comm.Allreduce(np.ones(2), np.ones(2), bad)
    except MPI.Exception as error:
        assert error.Get_error_class() == MPI.ERR_OP
    else:
        raise AssertionError(bad)
""", nodes)


def test_absolute_addresses_and_data_before_the_buffer(play):
    play("""
a, b = np.arange(10.) + 100 * rank, np.arange(6, dtype='i') + 10 * rank
kind = MPI.Datatype.Create_struct([3, 2], [MPI.Get_address(a) + 16, MPI.Get_address(b) + 4],
                                  [MPI.DOUBLE, MPI.INT])
c, d = a.copy(), b.copy()
comm.Sendrecv_replace([MPI.BOTTOM, 1, kind], right, 0, left, 0)
assert (a[2:5] == np.arange(2, 5) + 100 * left).all() and a[1] == 100 * rank + 1
assert (b[1:3] == np.arange(1, 3) + 10 * left).all() and b[3] == 10 * rank + 3
comm.Sendrecv([MPI.BOTTOM, kind], right, 0, [MPI.BOTTOM, MPI.INT], left, 0)
a[:], b[:] = c, d
comm.Bcast([MPI.BOTTOM, 1, kind], size - 1)
assert a[4] == 4 + 100 * (size - 1) and b[2] == 2 + 10 * (size - 1)
back = MPI.INT.Create_vector(3, 1, -2)
x = np.arange(10, dtype='i') + 10 * rank
into = np.zeros(3, 'i')
comm.Sendrecv([x[8:], 1, back], right, 0, into, left, 0)
assert (into == 10 * left + np.array([8, 6, 4])).all()
try:
    comm.Send([x[2:], 1, back], right)
except MPI.Exception as error:
    assert error.Get_error_class() == MPI.ERR_BUFFER
else:
    raise AssertionError("before the array")
""")


def test_numbers_of_numpy(play):
    """As counts, ranks, tags, displacements, roots and lengths."""
    play("""
i = np.int64
a, b = np.arange(8, dtype='i') + 10 * rank, np.zeros(8, 'i')
comm.Sendrecv([a, i(2), MPI.INT], i(right), i(3), [b, i(2), MPI.INT], i(left), np.int16(3))
assert b[1] == 10 * left + 1
kind = MPI.INT.Create_vector(i(2), i(1), i(2)).Create_resized(i(0), i(16))
comm.Isend([a, i(1), i(1), kind], dest=i(right), tag=i(4))
comm.Recv([b, i(2), MPI.INT], source=i(left), tag=i(4))
assert b[1] == 10 * left + 6
kind = MPI.Datatype.Create_struct(np.array([1, 1]), np.array([0, 8]), [MPI.INT, kind])
comm.Bcast([a, i(1), kind], root=i(1))
assert (a[[0, 2]] == [10, 12]).all()
comm.Gatherv([a, i(1), MPI.INT], [b, np.ones(size, i), np.arange(size), MPI.INT], i(0))
comm.Scatterv([b, (np.ones(size, i), np.arange(size)), MPI.INT], [a, i(1), MPI.INT], i(0))
comm.Reduce_scatter(np.ones(size, 'i'), b[:1], np.ones(size, i))
assert b[0] == size
comm.send("text", i(right), i(7))
assert comm.recv(None, i(left), i(7)) == "text"
request = comm.irecv(i(1000), i(left), i(8))
comm.isend("more", i(right), i(8))
assert request.wait() == "more"
assert comm.bcast(5 if rank == 1 else None, i(1)) == 5
""")


def test_external_data_and_requests_of_the_program(play):
    play("""
kind = MPI.Datatype.Create_struct([1, 2], [0, 8], [MPI.DOUBLE, MPI.INT])
data = np.zeros(2, np.dtype([("x", 'd'), ("n", '2i')]))
data["x"], data["n"] = [1.5, 2], [[1, 2], [3, 4]]
out = bytearray(kind.Pack_external_size("external32", 2))
assert len(out) == 32 == kind.Pack_external("external32", data, out, 0)
assert out[:16] == np.array([1.5], '>d').tobytes() + np.array([1, 2], '>i').tobytes()
back = np.zeros_like(data)
assert kind.Unpack_external("external32", out, 0, back) == 32 and (back == data).all()

told = []
def query(status, text):
    status.Set_elements(MPI.INT, 3)
    status.source = 7
request = MPI.Grequest.Start(query, lambda text: told.append(text), told.append, args=("gone",))
assert not request.Test()
request.Complete()
status = MPI.Status()
MPI.Request.Waitall([request], found := [status])
assert status.Get_count(MPI.INT) == 3 and status.source == 7 and told == ["gone"]
assert request == MPI.REQUEST_NULL
""", 2)
