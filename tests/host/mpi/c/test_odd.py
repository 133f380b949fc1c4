"""What a program in C does that no rank may do: each is one line, and none hangs."""

import re
import subprocess
import sys
import time

import pytest
from nicbed.host.mpi.c import c_program, compile_program
from nicbed.host.mpi.c.lines import told
from nicbed.host.mpi.sync import RankError
from nicbed.host.port.watch import Stuck
from nicbed.host.runtime import Runtime
from nicbed.testbench.backends.model.target import Model
from nicbed.testbench.run.watchdog import watching

from tests.host.mpi.c.test_program import SOURCES, run
from tests.programs.mpi import describe


def line(part):
    """Number of the line of the program in which ``part`` is."""
    lines = (SOURCES / "odd.c").read_text().splitlines()
    return next(number for number, text in enumerate(lines, 1) if part in text)


@pytest.fixture(scope="module")
def odd(tmp_path_factory):
    return compile_program([SOURCES / "odd.c"], tmp_path_factory.mktemp("odd"))


def printed(odd, what, monkeypatch):
    shown = []
    monkeypatch.setattr("sys.stdout.write", shown.append)
    run(odd, 2, what)
    monkeypatch.undo()
    return sorted("".join(shown).splitlines())


def process(odd, what):
    """The error of a run in a process of its own, which it ends."""
    code = ("from tests.host.mpi.c.test_program import *\n"
            f"run(Path({str(odd)!r}), 2, {what!r})")
    done = subprocess.run([sys.executable, "-c", code], cwd=SOURCES.parents[2],
                          capture_output=True, text=True, timeout=120)
    assert done.returncode
    return done.stderr.strip()


def test_a_call_in_a_second_thread(odd):
    assert process(odd, "thread") == ("nicbed: rank 1: MPI_Comm_rank was called in a second "
                                      "thread: only the thread of main() may call MPI")


def test_threads_that_compute(odd, monkeypatch):
    assert printed(odd, "threads compute", monkeypatch) == ["0: 499500", "1: 499500"]


def test_a_call_in_a_child(odd, monkeypatch):
    assert printed(odd, "child", monkeypatch) == [
        "1: 1", "1: nicbed: rank 1: MPI_Barrier was called in a child of fork(), which is no rank"]


def test_the_end_of_a_child_is_its_own(odd, monkeypatch):
    assert printed(odd, "children", monkeypatch) == ["1: 7"]
    assert printed(odd, "child returns", monkeypatch) == ["1: 9"]
    assert printed(odd, "a child aborts", monkeypatch) == ["1: 1"]


def test_a_function_that_nobody_has(odd):
    with pytest.raises(RankError, match="^rank 1: the program calls nobody, which is nowhere"):
        run(odd, 2, "nobody")


def test_memory_that_goes_before_its_window(odd, monkeypatch):
    assert printed(odd, "window", monkeypatch) == ["0: freed", "1: freed"]


def test_a_profiling_layer(odd, monkeypatch):
    assert printed(odd, "profile", monkeypatch) == ["0: 102", "1: 102"]


def test_a_crash_in_a_call_names_it(odd):
    assert process(odd, "in a call").splitlines()[-1].startswith(
        "nicbed: rank 1 crashed in MPI_Send: SIGSEGV")


def test_a_damaged_heap_names_the_line_that_found_it(odd):
    assert told(process(odd, "free").splitlines()[-1]) == (
        "nicbed: rank 1 crashed: SIGABRT, by the C library: a damaged heap or stack, at "
        f"odd.c:{line('/* twice */')}")


def watched(odd, what, monkeypatch):
    """A run in which the signal of the watch comes, and whose Python looks, too."""
    monkeypatch.setenv("NICBED_PATIENCE", "0.3")
    model = Model(describe(nodes=2))
    model.limit = 40_000_000
    runtime = Runtime(model.description, model, model.memories,
                      [c_program(odd, ["odd", what])] * 2)
    begin = time.process_time()
    with watching(runtime, model, lambda _: None, lambda _: None):
        model.serve(runtime.attention)
    assert time.process_time() - begin < 20
    return runtime


@pytest.mark.parametrize("what, text, part", [
    ("spin", "computed", "volatile unsigned"),
    ("wait", "waited for something outside the target", "nobody unlocks it"),
    ("sleep", "waited for something outside the target", "usleep(10000)"),
])
def test_a_program_that_does_not_go_on_is_left(odd, what, text, part, monkeypatch):
    failed = watched(odd, what, monkeypatch).failed
    assert isinstance(failed, Stuck)
    assert re.search(rf"rank 1's program has {text} for 0.3 s .*in odd.c:{line(part)};",
                     str(failed))


def test_the_search_for_the_line_is_not_the_programs_time(odd, monkeypatch):
    """On a slow machine it takes longer than the program may."""
    from nicbed.host.mpi.c import program

    find = program.line_of

    def slow(*arguments):
        begin = time.process_time()
        while time.process_time() - begin < 0.7:
            pass
        return find(*arguments)

    monkeypatch.setattr(program, "line_of", slow)
    failed = watched(odd, "sleep", monkeypatch).failed
    assert "has waited for something outside the target for 0.3 s" in str(failed)


def test_a_look_does_not_end_a_sleep(odd, monkeypatch):
    shown = []
    monkeypatch.setattr("sys.stdout.write", shown.append)
    failed = watched(odd, "nap", monkeypatch).failed
    monkeypatch.undo()
    assert failed is None and "".join(shown) == "1: 0\n"


def test_options_are_each_ranks(odd, monkeypatch):
    shown = []
    monkeypatch.setattr("sys.stdout.write", shown.append)
    run(odd, 3, "options", "-n", "5")
    assert sorted("".join(shown).splitlines()) == ["0: n 5 4", "1: n 5 4", "2: n 5 4"]


def test_operations_of_nothing_on_windows(odd):
    assert run(odd, 2, "nothing to put")[0] == [0, 0]


def test_a_bad_handle_goes_to_the_calls_communicator(odd, monkeypatch):
    assert printed(odd, "handler", monkeypatch) == ["0: 1", "1: 1"]


def test_an_exception_of_the_layer_is_one_line(odd, monkeypatch):
    def fails(self, number):
        raise ZeroDivisionError("oh")

    monkeypatch.setattr("nicbed.host.mpi.c.calls.Environment.MPI_Init",
                        lambda self, argc, argv: fails(self, 0))
    with pytest.raises(RankError, match="^rank 0: MPI_Init: internal error: ZeroDivisionError: oh"):
        run(odd, 2, "nothing")


def test_places_without_debug_information(tmp_path):
    file = tmp_path / "program.so"
    file.write_bytes(b"no library")
    assert told(f"rank 1 crashed: SIGSEGV [{file}+0x10]") == "rank 1 crashed: SIGSEGV"
    assert told("rank 1 crashed: SIGSEGV") == "rank 1 crashed: SIGSEGV"
