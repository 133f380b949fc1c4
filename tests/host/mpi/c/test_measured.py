"""Computation that is charged by its CPU time."""

import itertools
from pathlib import Path

import pytest
from nicbed.host.mpi.c import c_program, compile_program
from nicbed.host.mpi.python import python_program
from nicbed.testbench.errors import UserError
from nicbed.testbench.testbed.bed import Testbed
from nicbed.testbench.testbed.mpi_program import MpiProgram

from tests.models.target import Model
from tests.programs.mpi import LIMIT, describe

LOOP = """
#include <mpi.h>
int main(int argc, char **argv)
{
    volatile double sum = 0;
    double begin;
    MPI_Init(&argc, &argv);
    begin = MPI_Wtime();
    for (long rounds = 1; MPI_Wtime() - begin < 1e-3; rounds *= 2)
        for (long i = 0; i < rounds; i++)
            sum += i;
    MPI_Finalize();
    return 0;
}
"""


def cycles(program, **knobs):
    model = Model(describe(nodes=2, **knobs))
    model.run([program] * 2, limit=LIMIT)
    return model.now


@pytest.mark.parametrize("face, calls", [("c", 3), ("python", 3)])
def test_the_time_between_calls_is_charged(face, calls, tmp_path: Path, monkeypatch) -> None:
    """Each look at a clock of the test's takes a time: a call's cycles grow in proportion.
    Python's Init comes with the first use of MPI, so what comes before it is charged, too."""
    if face == "c":
        (tmp_path / "a.c").write_text("#include <mpi.h>\nint main(int c, char **v) { "
                                      "MPI_Init(&c, &v); MPI_Barrier(MPI_COMM_WORLD); "
                                      "return MPI_Finalize(); }")
        library = compile_program([tmp_path / "a.c"], tmp_path)

        def program(measured):
            return c_program(library, measured=measured)
    else:
        (tmp_path / "a.py").write_text("from mpi4py import MPI\nMPI.COMM_WORLD.Barrier()\n")

        def program(measured):
            return python_program(tmp_path / "a.py", measured=measured)

    def taken(step, measured=True):
        times = itertools.count(0, step)
        monkeypatch.setattr("time.thread_time_ns", lambda: next(times))
        return cycles(program(measured))

    usual = taken(10 ** 6, False)
    assert taken(0) == usual == taken(0, False)
    each = float(describe().nic.clock_mhz) * 1000  # cycles of a millisecond
    assert taken(10 ** 6) - usual == pytest.approx(calls * each, rel=.02)
    assert taken(2 * 10 ** 6) - usual == pytest.approx(2 * calls * each, rel=.02)


def test_a_loop_that_waits_for_time_ends(tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text(LOOP)
    library = compile_program([tmp_path / "a.c"], tmp_path)
    each = float(describe().nic.clock_mhz) * 1000
    assert each < cycles(c_program(library, measured=True)) < 1000 * each


def test_the_result_says_so(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("from mpi4py import MPI\n")
    with Testbed(sim="model", nodes=2, store=None) as bed:
        result = bed.measure(bed.mpi_program(MpiProgram([tmp_path / "a.py"], compute="measured"),
                                             work=tmp_path))
        assert any("CPU time" in note for note in result.document["notes"])
        assert result.document["parameters"]["compute"] == "measured"
        plain = bed.mpi_program(MpiProgram([tmp_path / "a.py"]), work=tmp_path)
        assert not plain.remarks and "compute" not in plain.parameters
        with pytest.raises(UserError, match="--compute whole: for a program of MPI there is measu"):
            bed.mpi_program(MpiProgram([tmp_path / "a.py"], compute="whole"), work=tmp_path)
