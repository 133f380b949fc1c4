"""Each rank of a program in C has a current directory of its own, which begins as the user's."""

from pathlib import Path

from nicbed.host.mpi.c import compile_program

from tests.host.mpi.c.test_program import SOURCES, run


def test_a_rank_goes_elsewhere_alone(tmp_path, monkeypatch):
    library = compile_program([SOURCES / "folders.c"], tmp_path)
    for rank in range(3):
        (tmp_path / str(rank)).mkdir()
    monkeypatch.chdir(tmp_path)
    shown = []
    monkeypatch.setattr("sys.stdout.write", shown.append)
    run(library, 3)
    assert sorted("".join(shown).splitlines()) == ["0: 0 0", "1: 1 0", "2: 2 0"]
    assert [(tmp_path / str(rank) / "out.txt").read_text() for rank in range(3)] == [
        "0\n", "1\n", "2\n"]
    assert Path.cwd() == tmp_path
