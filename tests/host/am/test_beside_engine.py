"""Active Messages on a NIC with a VI engine in it: the same cycles as on one without.

The simulators are those that other tests build: the default target, and that of
host/via/test_target."""

from typing import Any

from nicbed.layouts.description import Description
from nicbed.testbench.backends.session import run_job

from tests.programs import am as scenarios
from tests.programs.am import FAULTY, describe
from tests.programs.vipl import SMALL

WITHOUT = Description()
WITH = describe(SMALL, {"via.design": "engine"})


def both(function: str, arguments: dict[str, Any]) -> list[Any]:
    assert (WITHOUT.via.design, WITH.via.design) == ("auto", "engine")
    return [run_job(description, function=function, arguments=arguments)
            for description in (WITHOUT, WITH)]


def test_an_exchange_is_the_same_to_the_event():
    """Cycles, results, every event of every block, every mark, with time skipped and not."""
    for skip in (True, False):
        without, engine = both("tests.programs.target_jobs:exchanges", {"trace": True,
                                                                        "skip": skip})
        assert without[0]["events"] and without[0]["cycles"] > 1000
        for name, value in without[0].items():
            assert engine[0][name] == value, name


def test_scenarios_take_the_same_cycles():
    rates = {"faults.drop": 0.03, "faults.corrupt": 0.03, "faults.duplicate": 0.05,
             "faults.delay": 0.02}
    jobs = [("echo_words", {}), ("bulk", {"sizes": (0, 1, 1027)}),
            ("in_order", {"count": 50, "settings": {**FAULTY, **rates}})]
    without, engine = both(f"{scenarios.__name__}:run_many",
                           {"jobs": jobs, "limit": 100_000_000})
    assert all(isinstance(cycles, int) for cycles in without), "\n".join(map(str, without))
    assert engine == without
