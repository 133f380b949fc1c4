"""What the process has once, and each rank of a program in Python for itself."""

import atexit
import ctypes
import locale
import logging
import os
import random
import re
import subprocess
import sys
import threading
import warnings

import numpy as np
import pytest
from nicbed.host.mpi.python import python_program
from nicbed.host.mpi.python.process.generators import NumpyRandom, PythonRandom
from nicbed.host.mpi.sync import RankError
from nicbed.host.runtime import Stuck

from tests.models.target import Model
from tests.programs.mpi import LIMIT, describe

RANKS = 3
HEAD = """
from mpi4py import MPI
comm = MPI.COMM_WORLD
rank, size, meet = comm.rank, comm.size, comm.Barrier
"""
ALONE = "import sys; rank, size, meet = int(sys.argv[1]), int(sys.argv[2]), lambda: None\n"
GETENV = ctypes.CDLL(None).getenv
GETENV.restype = ctypes.c_void_p


def state():
    """What no run may change."""
    return (random.getstate(), repr(np.random.get_state()), dict(os.environ), os.getcwd(),
            ctypes.string_at(getenv) if (getenv := GETENV(b"MINE")) else None,
            locale.setlocale(locale.LC_ALL), list(warnings.filters), warnings.showwarning,
            list(logging.root.handlers), logging.root.level, logging.root.manager.disable,
            sys.stdin, sys.stdout, sys.stderr, sys.excepthook, os._exit, os.chdir, atexit.register,
            threading.Thread.start, type(random), type(np.random), type(logging), type(warnings))


@pytest.fixture
def play(tmp_path, capfd, monkeypatch):
    """Runs a program's text, in an empty folder; what its ranks print, and what comes on stderr."""
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)

    def run(text, nodes=RANKS, head=HEAD):
        file = tmp_path / "own.py"
        file.write_text(head + text)
        before = state()
        try:
            Model(describe(nodes=nodes)).run([python_program(file)] * nodes, limit=LIMIT)
        finally:
            assert state() == before
            said = capfd.readouterr()
        return [[line[3:] for line in said.out.splitlines() if line.startswith(f"{rank}: ")]
                for rank in range(nodes)], said.err
    return run


@pytest.fixture
def fails(play):
    """The line with which a program's text ends the run."""
    def run(text, **given):
        with pytest.raises(RankError) as found:
            play(text, **given)
        assert "\n" not in str(found.value)
        return str(found.value)
    return run


def alone(text, rank, nodes=RANKS):
    """What the program's text prints as rank ``rank`` in a process of its own."""
    done = subprocess.run([sys.executable, "-c", ALONE + text, str(rank), str(nodes)],
                          capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


DRAWS = {
    "random": "draw = lambda: (random.random(), random.gauss(0, 1), random.randrange(99))",
    "numpy": "draw = lambda: (np.random.rand(312)[7], np.random.standard_normal(), "
             "np.random.randint(99))",
    "functions taken from the modules": "draw = lambda: (uniform(0, 2), rand(), randn())",
}


@pytest.mark.parametrize("draw", DRAWS.values(), ids=DRAWS)
def test_seeded_numbers_are_those_of_a_process_alone(play, draw):
    text = f"""
import random, numpy as np
from random import seed, uniform
from numpy.random import rand, randn
{draw}
seed(7 + rank); np.random.seed([7, rank])
for trip in range(4):
    meet()
    print(draw())
    if trip == rank:
        random.seed(5); np.random.seed(5)
    for _ in range(rank): draw()
"""
    printed, _ = play(text)
    assert printed == [alone(text, rank) for rank in range(RANKS)]
    assert len({tuple(lines) for lines in printed}) == RANKS


def test_numbers_without_a_seed_are_each_ranks_own_and_the_same_in_each_run(play):
    text = "import random, numpy as np\nmeet()\nprint(random.random(), np.random.rand())"
    assert play(text) == play(text)
    seeded = text.replace("meet", "random.seed(rank); np.random.seed(rank); meet")
    assert play(text)[0] == [alone(seeded, rank) for rank in range(RANKS)]


def test_generators_are_found_in_memory():
    """Else a switch takes ten times as long."""
    assert PythonRandom()._words is not None
    assert None not in (NumpyRandom()._words, NumpyRandom()._second)


@pytest.mark.parametrize("item, name", [(PythonRandom, "_words"), (NumpyRandom, "_words")])
def test_generators_that_are_not_found_are_switched_nevertheless(item, name):
    one = item()
    setattr(one, name, None)
    before, fresh = one.take(), one.fresh(3)
    one.put(fresh)
    drawn = [random.random(), np.random.standard_normal()]
    one.put(fresh)
    again = [random.random(), np.random.standard_normal()]
    one.put(before)
    assert sum(map(np.equal, drawn, again)) == 1 and repr(one.take()) == repr(before)


EACH = """
import decimal, logging, os, sys, warnings
import numpy as np
{before}
meet()
print({after})
"""


@pytest.mark.parametrize("before, after", [
    ("os.environ['MINE'] = str(rank); os.environ.pop('HOME', 0)", "os.environ['MINE'], "
     "os.environ.get('HOME'), os.popen('echo $MINE$HOME').read()"),
    ("if rank == 0: os.environ['MINE'] = '0'", "os.popen('echo $MINE').read()"),
    ("if rank: del os.environ['PATH']", "'PATH' in os.environ, os.getenv('PATH') is None"),
    ("os.makedirs(f'd{rank}', exist_ok=True)\nif rank: os.chdir(f'd{rank}')",
     "os.path.basename(os.getcwd())"),
    ("decimal.getcontext().prec = 5 + rank", "decimal.Decimal(1) / 3"),
    ("np.seterr(all='raise' if rank else 'ignore')", "np.geterr()"),
    ("np.set_printoptions(precision=2 + rank)", "np.array([1 / 3])"),
    ("if rank: warnings.simplefilter('error')", "warnings.filters[-5:], "
     "warnings.filters[0][0] == 'error'"),
    ("logging.basicConfig(format=f'{rank} %(message)s', level=10 * (1 + rank))",
     "logging.root.level, [h.formatter._fmt for h in logging.root.handlers]"),
    ("logging.getLogger('own').addHandler(logging.NullHandler())",
     "len(logging.getLogger('own').handlers)"),
    ("logging.disable(logging.ERROR if rank else logging.NOTSET)", "logging.root.manager.disable"),
    ("import locale; locale.setlocale(locale.LC_ALL, 'C.UTF-8' if rank else 'C')",
     "locale.setlocale(locale.LC_ALL)"),
    ("sys.argv.append(rank); sys.path.insert(0, str(rank))", "sys.argv[-1], sys.path[0]"),
])
def test_each_rank_has_its_own(play, before, after):
    text = EACH.format(before=before, after=after)
    printed, _ = play(text, nodes=2)
    assert printed == [alone(text, rank, 2) for rank in range(2)]


def test_logging_of_a_rank_goes_to_its_own_stream_once(play):
    _, said = play("""
import logging
logging.basicConfig(format=f'{rank} says %(message)s')
meet()
logging.getLogger('app').warning('hello')
""")
    assert sorted(said.splitlines()) == [f"{rank}: {rank} says hello" for rank in range(RANKS)]


def test_what_logging_keeps_is_written_at_the_end_of_the_rank(play):
    _, said = play("""
import logging, logging.handlers
kept = logging.handlers.MemoryHandler(9, target=logging.StreamHandler())
logging.getLogger().addHandler(kept)
meet()
logging.warning('kept')
""")
    assert sorted(said.splitlines()) == [f"{rank}: kept" for rank in range(RANKS)]


def test_warnings_are_those_of_a_new_process(play):
    _, said = play("""
import warnings
meet()
warnings.warn('careful')
warnings.warn('hidden', ImportWarning)
open('file', 'w')
""")
    assert said.count("UserWarning: careful\n") == RANKS and "hidden" not in said
    assert {line[:3] for line in said.splitlines()} == {"0: ", "1: ", "2: "}
    assert "ResourceWarning" not in said


def test_warnings_are_caught_by_the_rank_that_gives_them(play):
    printed, _ = play("""
import warnings
with warnings.catch_warnings(record=rank != 1) as seen:
    warnings.simplefilter('always' if rank != 1 else 'error')
    meet()
    try:
        warnings.warn(f'of {rank}')
    except UserWarning as error:
        seen = [error]
    meet()
print(*[getattr(one, 'message', one) for one in seen])
""")
    assert printed == [["of 0"], ["of 1"], ["of 2"]]


def test_folders_of_ranks_are_kept_apart_by_turns(play, tmp_path):
    printed, _ = play("""
import os
if rank != 1:
    os.mkdir(str(rank))
for trip in range(3):
    if rank != 1 and trip == rank:
        os.chdir(str(rank))
    meet()
    with open(f'{rank}.{trip}', 'w'): pass
""")
    here = tmp_path / "here"
    assert sorted(str(one.relative_to(here)) for one in here.rglob("*.*")) == [
        "0/0.0", "0/0.1", "0/0.2", "1.0", "1.1", "1.2", "2.0", "2.1", "2/2.2"]


def test_a_folder_that_is_removed_is_no_harm(play):
    printed, _ = play("""
import os
if rank == 1:
    os.mkdir('gone'); os.chdir('gone'); os.rmdir('../gone')
meet(); meet()
print(os.path.basename(os.getcwd()) if rank != 1 else 'nowhere')
""")
    assert printed == [["here"], ["nowhere"], ["here"]]


def test_what_shall_run_at_exit_runs_at_the_end_of_the_rank(play):
    printed, _ = play("""
import atexit
atexit.register(print, 'first', rank)
@atexit.register
def last(): print('last', MPI.Is_finalized())
atexit.register(print, 'never')
atexit.unregister(print) if rank == 1 else atexit.register(lambda: 1 / 0)
meet()
print('end')
""")
    assert printed == [["end", *(["never"] if rank != 1 else []), "last False",
                        *([f"first {rank}"] if rank != 1 else [])] for rank in range(RANKS)]


def test_standard_input_goes_to_rank_0(play, tmp_path):
    given = tmp_path / "given"
    given.write_text("12\nrest\nof it")
    before = os.dup(0)
    with open(given) as file:
        os.dup2(file.fileno(), 0)
    try:
        printed, _ = play("""
import sys
try:
    n = int(input())
except EOFError:
    n = None
meet()
print(n, sys.stdin.read().split(), sys.stdin.readline() == '')
""")
    finally:
        os.dup2(before, 0)
        os.close(before)
    assert printed == [["12 ['rest', 'of', 'it'] True"], ["None [] True"], ["None [] True"]]


def test_streams_are_streams(play):
    printed, said = play("""
import sys
sys.stdout.reconfigure(line_buffering=True)
sys.stdout.writelines(['one\\n', 'two'])
sys.stdout.buffer.write('\\u00e4\\n'.encode()[:1]); sys.stdout.buffer.write(b'\\xa4\\n')
print('error', file=sys.stderr, flush=True)
""", nodes=2)
    assert printed == [["one", "two\u00e4"]] * 2
    assert said.splitlines() == ["0: error", "1: error"]


@pytest.mark.parametrize("line, text", [
    ("sys.exit(3)", "rank 1 ended with exit status 3"),
    ("sys.exit(-1)", "rank 1 ended with exit status 255"),
    ("raise SystemExit('no input')", "rank 1 ended with exit status 1: no input"),
    ("raise SystemExit(2.5)", "rank 1 ended with exit status 1: 2.5"),
    ("os._exit(7)", "rank 1 ended with exit status 7"),
    ("os._exit(0)", "rank 1 ended without MPI_Finalize"),
    ("os.abort()", "rank 1 ended with exit status 134"),
    ("sys.excepthook = lambda *_: comm.Abort(5)\n    raise KeyError('k')",
     "own.py:8: rank 1: KeyError: 'k'"),
])
def test_ends(fails, line, text):
    assert fails(f"import os, sys\nif rank == 1:\n    {line}\nmeet()") == text


@pytest.mark.parametrize("line", ["sys.exit(256)", "sys.exit(False)", "sys.exit()",
                                  "MPI.Finalize(); os._exit(0)"])
def test_good_ends(play, line):
    printed, _ = play(f"import os, sys\nmeet()\nprint('end')\n{line}\nprint('no')")
    assert printed == [["end"]] * RANKS


def test_an_exit_without_ado_runs_nothing_more(play):
    printed, _ = play("""
import atexit, os
atexit.register(print, 'no')
try:
    MPI.Finalize(); os._exit(0)
finally:
    print('no')
""")
    assert printed == [[]] * RANKS


THREAD = """
import threading, time
def work():
    {call}
thread = threading.Thread(target=work, name='worker')
if rank == 1:
    thread.start()
    {wait}
{then}
"""


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
@pytest.mark.parametrize("wait, then", [("thread.join()", "meet()"), ("thread.join()", ""),
                                        ("thread.join(); comm.recv(source=0)", "meet()")])
@pytest.mark.parametrize("call", ["comm.send(1, 0)", "print(comm.rank)", "MPI.Wtime()"])
def test_a_call_from_another_thread(fails, call, wait, then):
    assert fails(THREAD.format(call=call, wait=wait, then=then)) == (
        "rank 1: thread worker calls MPI, which only the program's first thread may")


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_call_from_a_thread_for_which_the_program_waits_for_ever(fails):
    """The watchdog ends the wait."""
    assert fails(THREAD.format(call="MPI.Wtime()", then="", wait="""thread.join()
    from nicbed.host.runtime import Stuck
    raise Stuck('waited')""")) == (
        "rank 1: thread worker calls MPI, which only the program's first thread may")


def test_a_call_from_a_pool_of_threads(fails):
    assert "rank 1: thread ThreadPoolExecutor-" in fails("""
from concurrent.futures import ThreadPoolExecutor
if rank == 1:
    with ThreadPoolExecutor(1) as pool:
        list(pool.map(comm.bcast, [1]))
meet()
""")


def test_threads_that_compute(play):
    printed, _ = play("""
import threading
found = []
threads = [threading.Thread(target=lambda n=n: found.append(n * rank)) for n in range(3)]
for one in threads: one.start()
for one in threads: one.join()
print(comm.allreduce(sum(found)))
""")
    assert printed == [["9"]] * RANKS


def test_a_child_of_a_fork_that_calls_mpi(play):
    printed, said = play("""
import os
if rank == 1:
    child = os.fork()
    if child == 0:
        comm.send(1, 0)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
meet()
print('end')
""")
    assert printed == [["end"], ["1", "end"], ["end"]]
    assert said == ("1: own.py:10: rank 1: RuntimeError: a child process of rank 1 calls MPI, "
                    "which only the rank itself may\n")


@pytest.mark.parametrize("end, status", [
    ("pass", 0), ("raise SystemExit(4)", 4), ("os._exit(5)", 5), ("comm.Abort(2)", 1)])
def test_a_child_of_a_fork_ends_alone(play, end, status):
    printed, _ = play(f"""
import os
child = os.fork()
if child:
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    meet()
else:
    {end}
""")
    assert printed == [[str(status)]] * RANKS


def test_processes_of_multiprocessing(play):
    printed, _ = play("""
import multiprocessing
def square(n): return n * n
with multiprocessing.get_context('fork').Pool(2) as pool:
    found = pool.map(square, range(4))
print(comm.allreduce(sum(found)))
""", nodes=2)
    assert printed == [["28"]] * 2


def test_what_ends_a_program_that_computes_for_too_long_is_no_error_of_its_own(play):
    with pytest.raises(Stuck, match="^rank 1's program has computed for 3 s since cycle 5, here"):
        play("""
from nicbed.host.mpi.sync import current
from nicbed.host.port.watch import Watch
from nicbed.host.runtime import Stuck
if rank == 1:
    node = current().node
    raise Stuck(node.run_service(Watch).told(node.port.number, 5, 'here', 3))
meet()
""")


def test_what_is_shared_is_told_once(play):
    _, said = play("""
import os, signal
for _ in range(2):
    signal.signal(signal.SIGUSR1, signal.getsignal(signal.SIGUSR1))
    meet()
""")
    assert re.fullmatch(r"nicbed: own.py:8: rank \d: signal.signal is for all ranks, which share "
                        r"one process \(docs/tutorials/mpi.md, What ranks share\)\n", said)


def test_a_program_that_uses_nothing_of_it_switches_nothing(play, monkeypatch):
    from nicbed.host.mpi.python.process import Process

    monkeypatch.setattr(Process, "activate", lambda *_: pytest.fail("switched"))
    play("import numpy as np, os, random, logging, warnings\nos.environ.get('HOME')\nmeet()")
