"""Programs for mpi4py, run as they are."""

import pickle
import sys

import pytest
from nicbed.host.mpi.python import python_program
from nicbed.host.mpi.sync import RankError

from tests.models.target import Model
from tests.programs.mpi import LIMIT, describe


@pytest.fixture
def play(tmp_path, capsys):
    """Runs a program's text; what it prints, by rank, and the cycles."""
    def run(text, nodes=3, arguments=(), **files):
        for name, content in files.items():
            (tmp_path / f"{name}.py").write_text(content)
        file = tmp_path / "own.py"
        file.write_text(text)
        model = Model(describe(nodes=nodes))
        before = sys.stdout, sys.argv, list(sys.path), list(sys.meta_path)
        main = sys.modules["__main__"]
        try:
            model.run([python_program(file, arguments)] * nodes, limit=LIMIT)
        finally:
            assert (sys.stdout, sys.argv, sys.path, sys.meta_path) == before
            assert sys.modules["__main__"] is main
            assert "mpi4py" not in sys.modules and not files.keys() & sys.modules.keys()
        lines = capsys.readouterr().out.splitlines()
        return [[line[3:] for line in lines if line.startswith(f"{rank}: ")]
                for rank in range(nodes)], model.now
    return run


HEAD = """
import numpy as np
from mpi4py import MPI
comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()
left, right = (rank - 1) % size, (rank + 1) % size
"""


def test_buffers(play):
    printed, _ = play(HEAD + """
x, y = np.full(700, rank, 'd'), np.empty(700)
comm.Sendrecv(x, right, 5, [y, MPI.DOUBLE], left, 5)
status = MPI.Status()
request = comm.Irecv(y[:9], source=MPI.ANY_SOURCE, tag=6)
comm.Send([x, 5, MPI.DOUBLE], right, 6)
request.Wait(status)
total = np.zeros(700)
comm.Allreduce(x, total, op=MPI.MAX)
print(y[0], y[699], status.Get_source(), status.Get_count(MPI.DOUBLE), total[3])
""")
    assert printed == [["2.0 2.0 2 5 2.0"], ["0.0 0.0 0 5 2.0"], ["1.0 1.0 1 5 2.0"]]


def test_objects(play):
    printed, _ = play(HEAD + """
request = comm.irecv(source=left)
comm.send({'from': rank}, right)
print(request.wait(), comm.bcast([rank], 1), comm.gather(rank), comm.scatter(
    [f'to {one}' for one in range(size)] if rank == 2 else None, 2))
print(comm.allgather(rank), comm.alltoall([rank * 10 + one for one in range(size)]),
      comm.allreduce(rank, MPI.MAX), comm.reduce((rank, -rank), MPI.MINLOC), comm.scan(rank),
      comm.exscan(rank))
""")
    assert printed[0] == ["{'from': 2} [1] [0, 1, 2] to 0",
                          "[0, 1, 2] [0, 10, 20] 2 (0, 0) 0 None"]
    assert printed[2] == ["{'from': 1} [1] None to 2", "[0, 1, 2] [2, 12, 22] 2 None 3 1"]


def test_objects_of_the_programs_own_classes(play):
    printed, _ = play(HEAD + """
from dataclasses import dataclass
@dataclass
class Found:
    rank: int
import __main__
print(comm.bcast(Found(rank), 1), __main__.rank)
""")
    assert printed == [[f"Found(rank=1) {rank}"] for rank in range(3)]


def test_packing_takes_the_time_of_a_copy(play):
    printed, _ = play(HEAD + """
every_other = MPI.DOUBLE.Create_vector(500, 1, 2).Commit()
x, packed, y = np.arange(1000.), bytearray(4008), np.zeros(1000)
times = [MPI.Wtime()]
at = every_other.Pack(x[:999], packed, 8, comm)
times.append(MPI.Wtime())
every_other.Unpack(packed, 8, y[:999], comm)
times.append(MPI.Wtime())
print(at, (y[::2] == x[::2]).all(), y[1::2].any(), [after - before > 500 * MPI.Wtick()
      for before, after in zip(times, times[1:])])
""")
    assert printed == [["4008 True False [True, True]"]] * 3


def test_how_objects_are_pickled_is_each_ranks_own_and_ends_with_the_run(play):
    text = HEAD + """
before = MPI.pickle.PROTOCOL
if rank == 1: MPI.pickle.__init__(protocol=1)
comm.Barrier()
print(before, MPI.pickle.PROTOCOL)
"""
    usual = pickle.HIGHEST_PROTOCOL
    for _ in range(2):
        assert play(text)[0] == [[f"{usual} {1 if rank == 1 else usual}"] for rank in range(3)]


def test_nicbeds_own_name(play):
    printed, _ = play("from nicbed.mpi import MPI\nprint(MPI.COMM_WORLD.rank)")
    assert printed == [["0"], ["1"], ["2"]]


def test_modules_beside_it_are_each_ranks_own(play):
    printed, _ = play(HEAD + """
import beside, json
beside.seen.append(rank)
comm.Barrier()
import beside as again
import sys
print(again is beside, beside.seen, sys.argv[1:], __name__)
""", arguments=["a", "b"], beside="seen = []")
    assert printed == [[f"True [{rank}] ['a', 'b'] __main__"] for rank in range(3)]


def test_equal_programs_take_equal_cycles(play):
    text = HEAD + "x = np.zeros(5000)\ncomm.Bcast(x)\ncomm.bcast('x' * 100)\nprint(MPI.Wtime())"
    assert play(text) == play(text)


@pytest.mark.parametrize("line, text", [
    ("1 / 0", "own.py:7: rank 2: ZeroDivisionError: division by zero"),
    ("import beside", "beside.py:1: rank 2: KeyError: 'x'"),
    ("comm.Send(np.zeros(1), 9)", "own.py:7: rank 2: Exception: MPI_ERR_RANK: rank 2: Send: there "
     "is no rank 9 in COMM_WORLD, which has 0 to 2"),
    ("comm.Abort(3)", "rank 2: MPI_Abort(COMM_WORLD, 3)"),
    ("raise SystemExit(4)", "rank 2 ended with exit status 4"),
    ("comm.recv(source=0)", "MPI_ERR_PENDING: deadlock, no rank can go on: rank 0: Barrier from "),
    ("comm.Set_errhandler(MPI.ERRORS_ARE_FATAL); comm.Send(np.zeros(1), 9)",
     "rank 2: MPI_ERR_RANK: rank 2: Send: there is no rank 9"),
    ("comm.Set_errhandler(MPI.ERRORS_ABORT); comm.Send(np.zeros(1), 9)",
     "rank 2: MPI_ERR_RANK: rank 2: Send: there is no rank 9"),
    ("comm.Join(0)", "own.py:7: rank 2: NotImplementedError: Comm.Join is not supported"),
])
def test_errors_are_one_line_with_the_rank(play, line, text):
    with pytest.raises(RankError) as found:
        play(HEAD + f"if rank == 2: {line}\ncomm.Barrier()", beside="{}['x']")
    assert str(found.value).startswith(text) and "\n" not in str(found.value)


def test_exceptions_can_be_caught(play):
    printed, _ = play(HEAD + """
try:
    comm.Send(np.zeros(1), 9)
except MPI.Exception as error:
    print(error.Get_error_class() == MPI.ERR_RANK)
""")
    assert printed == [["True"]] * 3


def test_errors_of_requests_go_to_the_handler_of_their_communicator(play):
    printed, _ = play(HEAD + """
def handle(comm, code):
    told.append((comm.Get_name(), MPI.Get_error_string(code)))

def begin():
    for tag in range(3):
        if rank == 0:
            other.Send(np.zeros(4 if tag == 1 else 2), 1, tag)
        else:
            yield other.Irecv(np.zeros(2), 0, tag)

def fails(call):
    try:
        call()
    except MPI.Exception as error:
        return MPI.Get_error_string(error.Get_error_code())
    return 'nothing'

told, other = [], comm.Dup()
other.Set_name('other')
other.Set_errhandler(MPI.Comm.Create_errhandler(handle))
for call in ('Wait', 'Test', 'Waitany', 'Waitall', 'Testall', 'Testany', 'Waitsome', 'Testsome'):
    requests = list(begin())
    comm.Barrier()
    if rank == 0:
        continue
    for _ in range(9): requests[1].Get_status()
    status, statuses = MPI.Status(), []
    if call in ('Wait', 'Test'):
        print(call, fails(lambda: getattr(requests[1], call)(status)), status.tag)
    elif 'any' in call:
        print(call, fails(lambda: getattr(MPI.Request, call)(requests[1:], status)), status.tag)
    else:
        print(call, fails(lambda: getattr(MPI.Request, call)(requests, statuses)),
              [MPI.Get_error_string(one.error)[4:] for one in statuses])
    print(*map(bool, requests), fails(lambda: MPI.Request.Waitall(requests)), told.pop(), told)
other.Set_errhandler(MPI.ERRORS_RETURN)
if rank == 1:
    request = other.irecv(8, 0)
    print(fails(request.wait), bool(request))
else:
    other.send('long' * 9, 1)
""", nodes=2)
    statuses = "['SUCCESS', 'ERR_TRUNCATE', 'SUCCESS']"
    expected = []
    for call in ["Wait", "Test", "Waitany", "Waitall", "Testall", "Testany", "Waitsome",
                 "Testsome"]:
        one = call in ("Wait", "Test") or "any" in call
        error = "MPI_ERR_TRUNCATE" if one else "MPI_ERR_IN_STATUS"
        expected += [f"{call} {error} {1 if one else statuses}",
                     f"{'True False True' if one else 'False False False'} nothing "
                     f"('other', '{error}') []"]
    assert printed == [[], [*expected, "MPI_ERR_TRUNCATE False"]]


@pytest.mark.parametrize("handler", ["ERRORS_ARE_FATAL", "ERRORS_ABORT"])
def test_an_error_of_a_request_may_end_the_run(play, handler):
    with pytest.raises(RankError) as found:
        play(HEAD + f"""
other = comm.Dup()
other.Set_errhandler(MPI.{handler})
if rank:
    request = other.Irecv(np.zeros(2), 0, 1)
    try:
        request.Wait()
    except MPI.Exception:
        pass
else:
    other.Send(np.zeros(3), 1, 1)
""", nodes=2)
    assert str(found.value) == ("rank 1: MPI_ERR_TRUNCATE: rank 1: 24 bytes from rank 0, tag 1, "
                                "COMM_WORLD.Dup, and Irecv has room for 16")


SEVERAL = """
first, second = comm.Dup(), comm.Dup()
first.Set_errhandler(MPI.{})
second.Set_errhandler(MPI.{})
if rank == 0:
    first.Send(np.zeros(3), 1)
    second.Send(np.zeros(3), 1)
else:
    requests = [one.Irecv(np.zeros(2), 0) for one in (first, second)]
    try:
        MPI.Request.Waitall(requests)
    except MPI.Exception as error:
        print(error.Get_error_class() == MPI.ERR_IN_STATUS)
"""


@pytest.mark.parametrize("handlers", [
    ("ERRORS_RETURN", "ERRORS_ARE_FATAL"), ("ERRORS_ARE_FATAL", "ERRORS_RETURN")])
def test_one_of_several_errors_may_end_the_run(play, handlers):
    with pytest.raises(RankError, match="^rank 1: MPI_ERR_IN_STATUS: MPI_ERR_TRUNCATE: .*; MPI_"):
        play(HEAD + SEVERAL.format(*handlers), nodes=2)
    assert play(HEAD + SEVERAL.format(handlers[0], handlers[0]).replace("ARE_FATAL", "RETURN"),
                nodes=2)[0] == [[], ["True"]]


def test_a_handler_gets_the_communicator_that_failed(play):
    """Be it that it was inherited; of several communicators, each handler is called once."""
    printed, _ = play(HEAD + """
def handle(failed, code):
    names = {'world': MPI.COMM_WORLD, 'one': one, 'two': two}
    told.append(next(name for name, comm in names.items() if failed == comm))

def fails(call):
    try:
        call()
    except MPI.Exception:
        pass

told, handler = [], MPI.Comm.Create_errhandler(handle)
comm.Set_errhandler(handler)
one, two = comm.Dup(), comm.Split()
assert one.Get_errhandler() == two.Get_errhandler() == handler
for failing in one, two, comm:
    fails(lambda: failing.Send(np.zeros(1), 9))
one.Call_errhandler(1)
print(*told)
told.clear()
if rank == 0:
    for each in one, two, one:
        each.Send(np.zeros(3), 1)
else:
    requests = [each.Irecv(np.zeros(2), 0) for each in (one, two, one)]
    fails(lambda: MPI.Request.Waitall(requests))
    print(*told)
""", nodes=2)
    first = "one two world one"
    assert printed == [[first], [first, "one two"]]


def test_errors_of_start_go_to_the_handler_of_the_requests_communicator(play):
    printed, _ = play(HEAD + """
other = comm.Dup()
comm.Set_errhandler(MPI.ERRORS_ARE_FATAL)
request, good = other.Send_init(np.zeros(1), 99), other.Recv_init(np.zeros(1), MPI.PROC_NULL)
for call in (request.Start, lambda: MPI.Prequest.Startall([good, request]), good.Start):
    try:
        call()
    except MPI.Exception as error:
        print(error.Get_error_class() == (MPI.ERR_REQUEST if call == good.Start else MPI.ERR_RANK))
""", nodes=2)
    assert printed == [["True"] * 3] * 2


def test_an_error_of_start_may_end_the_run(play):
    with pytest.raises(RankError, match="^rank 1: MPI_ERR_RANK: rank 1: Isend: there is no rank"):
        play(HEAD + """
comm = comm.Dup()
if rank == 1:
    comm.Set_errhandler(MPI.ERRORS_ARE_FATAL)
    try:
        comm.Send_init(np.zeros(1), 99).Start()
    except MPI.Exception:
        pass
""", nodes=2)


@pytest.mark.parametrize("call", ["Waitall", "Testall", "Waitany", "Testsome", "waitall"])
def test_a_request_that_is_given_twice(play, call):
    with pytest.raises(RankError) as found:
        play(HEAD + f"""
request = comm.Irecv(np.zeros(1), left)
comm.Send(np.zeros(1), right)
MPI.Request.{call}([MPI.REQUEST_NULL, request, request])
""", nodes=2)
    assert str(found.value).endswith(
        "MPI_ERR_REQUEST: requests 1 and 2 of the call are the same one")
    assert "\n" not in str(found.value)


def test_a_key_that_was_freed_is_that_of_its_attributes_alone(play):
    printed, _ = play(HEAD + """
gone = []
key = MPI.Comm.Create_keyval(lambda comm, key, value: value + 1,
                             lambda comm, key, value: gone.append(value))
comm.Set_attr(key, 5)
print(MPI.Comm.Free_keyval(key) == MPI.KEYVAL_INVALID)
for call in (lambda: comm.Set_attr(key, 6), lambda: MPI.Comm.Free_keyval(key)):
    try:
        call()
    except MPI.Exception as error:
        print(error)
other = comm.Dup()
print(comm.Get_attr(key), other.Get_attr(key))
other.Free()
comm.Delete_attr(key)
print(gone)
""", nodes=2)
    assert printed == [["True", *["MPI_ERR_KEYVAL: key 1000 was freed"] * 2, "5 6", "[6, 5]"]] * 2


def test_a_program_may_finalize_and_exit(play):
    assert play("from mpi4py import MPI\nMPI.Finalize()\nprint(MPI.Is_finalized(), end='')\n"
                "raise SystemExit")[0] == [["True"]] * 3


def test_a_look_at_a_request_goes_on_with_what_has_begun(play):
    """Its ranks make no other call until the barrier has ended."""
    printed, _ = play(HEAD + """
request, looks = comm.Ibarrier(), 0
while not request.Get_status():
    looks += 1
request.Wait()
print(looks > 0)
""", nodes=4)
    assert ["True"] in printed


def test_collective_calls_that_only_begin_or_are_kept(play):
    printed, _ = play(HEAD + """
total, every = np.zeros(2), np.empty(size, 'i')
mine = np.array([rank, 1.0])
requests = [comm.Iallreduce(mine, total), comm.Iallgather(np.full(1, rank, 'i'), every)]
MPI.Request.Waitall(requests)
kept = comm.Allreduce_init(mine, total, MPI.MAX)
for trip in range(2):
    mine[0] = trip * 10 + rank
    kept.Start()
    kept.Wait()
    print(total[0], every.tolist(), end=' ')
kept.Free()
print(kept == MPI.REQUEST_NULL)
""")
    assert printed == [["2.0 [0, 1, 2] 12.0 [0, 1, 2] True"]] * 3


def test_datatypes_tell_how_they_were_made(play):
    printed, _ = play(HEAD + """
import pickle
vector = MPI.INT.Create_vector(3, 1, 2)
pair = MPI.Datatype.Create_struct([1, 2], [0, 40], [vector, MPI.DOUBLE])
again = pickle.loads(pickle.dumps(pair))
kind, how, arguments = again.decode()
print(how, arguments['displacements'], [one.decode()[1:] for one in arguments['datatypes']])
print(again.Get_envelope() == pair.Get_envelope(), again.extent == pair.extent,
      MPI.INT.decode()[1:], vector.Get_contents()[0])
""", nodes=2)
    assert printed == [["STRUCT [0, 40] [('VECTOR', {'count': 3, 'blocklength': 1, 'stride': 2}), "
                        "('NAMED', {})]", "True True ('NAMED', {}) [3, 1, 2]"]] * 2
