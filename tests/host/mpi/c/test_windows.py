"""Programs in C with windows."""

from pathlib import Path

import pytest
from nicbed.host.mpi.c import c_program, compile_program
from nicbed.host.mpi.sync import RankError

from tests.models.target import Model
from tests.programs.mpi import LIMIT, describe

SOURCE = Path(__file__).resolve().parents[3] / "programs" / "c" / "windows.c"


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    return compile_program([SOURCE], tmp_path_factory.mktemp("windows"))


@pytest.mark.parametrize("channel, ranks", [("via", 3), ("shm", 3), ("tcp", 2)])
def test_calls(library, channel, ranks):
    programs = [c_program(library, ["windows"])] * ranks
    found = Model(describe(channel, ranks)).run(
        [programs, None] if channel == "shm" else programs, limit=10 * LIMIT).results
    assert (found[0] if channel == "shm" else found) == [0] * ranks


@pytest.mark.parametrize("argument, text", [
    ("unlock", "MPI_ERR_RMA_SYNC: rank 1: Win_unlock of rank 0, which is not locked, "
               "COMM_WORLD.Win"),
    ("range", "MPI_ERR_RMA_RANGE: rank 1: Put to rank 0: bytes 4 to 20 of a window of 16, "
              "COMM_WORLD.Win")])
def test_errors_are_one_line_with_rank_and_window(library, argument, text):
    with pytest.raises(RankError) as found:
        Model(describe()).run([c_program(library, ["windows", argument])] * 2, limit=10 * LIMIT)
    assert str(found.value) == text
