"""Benches run in forks of simulators that are kept (:mod:`nicbed.testbench.backends.kept`).

Starting a simulator with Python, cocotb, Amaranth and a bench in it takes longer than most cases
run. A kept one has imported all that and stands at time 0.
"""

import atexit
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from nicbed.testbench.backends import forked, kept

__all__ = ["run_case", "serve"]

OF_ONE_CASE = frozenset(("NICBED_BENCH", "COCOTB_RANDOM_SEED", "COCOTB_RESULTS_FILE",
                         "COCOTB_TEST_FILTER"))


def run_case(command: Sequence[str], place: Path, environment: Mapping[str, str], limit: float
             ) -> str:
    """Run a case in directory ``place`` on the simulator that ``command`` starts; its log.

    Raises
    ------
    TimeoutError
        It had not ended after ``limit`` seconds.
    """
    simulator = kept.take(command, {**environment, "PYGPI_USERS": f"{__name__}:serve"},
                          OF_ONE_CASE)
    try:
        with open(place / "log", "wb") as log, open(os.devnull) as empty:
            simulator.start(place, environment, empty.fileno(), log.fileno())
        _, said = simulator.wait(limit)
    except BaseException:
        simulator.kill()
        raise
    kept.give_back(simulator)
    return said + (place / "log").read_text(errors="replace")


# What follows runs inside the simulator.


def serve() -> None:
    """In a fork for each case, go on as cocotb would have."""
    from pygpi.entry import load_entry
    if not forked.job_has_come(["cocotb.regression", os.environ["COCOTB_TEST_MODULES"]]):
        os._exit(0)
    atexit.register(_leave)
    load_entry()


def _leave() -> None:
    """End the process, its files written: Verilator's end would wait for threads that the fork did
    not take along."""
    sys.stdout.flush()
    forked.end(None)
