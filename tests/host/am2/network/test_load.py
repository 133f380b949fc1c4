"""Firmware am2 under load: 15 and 31 processes to one. Without a loss nothing is sent again,
however long the time-outs, and nobody starves, also with the smallest windows and queues."""

import pytest
from nicbed.testbench.backends.session import run_job

from tests.labs.rows import more
from tests.models.target import Model
from tests.programs.am2_load import LIMIT, check, crowd, crowded

PATIENT = {"am2.retry_timeout": 1 << 28}
"""A time-out that never passes here."""
SMALLEST = {"am2.window": 1, "am2.frame_packets": 2}


@pytest.mark.parametrize(("nodes", "knobs", "count", "size"), [
    (4, SMALLEST, 3, 0), more(8, SMALLEST, 3, 0), more(8, SMALLEST, 12, 3000),
    more(8, {}, 40, 0), more(8, {}, 12, 3000), more(8, {**SMALLEST, **PATIENT}, 12, 0),
    more(8, PATIENT, 40, 3000)])
def test_all_to_one(nodes, knobs, count, size):
    check(Model(crowded(nodes, **knobs)).run(crowd(nodes, count, size), limit=LIMIT).results,
          count)


@pytest.mark.full
@pytest.mark.parametrize(("knobs", "count", "size"), [(SMALLEST, 6, 0), ({}, 10, 2000)])
def test_31_processes_to_one_on_the_target(knobs, count, size):
    run_job(crowded(8, **knobs), "verilator", function="tests.programs.am2_load:run_crowd",
            arguments={"count": count, "size": size})
