"""Active Messages on the real target: the scenarios of the model, in a simulator."""

import shutil
from typing import Any

import pytest
from nicbed.layouts.description import Description
from nicbed.testbench.backends.session import run_job

from tests.programs import am as scenarios
from tests.programs.am import FAULTY, describe

PLAIN: list[tuple[str, dict[str, Any]]] = [
    ("echo_words", {}),
    ("misuse", {}),
    ("itself", {}),
    ("keep_alive", {}),
    ("in_order", {"count": 700}),
    ("in_order", {"count": 700, "reply": False}),
    ("in_order", {"count": 200, "window": 1}),
    ("in_order", {"count": 300, "window": 120}),
    ("in_order", {"count": 100, "words": 4}),
    ("bulk", {}),
    ("bulk", {"asynchronous": False}),
    ("bulk", {"settings": {"am.chunk_packets": 1, "am.chunks": 1}}),
    ("mixed", {}),
    *(("peer_gone", {"call": call})
      for call in ("request", "wait", "store", "get", "poll", "disable")),
]

RATES = {
    "drop": {"faults.drop": 0.1},
    "corrupt": {"faults.corrupt": 0.1},
    "duplicate": {"faults.duplicate": 0.1},
    "delay": {"faults.delay": 0.1, "faults.delay_cycles": 1000},
    "all": {"faults.drop": 0.03, "faults.corrupt": 0.03, "faults.duplicate": 0.05,
            "faults.delay": 0.02},
}

# Rings and FIFOs that hold a packet or four, two switches, next to no cache.
SMALL = {"fabric.nodes": 4, "fabric.switches": 2, "switch.ports": 4, "nic.mtu": 64,
         "nic.send_fifo": 128, "nic.receive_fifo": 128, "nic.send_ring": 4, "nic.receive_ring": 4,
         "link.buffer": 64, "bus.posted_writes": 2, "cpu.cache_lines": 4}


def faulty(count: int, rates: list[str], seed: int = 1) -> list[tuple[str, dict[str, Any]]]:
    return [("in_order", {"count": count, "settings": {**FAULTY, **RATES[rate],
                                                       "faults.seed": seed}}) for rate in rates]


def run(description: Description, jobs: list[tuple[str, dict[str, Any]]],
        sim: str = "verilator") -> list[int]:
    found = run_job(description, sim, function=f"{scenarios.__name__}:run_many",
                    arguments={"jobs": jobs, "limit": 100_000_000})
    assert all(isinstance(cycles, int) for cycles in found), "\n".join(map(str, found))
    return found


def test_scenarios():
    run(Description(), PLAIN)


def test_faults():
    """1,000 messages a rate each way, bulk data too; replies and acknowledgements suffer."""
    bulk = [("bulk", {"settings": {**FAULTY, **rate}}) for rate in RATES.values()]
    bulk.append(("bulk", {"settings": {**FAULTY, **RATES["all"], "am.bulk": "pinned"}}))
    mixed = [("mixed", {"rounds": 30, "settings": {**FAULTY, **RATES["all"]}})]
    run(Description(), faulty(1000, list(RATES)) + bulk + mixed)


@pytest.mark.full
@pytest.mark.parametrize("seed", [1, 2])
def test_faults_long(seed):
    run(Description(), faulty(10_000, list(RATES), seed))


@pytest.mark.full
def test_small_rings_and_fifos():
    small = {"structure": {"fabric.nodes": 4}}
    run(describe(SMALL), [
        ("in_order", {"count": 100, "nodes": 4, "work": 500}),
        ("mixed", {"rounds": 10, "nodes": 4}),
        ("mixed", {"rounds": 10, "nodes": 4, "settings": {**FAULTY, **RATES["all"]}}),
        ("in_order", {"count": 100, "nodes": 4, **small, "settings": {**FAULTY, **RATES["drop"]}}),
    ])


@pytest.mark.skipif(not shutil.which("iverilog"), reason="no Icarus: apt install iverilog")
def test_same_cycles_on_icarus():
    jobs = [("echo_words", {}), ("bulk", {"sizes": (0, 1, 1027)}),
            ("in_order", {"count": 20, "settings": {**FAULTY, **RATES["all"]}})]
    assert run(Description(), jobs) == run(Description(), jobs, "icarus")


@pytest.mark.full
@pytest.mark.parametrize("knobs", [
    {"nic.mtu": 1500, "nic.receive_fifo": 2048},
    {"nic.mtu": 9000, "nic.send_fifo": 16384, "nic.receive_fifo": 16384}],
    ids=lambda knobs: str(knobs["nic.mtu"]))
def test_long_packets(knobs):
    """Transfers around the length of a packet, its last word whole or not; under all faults, of
    which a duplicate needs the injector's memory."""
    mtu = knobs["nic.mtu"]
    sizes = (1, mtu - 1, mtu, mtu + 3, 3 * mtu + 5, 20003)
    faults = {"am.retries": 40, **RATES["duplicate"], "faults.drop": 0.03, "faults.corrupt": 0.05}
    run(describe({**knobs, "am.retry_timeout": 40000}),
        [("bulk", {"sizes": sizes}),
         ("bulk", {"sizes": sizes, "settings": faults, "asynchronous": False}),
         ("mixed", {"rounds": 10, "settings": faults})])
