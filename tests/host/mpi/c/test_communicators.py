"""Topologies, communicators of two groups, attributes, error handlers and infos in C."""

from pathlib import Path

import pytest
from nicbed.host.mpi.c import c_program, compile_program
from nicbed.host.mpi.sync import RankError

from tests.models.target import Model
from tests.programs.mpi import LIMIT, describe

SOURCE = Path(__file__).resolve().parents[3] / "programs" / "c" / "communicators.c"


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    return compile_program([SOURCE], tmp_path_factory.mktemp("communicators"))


def run(library, nodes, *arguments):
    """On so many nodes; a single one is node 0 of two."""
    programs = [c_program(library, ["program", *arguments])] * nodes
    return Model(describe(nodes=max(nodes, 2))).run(
        programs + [None] * (2 - nodes), limit=LIMIT).results


@pytest.mark.parametrize("nodes", [1, 2, 4, 5])
def test_all_hold(library, nodes, monkeypatch):
    shown = []
    monkeypatch.setattr("sys.stdout.write", shown.append)
    assert run(library, nodes)[:nodes] == [0] * nodes
    monkeypatch.undo()
    assert sorted("".join(shown).splitlines()) == [f"{rank}: deleted 3" for rank in range(nodes)]


@pytest.mark.parametrize("argument, text", [
    ("1", "rank 0: MPI_ERR_OTHER: the function that deletes attributes of key 1024 gave error 17"),
    ("2", "rank 0: MPI_Abort(COMM_WORLD, 7)"),
    ("3", "rank 0 ended with exit status 9"),
])
def test_a_function_that_fails_or_ends_the_program(library, argument, text):
    with pytest.raises(RankError) as found:
        run(library, 1, argument)
    assert str(found.value) == text
