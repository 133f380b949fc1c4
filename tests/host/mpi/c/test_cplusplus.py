"""Programs in C++, alone and beside C."""

from pathlib import Path

import pytest
from nicbed.host.mpi.c import CompileError, compile_program
from nicbed.host.mpi.sync import RankError
from nicbed.testbench.commands.program import is_program

from tests.host.mpi.c.test_program import run

PROGRAM = """
#include <iostream>
#include <mpi.h>
#include <vector>
extern "C" int two(void);
static_assert(__cplusplus == 201703L, "");
struct Last { int rank = -1; ~Last() { std::cout << "gone " << rank << std::endl; } } last;
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    std::vector<int> rank(1);
    int word = 0, sum, size;
    MPI_Comm_rank(MPI_COMM_WORLD, rank.data());
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Allreduce(rank.data(), &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    last.rank = rank[0];
    if (rank[0] && std::cin >> word)
        throw "standard input is rank 0's";
    try {
        throw sum + two();
    } catch (int all) {
        std::cout << all << std::endl;
    }
    MPI_Finalize();
    return 0;
}
"""


def test_a_folder_of_both(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each with its own standard. What takes long is told, once for a cache."""
    (tmp_path / "a.cc").write_text(PROGRAM)
    (tmp_path / "b.c").write_text("int two(void) { int class = 2; return class; }")
    stamp = tmp_path / "stamp"
    monkeypatch.setattr("nicbed.host.mpi.c.cplusplus._stamp", lambda: stamp)
    told: list[str] = []
    library = compile_program([tmp_path], tmp_path, "-std=c++17 -std=c99", told.append)
    assert told == ["compiling a.cc; the first program in C++ takes about a minute, as the C++ "
                    "library is compiled"]
    shown: list[str] = []
    with monkeypatch.context() as patch:
        patch.setattr("sys.stdout.write", shown.append)
        assert run(library, 2)[0] == [0, 0]
    assert sorted("".join(shown).splitlines()) == ["0: 3", "0: gone 0", "1: 3", "1: gone 1"]
    assert stamp.exists()
    (tmp_path / "a.cc").write_text("int main() { return none; }")
    with pytest.raises(CompileError, match=r"^a\.cc:1:21: error: "):
        compile_program([tmp_path], tmp_path, tell=told.append)
    assert len(told) == 1


@pytest.mark.parametrize("inside", [False, True])
def test_an_exception_that_nobody_catches(inside: bool, tmp_path: Path,
                                          monkeypatch: pytest.MonkeyPatch) -> None:
    """In main, or in an operation that MPI calls: it says so, and Python's code is not unwound."""
    (tmp_path / "a.cc").write_text(
        "#include <mpi.h>\n#include <stdexcept>\n"
        "static void bad(void *, void *, int *, MPI_Datatype *) { throw std::logic_error(\"b\"); "
        "}\n"
        "int main(int argc, char **argv) { MPI_Init(&argc, &argv); int x = 1, y; MPI_Op op;\n"
        + ("MPI_Op_create(bad, 1, &op); MPI_Allreduce(&x, &y, 1, MPI_INT, op, MPI_COMM_WORLD); "
           if inside else "bad(0, 0, 0, 0); ") + "return MPI_Finalize(); }")
    library = compile_program([tmp_path], tmp_path)
    shown: list[str] = []
    monkeypatch.setattr("sys.stdout.write", shown.append)
    with pytest.raises(RankError, match="^rank 0 ended with exit status 134"):
        run(library, 2)
    monkeypatch.undo()
    assert "uncaught exception of type std::logic_error: b\n" in "".join(shown)


@pytest.mark.parametrize("name", ["x.c", "x.py", "x.cc", "x.cpp", "x.cxx", "x.C", "folder/x"])
def test_names_of_programs(name: str) -> None:
    assert is_program(name) and not is_program("mm") and not is_program("x.h")
