"""Programs in C, compiled and run as they are."""

import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from nicbed.host.mpi.c import CompileError, c_program, compile_program
from nicbed.host.mpi.c.lines import told
from nicbed.host.mpi.sync import RankError

from tests.models.target import Model
from tests.programs.mpi import LIMIT, describe

SOURCES = Path(__file__).resolve().parents[3] / "programs" / "c"


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The library of one of the sources, built once."""
    found = {}

    def build(name):
        if name not in found:
            found[name] = compile_program([SOURCES / f"{name}.c"], tmp_path_factory.mktemp(name))
        return found[name]
    return build


def run(library, nodes, *arguments, **knobs):
    model = Model(describe(nodes=nodes, **knobs))
    results = model.run([c_program(library, ["program", *arguments])] * nodes, limit=LIMIT).results
    return results, model.now


@pytest.mark.parametrize("nodes", [2, 3, 4])
def test_calls(built, nodes, capfd, monkeypatch):
    shown = []
    monkeypatch.setattr("sys.stdout.write", shown.append)
    assert run(built("ring"), nodes, "text")[0] == [0] * nodes
    monkeypatch.undo()
    milliseconds = 1e9 / (float(describe().cpu.clock_mhz) * 1e6)
    lines = sorted("".join(shown).splitlines())
    assert [line[:10] for line in lines] == [f"{rank}: text {rank} "[:10] for rank in range(nodes)]
    assert all(abs(float(line.split()[-1]) - milliseconds) < .05 for line in lines)


def test_equal_programs_take_equal_cycles(built):
    assert run(built("ring"), 4, "x") == run(built("ring"), 4, "x")


@pytest.mark.parametrize("argument, text", [
    ("abort", "rank 1: MPI_Abort(COMM_WORLD, 9)"),
    ("exit", "rank 1 ended with exit status 5"),
    ("return", "rank 1 ended without MPI_Finalize"),
    ("send", "MPI_ERR_RANK: rank 1: Send: there is no rank 7 in COMM_WORLD, which has 0 to 1"),
    ("deadlock", "MPI_ERR_PENDING: deadlock, no rank can go on: rank 0: Barrier from rank 1, tag "
     "0, COMM_WORLD; rank 1: Recv from rank 0, tag 3, COMM_WORLD"),
    ("kill", "rank 1 ended with exit status 134"),
    ("quick", "rank 1 ended with exit status 7"),
    ("test", "rank 1 ended with exit status 134"),
    ("unset", "rank 1: MPI_ERR_ARG: an argument is NULL"),
    ("indexed", "rank 1: MPI_ERR_COUNT: count -1: must not be negative"),
    ("memory", "rank 1: MPI_ERR_NO_MEM: MPI_Recv: host memory is full: 4096 bytes asked, 0 of "
     "8388608 left (memory.bytes)"),
    ("compute", "rank 1: MPI_ERR_ARG: nicbed_compute of -1 cycles"),
    ("part", "rank 1 ended with exit status 6"),
    ("p0", "rank 1 ended without MPI_Finalize"),
])
def test_errors_are_one_line_with_the_rank(built, argument, text):
    with pytest.raises(RankError) as found:
        run(built("wrong"), 2, argument)
    assert str(found.value) == text


@pytest.mark.parametrize("argument, status", [
    ("abort", 9), ("exit", 5), ("return", 1), ("quick", 7), ("part", 6), ("send", 1),
    ("kill", 134)])
def test_the_run_ends_with_the_status_of_the_rank(built, argument, status):
    with pytest.raises(RankError) as found:
        run(built("wrong"), 2, argument)
    assert found.value.status == status


def test_an_assertion_that_fails_is_told(built, monkeypatch):
    shown = []
    monkeypatch.setattr("sys.stdout.write", shown.append)
    with pytest.raises(RankError):
        run(built("wrong"), 2, "test")
    monkeypatch.undo()
    line = next(line for line in "".join(shown).splitlines() if "assertion" in line)
    assert re.fullmatch(r"1: \S*wrong\.c:\d+: int main\(.*\): assertion `rank == 0' failed", line)


@pytest.mark.parametrize("argument", ["null", "overflow", "P"])
def test_a_crash_is_one_line_with_the_rank(built, argument):
    """In a process of its own, which it ends."""
    code = ("from tests.host.mpi.c.test_program import *\n"
            f"run(Path({str(built('wrong'))!r}), 2, {argument!r})")
    done = subprocess.run([sys.executable, "-c", code], cwd=SOURCES.parents[2],
                          capture_output=True, text=True, timeout=120)
    assert done.returncode == -signal.SIGSEGV
    assert re.fullmatch("nicbed: rank 1 crashed: SIGSEGV, an access to memory that it does not "
                        r"have, or more of a stack than there is, at wrong\.c:\d+",
                        told(done.stderr.strip()))


@pytest.mark.parametrize("source, text", [
    ("int main(void) { return 1 +; }", "bad.c:1:28: error: expected expression"),
    ("extern int nothing; int main(void) { return nothing; }", "error: undefined symbol: nothing"),
])
def test_what_the_compiler_refuses_is_one_line(tmp_path, source, text):
    (tmp_path / "bad.c").write_text(source)
    with pytest.raises(CompileError, match=".") as found:
        compile_program([tmp_path / "bad.c"], tmp_path)
    assert text in str(found.value) and "\n" not in str(found.value)


def test_sources_that_are_not_there(tmp_path):
    with pytest.raises(CompileError, match=r"none\.c: no such file"):
        compile_program([tmp_path / "none.c"], tmp_path)
    with pytest.raises(CompileError, match="no C file is in it"):
        compile_program([tmp_path], tmp_path)


def test_folders_and_options(tmp_path):
    (tmp_path / "one.c").write_text('#include "own.h"\nint main(void) { return two(); }')
    (tmp_path / "two.c").write_text("int two(void) { return NUMBER; }")
    (tmp_path / "own.h").write_text("int two(void);")
    library = compile_program([tmp_path], tmp_path, "-DNUMBER=3 -DNAME='\"a b\"'")
    with pytest.raises(RankError, match="rank 0 ended with exit status 3"):
        run(library, 2)


def test_errors_that_are_returned(built):
    """The last one is not: it ends the run."""
    with pytest.raises(RankError) as found:
        run(built("returns"), 2)
    assert str(found.value) == (
        "MPI_ERR_IN_STATUS: MPI_ERR_TRUNCATE: rank 1: 16 bytes from rank 0, tag 1, "
        "COMM_WORLD.Dup, and Irecv has room for 8")


@pytest.mark.parametrize("fatal", ["0", "1"])
def test_one_of_several_errors_may_end_the_run(built, fatal):
    with pytest.raises(RankError) as found:
        run(built("returns"), 2, "several", fatal)
    assert re.fullmatch(r"MPI_ERR_IN_STATUS: (MPI_ERR_TRUNCATE: rank 1: 16 bytes from rank 0, tag "
                        r"1, [\w.]+, and Irecv has room for 8(; |$)){2}", str(found.value))


@pytest.mark.parametrize("name", ["two words, ü: and a colon.c", "a:b.c"])
def test_sources_with_a_colon_in_their_name(name: str, tmp_path: Path) -> None:
    """The compiler stumbles over them; what it includes lies beside them, and what is wrong is
    told by the file's own name."""
    place = tmp_path / "c: ä $e #f"
    place.mkdir()
    (place / "own.h").write_text("#define STATUS 0\n")
    (place / name).write_text('#include "own.h"\nint main(void) { return STATUS; }\n')
    assert compile_program([place / name], tmp_path).exists()
    (place / "own.h").write_text("")
    (tmp_path / "again").mkdir()
    with pytest.raises(CompileError, match=rf"^{name}:2:\d+: error: .*'STATUS'"):
        compile_program([place / name], tmp_path / "again")
