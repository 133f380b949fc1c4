"""What was seen on real VIA implementations, on three design points that differ in their keys
alone: the shape of each benchmark, on the target."""

from functools import cache

import pytest
from nicbed.testbench import benches
from nicbed.testbench.backends.session import run_job
from nicbed.testbench.descriptions import load as descriptions
from nicbed.testbench.results import document as files

DOORBELL, TABLE, KERNEL = "via-doorbell", "via-table", "via-kernel"
ENGINES = (DOORBELL, TABLE)
ALL = (*ENGINES, KERNEL)

CHOSEN = {
    "latency": {"sizes": [4, 1024], "trips": 2},
    "logp": {"sizes": [4, 256, 1024], "delays": ["0"], "bytes": 131072, "interrupts": 8},
    "buffers": {"sizes": [4, 4096], "pages": [1, 8]},
    "connections": {"vis": [1, 16, 256]},
    "blocking": {"sizes": [4]},
    "gather": {"totals": [256, 4096], "segments": [1, 4, 16, 64]},
    "cq": {"queues": [1, 8, 64]},
}

pytestmark = pytest.mark.full


@cache
def measured(nic: str, name: str) -> dict:
    """The document of a benchmark on a description."""
    description = descriptions.for_layer(descriptions.load(nic), "via")
    module = benches.get(name).module("via")
    parameters = {**module.parameters(description), **CHOSEN[name]}
    outcome = run_job(description, function="nicbed.testbench.benches:run",
                      arguments={"name": name, "layer": "via", "parameters": parameters})
    return files.build(name, "via", "verilator", description, parameters, outcome)


def results(nic: str, name: str) -> dict:
    return measured(nic, name)["results"]


@pytest.mark.parametrize("name", CHOSEN)
@pytest.mark.parametrize("nic", ALL)
def test_every_check_holds(nic, name):
    assert not [check for check in measured(nic, name)["checks"] if not check["ok"]]


@pytest.mark.parametrize("nic", ALL)
def test_every_stage_of_a_flight_is_traced(nic):
    by_engine = {"posted write, bus, doorbell", "doorbell to the VI's turn", "descriptor fetched",
                 "data gathered into a slot", "receive FIFO to receiver",
                 "receiver: descriptor, data landed", "completion: status landed"}
    by_ring = {"doorbell, ring's descriptor", "send DMA", "receive DMA"}
    for life in measured(nic, "latency")["breakdown"].values():
        stages = {stage["stage"] for stage in life}
        assert "not traced" not in stages
        assert stages >= {"uplink: serialising", "flight and switch", "downlink and receive FIFO"}
        assert stages & (by_engine | by_ring) == (by_ring if nic == KERNEL else by_engine)


def test_the_descriptions_differ_in_what_makes_the_point():
    found = descriptions.difference([descriptions.load(nic) for nic in ALL])
    assert set(found) == {"via.design", "via.translation"}


def test_doorbells_have_the_lowest_latency():
    half = {nic: results(nic, "latency")["half"]["latency"] for nic in ALL}
    for size in ("4", "1024"):
        assert half[DOORBELL][size] < half[KERNEL][size] / 1.3
        assert half[TABLE][size] < half[KERNEL][size] / 1.3
        # Warm, the cache hits: it is no slower than the table.
        assert half[DOORBELL][size] == pytest.approx(half[TABLE][size], rel=0.05)


@pytest.mark.parametrize("nic", ENGINES)
def test_latency_is_flat_in_the_number_of_vis(nic):
    for by_count in results(nic, "connections")["half"].values():
        values = list(by_count.values())
        # A VI used for the first time has a doorbell page, a context and no more to fetch.
        assert max(values) < 1.1 * min(values)


def test_only_the_copying_host_pays_by_the_byte():
    o_s = {nic: {size: one["o_s"] for size, one in results(nic, "logp")["by_size"].items()}
           for nic in ALL}
    for nic in ENGINES:
        assert o_s[nic]["1024"] == pytest.approx(o_s[nic]["4"], rel=0.05)
    # A load and a store of 8 bytes at least, 200 MHz against 66.
    assert o_s[KERNEL]["1024"] > o_s[KERNEL]["256"] + 50 > o_s[KERNEL]["4"] + 60


@pytest.mark.parametrize("nic", ENGINES)
def test_blocking_costs_an_interrupt_unless_it_spins_first(nic):
    extra = results(nic, "blocking")["extra"]
    assert extra["blocking"]["4"] > 1000 * 66 / 200
    assert abs(extra["spin, then block"]["4"]) < 15


def test_fresh_buffers_cost_the_cache_a_walk_and_the_table_nothing():
    cached, table = (results(nic, "buffers") for nic in (DOORBELL, TABLE))
    assert cached["walks"]["same buffer"]["4"]["a_message"] == 0
    assert cached["walks"]["fresh buffers"]["4"]["a_message"] >= 2
    walk = cached["walks"]["fresh buffers"]["4"]["cycles"]
    assert 0.5 * walk < cached["extra"]["fresh buffers"]["4"] < 6 * walk
    assert table["walks"]["fresh buffers"]["4"]["a_message"] == 0
    assert abs(table["extra"]["fresh buffers"]["4"]) < 5


@pytest.mark.parametrize("nic", ENGINES)
def test_latency_grows_with_segments_and_more_so_when_they_are_small(nic):
    found = results(nic, "gather")
    for by_count in found["half"].values():
        values = [by_count[count] for count in ("1", "4", "16", "64")]
        assert values == sorted(values)
    small, large = (found["half"][total] for total in ("256 B", "4 KB"))
    assert small["64"] / small["1"] > large["64"] / large["1"]


@pytest.mark.parametrize("nic", ALL)
def test_a_completion_queue_costs_a_small_constant(nic):
    extra = results(nic, "cq")["extra"]["completion queue"]
    half = results(nic, "cq")["half"]["work queue"]["1"]
    assert 0 < extra["1"] < half / 2
    for count in ("8", "64"):
        assert extra[count] == pytest.approx(extra["1"], abs=8)


def test_an_interrupt_shows_in_the_counting_loop():
    found = results(DOORBELL, "logp")
    assert found["interrupts"]["o_r"] > 330 + found["o_r"]
