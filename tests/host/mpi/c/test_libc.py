"""What the C library keeps for a process: each rank has its own, as it would have as a process."""

import subprocess
import sys
from pathlib import Path

import pytest
from nicbed.firmware import tools
from nicbed.host.mpi.c import compile_program, shared
from nicbed.host.mpi.sync import RankError

from tests.host.mpi.c.test_program import run

SOURCES = Path(__file__).resolve().parents[3] / "programs" / "c"
INPUT = b"12 13\nthe line\n"


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compile_program([SOURCES / "own.c"], tmp_path_factory.mktemp("own"))


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same program, without MPI, on the C library as it is."""
    file = tmp_path_factory.mktemp("alone") / "alone"
    subprocess.run([*tools.COMPILER, "cc", "-w", "-DALONE", str(SOURCES / "own.c"), "-o",
                    str(file)], check=True, env=tools.environment())
    return file


def lines(shown: list[str], rank: int) -> list[str]:
    return [line.removeprefix(f"{rank}: ") for line in "".join(shown).splitlines()
            if line.startswith(f"{rank}: ")]


@pytest.mark.parametrize("what", ["numbers", "words"])
def test_each_rank_is_as_a_process_of_its_own(library: Path, alone: Path, what: str,
                                              monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[str] = []
    monkeypatch.setattr("sys.stdout.write", shown.append)
    run(library, 3, what, "40")
    monkeypatch.undo()
    for rank in range(3):
        done = subprocess.run([alone, what, str(40 + rank)], capture_output=True, text=True)
        assert lines(shown, rank) == done.stdout.splitlines()


@pytest.mark.parametrize("what, status, told", [
    ("fails", 5, ["first by exit 5", "last"]), ("stops", 4, [])])
def test_handlers_of_the_end(library: Path, what: str, status: int, told: list[str],
                             monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[str] = []
    monkeypatch.setattr("sys.stdout.write", shown.append)
    with pytest.raises(RankError, match=f"rank [01] ended with exit status {status}"):
        run(library, 2, what, "0")
    monkeypatch.undo()
    assert "last" in lines(shown, 0) or not told
    assert any(lines(shown, rank) == told for rank in range(2))


def process(library: Path, data: bytes, *arguments: str) -> subprocess.CompletedProcess[str]:
    """A run of two ranks in a process of its own, with ``data`` as its standard input."""
    code = ("from tests.host.mpi.c.test_program import *\nfrom io import StringIO\n"
            "told, sys.stdout = sys.stdout, StringIO()\n"
            f"run(Path({str(library)!r}), 2, *{arguments!r})\ntold.write(sys.stdout.getvalue())")
    return subprocess.run([sys.executable, "-c", code], cwd=SOURCES.parents[2], timeout=120,
                          input=data.decode(), capture_output=True, text=True)


def test_standard_input_is_rank_0s(library: Path, alone: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.txt"
    other.write_text("other words")
    done = process(library, INPUT, "input", "0", str(other))
    for rank, given in enumerate((INPUT, b"")):
        single = subprocess.run([alone, "input", "0", str(other)], input=given,
                                capture_output=True)
        assert lines([done.stdout], rank) == single.stdout.decode().splitlines()


@pytest.mark.parametrize("standard", ["c89", "c99", "gnu2x"])
def test_scanf_of_all_versions(tmp_path: Path, standard: str) -> None:
    (tmp_path / "a.c").write_text(
        "#include <stdio.h>\nint main(void) { int a = 0, n = scanf(\"%d\", &a); "
        "printf(\"%d %d\\n\", n, a); return 0; }\n")
    done = process(compile_program([tmp_path / "a.c"], tmp_path, f"-std={standard}"), INPUT)
    assert sorted(done.stdout.splitlines()) == ["0: 1 12", "1: -1 0"]


def test_standard_output_that_is_reopened_is_told(tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text(
        "#include <mpi.h>\n#include <stdio.h>\nint main(int c, char **v) { int rank; "
        "MPI_Init(&c, &v); MPI_Comm_rank(MPI_COMM_WORLD, &rank); if (rank) "
        "freopen(\"/dev/null\", \"w\", stdout);"
        "return MPI_Finalize(); }\n")
    done = process(compile_program([tmp_path / "a.c"], tmp_path), b"")
    assert done.stderr == ("nicbed: rank 1 calls freopen: all ranks share standard output "
                                    "and error (docs/tutorials/mpi.md)\n")
    assert not done.returncode


def test_standard_output_that_is_reopened_before_the_program_or_in_a_child(tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text(
        "#include <stdio.h>\n#include <sys/wait.h>\n#include <unistd.h>\n"
        "__attribute__((constructor)) static void early(void) "
        "{ freopen(\"/dev/null\", \"a\", stderr); }\nint main(void) "
        "{ if (!fork()) { freopen(\"/dev/null\", \"w\", stdout); _exit(0); } "
        "wait(NULL); return 0; }\n")
    done = process(compile_program([tmp_path / "a.c"], tmp_path), b"")
    assert (done.returncode, done.stderr) == (0, "")


def test_functions_of_the_program_with_such_names(tmp_path: Path) -> None:
    (tmp_path / "names.c").write_text(
        "double rand(void) { return 1.5; }\nint random;\nint read(int one) { return one; }\n"
        "int main(void) { return rand() != 1.5 || read(4) != 4 || random; }\n")
    library = compile_program([tmp_path / "names.c"], tmp_path)
    assert run(library, 2)[0] == [0, 0]


@pytest.mark.parametrize("body, line", [
    ("return atoi(getenv(\"A\")) + rand()", ""),
    ("return putenv(\"A=1\") + (signal(SIGINT, SIG_IGN) == SIG_ERR)",
     "the program calls putenv, signal: all ranks share the environment and signal handlers "
     "(docs/tutorials/mpi.md)")])
def test_what_ranks_share_is_told(tmp_path: Path, body: str, line: str) -> None:
    (tmp_path / "a.c").write_text(
        f"#include <signal.h>\n#include <stdlib.h>\nint main(void) {{ {body}; }}\n")
    assert shared(compile_program([tmp_path / "a.c"], tmp_path)) == line
