"""The data of messages of programs in C: what is sent, what is ignored, what operations get."""

from pathlib import Path

import pytest
from nicbed.host.mpi.c import c_program, compile_program

from tests.labs.rows import more
from tests.models.target import Model
from tests.programs.mpi import LIMIT, describe

SOURCES = Path(__file__).resolve().parents[3] / "programs" / "c"


@pytest.fixture(scope="module")
def play(tmp_path_factory):
    """Runs one of the sources, which is built once."""
    found = {}

    def run(name, nodes, *arguments):
        if name not in found:
            found[name] = compile_program([SOURCES / f"{name}.c"], tmp_path_factory.mktemp(name))
        program = c_program(found[name], ["program", *map(str, arguments)])
        return Model(describe(nodes=nodes)).run([program] * nodes, limit=LIMIT).results

    return run


@pytest.mark.parametrize("nodes", [2, 3, 4])
def test_ignored_arguments_are_not_looked_at(play, nodes):
    assert play("ignored", nodes) == [0] * nodes


@pytest.mark.parametrize("nodes", [2, 3, 4, more(5)])
@pytest.mark.parametrize("seed", [1, 2])
def test_operations_of_the_program_on_types_of_the_program(play, nodes, seed):
    """Order, place, count and type of the operands; against a plain model, at random."""
    assert play("operations", nodes, seed, 60) == [0] * nodes
