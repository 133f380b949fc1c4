"""How programs in C are compiled: what has been compiled is found again, by its contents."""

import subprocess

from nicbed.host.mpi.c import compile_program

PROGRAM = """#include <mpi.h>
#include "size.h"
int size = SIZE;
int main(int argc, char **argv) { MPI_Init(&argc, &argv); return MPI_Finalize(); }
"""


def test_the_same_program_is_the_same_command(tmp_path, monkeypatch):
    """But for the library that it makes, so that the compiler takes it from its cache."""
    (tmp_path / "size.h").write_text("#define SIZE 3\n")
    (tmp_path / "a.c").write_text(PROGRAM)
    commands, call = [], subprocess.run

    def run(command, **options):
        commands.append(command)
        return call(command, **options)

    monkeypatch.setattr(subprocess, "run", run)
    for name in ("one", "two"):
        (tmp_path / "work" / name).mkdir(parents=True)
        compile_program([tmp_path / "a.c"], tmp_path / "work" / name)
    first, second = ([part for part in command if not part.endswith("program.so")]
                     for command in commands)
    assert first == second


def test_a_header_in_front_of_another_one_is_seen(tmp_path):
    """Which the compiler's own cache would not: it asks for the headers that it has read."""
    source, later = tmp_path / "source", tmp_path / "later"
    for folder in (source, later):
        folder.mkdir()
    (source / "a.c").write_text(PROGRAM)
    (later / "size.h").write_text("#define SIZE 3\n")

    def built():
        return compile_program([source / "a.c"], tmp_path, f"-I{later}").read_bytes()

    before = built()
    (source / "size.h").write_text("#define SIZE 4\n")
    assert built() != before
