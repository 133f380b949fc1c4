"""The data of messages of programs in C: what is sent, what is ignored, what operations get."""

from pathlib import Path

import pytest
from nicbed.host.mpi.c import c_program, compile_program
from nicbed.host.mpi.sync import RankError

from tests.labs.rows import more
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


@pytest.fixture
def play(built):
    """Runs one of the sources."""
    def run(name, nodes, *arguments):
        program = c_program(built(name), ["program", *map(str, arguments)])
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


@pytest.mark.parametrize("nodes", [2, 3])
def test_data_anywhere(play, nodes):
    assert play("addresses", nodes) == [0] * nodes


@pytest.mark.parametrize("base", [[], ["buffer"]])
def test_where_data_lie_does_not_matter_for_the_cycles(built, base):
    """Not even how far from each other, which differs from run to run."""
    def cycles(bytes_between):
        model = Model(describe(nodes=2))
        program = c_program(built("apart"), ["program", str(bytes_between), *base])
        model.run([program] * 2, limit=LIMIT)
        return model.now

    assert cycles(2 << 20) == cycles(5 << 20) == cycles(3000001)


def test_null_is_no_buffer(built):
    program = c_program(built("apart"), ["program"])
    with pytest.raises(RankError, match="rank 0: MPI_ERR_BUFFER: the buffer is NULL"):
        Model(describe(nodes=2)).run([program] * 2, limit=LIMIT)
