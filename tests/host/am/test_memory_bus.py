"""Active Messages with the NIC on the memory bus, and what the bus sees of them."""

import shutil
from typing import Any

import pytest
from nicbed.layouts.description import Description
from nicbed.testbench.backends.session import run_job
from nicbed.testbench.descriptions import load as descriptions

from tests.host.am.test_target import PLAIN, RATES, SMALL, describe, faulty, run
from tests.programs import am as scenarios

MEMORY = descriptions.load("memory-bus")
icarus = pytest.mark.skipif(not shutil.which("iverilog"), reason="no Icarus: apt install iverilog")


def messages(description: Description, sim: str, **parameters: Any) -> dict[str, Any]:
    return run_job(description, sim, function="tests.programs.attachment_jobs:messages",
                   arguments=parameters)


def test_scenarios_and_faults() -> None:
    """Nothing is lost, with and without faults; rings wrap twice."""
    bulk = [("bulk", {"settings": {**scenarios.FAULTY, **RATES["all"], "am.bulk": way}})
            for way in ("pointer", "pinned")]
    run(MEMORY, [*PLAIN, *faulty(700, ["delay", "all"]), *bulk])


def test_each_packet_takes_one_line_once() -> None:
    """An ownership transaction a packet: whatever it carries, first lap or not, whoever else has
    used the cache in between; and none without a packet."""
    for requests, words in ((20, 0), (20, 4), (600, 2)):
        found = messages(MEMORY, "verilator", requests=requests, words=words)
        assert found["taken"] == found["packets"] and min(found["packets"]) >= 2 * requests
        assert found["lines"] == [min(MEMORY.nic.send_ring, n) for n in found["packets"]]
        assert found["refused"] == [0, 0]


def test_skipping_changes_nothing() -> None:
    both = [run_job(MEMORY, function="tests.programs.target_jobs:exchanges",
                    arguments={"trace": True, "skip": skip})[0] for skip in (True, False)]
    assert both[0]["events"] and both[0]["cycles"] > 1000
    for name in ("cycles", "results", "events", "marks", "counters"):
        assert both[0][name] == both[1][name], name


@pytest.mark.full
@icarus
def test_same_cycles_on_icarus() -> None:
    jobs = [("echo_words", {}), ("bulk", {"sizes": (0, 1, 1027)}),
            ("in_order", {"count": 20, "settings": {**scenarios.FAULTY, **RATES["all"]}})]
    assert run(MEMORY, jobs) == run(MEMORY, jobs, "icarus")


@pytest.mark.full
@icarus
def test_small_rings_on_icarus() -> None:
    """A ring of four lines, and a cache of four: each is taken, evicted and taken again."""
    small = describe({key: value for key, value in SMALL.items() if "fabric" not in key
                      and "switch" not in key}, {"nic.attachment": "memory_bus"})
    run(small, [("in_order", {"count": 40, "work": 500}), ("mixed", {"rounds": 3}),
                ("in_order", {"count": 20, "settings": {**scenarios.FAULTY, **RATES["drop"]}})],
        "icarus")


def test_a_line_has_to_fit_a_burst() -> None:
    with pytest.raises(ValueError, match=r"bus\.max_burst = 16: must be at least a cache line"):
        describe({"nic.attachment": "memory_bus", "bus.max_burst": 16})
