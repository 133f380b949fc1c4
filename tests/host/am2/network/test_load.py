"""Firmware am2 under load: 31 processes to one. Without a loss nothing is sent again, however long
the time-outs, and nobody starves, also with the smallest windows and queues."""

import pytest
from nicbed.testbench.backends.session import run_job

from tests.labs.rows import more
from tests.models.target import Model
from tests.programs.am2_load import LIMIT, check, crowd, crowded

PATIENT = {"am2.retry_timeout": 1 << 28}
"""A time-out that never passes here."""
SMALLEST = {"am2.window": 1, "am2.frame_packets": 2}


@pytest.mark.parametrize(("knobs", "count", "size"), [
    (SMALLEST, 3, 0), more(SMALLEST, 12, 3000), more({}, 40, 0), more({}, 12, 3000),
    more({**SMALLEST, **PATIENT}, 12, 0), more(PATIENT, 40, 3000)])
def test_31_processes_to_one(knobs, count, size):
    check(Model(crowded(**knobs)).run(crowd(count, size), limit=LIMIT).results, count)


@pytest.mark.full
@pytest.mark.parametrize(("knobs", "count", "size"), [(SMALLEST, 6, 0), ({}, 20, 2000)])
def test_31_processes_to_one_on_the_target(knobs, count, size):
    run_job(crowded(**knobs), "verilator", function="tests.programs.am2_load:run_crowd",
            arguments={"count": count, "size": size})
