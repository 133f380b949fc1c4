"""The benchmark of the memory system: what it measures is what the contracts say."""

import asyncio
import json

import pytest
from nicbed.layouts.description import Description
from nicbed.testbench import benches
from nicbed.testbench.backends.session import run_job
from nicbed.testbench.benches import get
from nicbed.testbench.benches.memory.machines import MACHINES, compared
from nicbed.testbench.benches.memory.results import MemoryResults
from nicbed.testbench.descriptions import load as descriptions
from nicbed.testbench.errors import UserError
from nicbed.testbench.results import document as files
from nicbed.testbench.results import plots
from nicbed.testbench.results.tables import console

from tests.labs.model import ModelLab
from tests.labs.rows import more

MODULE = get("memory").module("am")


def describe(nic: str = "default", *overrides: str) -> Description:
    return descriptions.for_layer(descriptions.load(nic, overrides, 2), "am")


def measured(description: Description) -> dict:
    parameters = MODULE.parameters(description)
    outcome = run_job(description, function="nicbed.testbench.benches:run",
                      arguments={"name": "memory", "layer": "am", "parameters": parameters})
    return files.build("memory", "am", "verilator", description, parameters, outcome)


def failed(document: dict) -> list[str]:
    return [f"{check['check']}: {check['detail']}" for check in document["checks"]
            if not check["ok"]]


@pytest.fixture(scope="module")
def one() -> dict:
    return measured(describe())


@pytest.fixture(scope="module")
def four() -> dict:
    return measured(describe("default", "node.cpus=4"))


def test_every_check_holds(one, four):
    assert not failed(one) and not failed(four)


def test_two_runs_are_the_same_bytes(one):
    assert files.text(measured(describe())) == files.text(one)


@pytest.mark.parametrize("overrides", [
    ["memory.latency=20", "memory.bytes_per_cycle=1/2", "bus.pio_read=30", "bus.pio_write=9",
     "memory.width=32", "cpu.line_bytes=256"],
    ["node.cpus=2", "memory.latency=3", "memory.bytes_per_cycle=7/3", "bus.burst_beat=5"],
    more(["node.cpus=2", "memory.bytes_per_cycle=7/3", "bus.pio_width=4", "bus.burst_beat=5"]),
    ["node.cpus=3", "memory.upgrade=9", "memory.intervention=0", "cpu.cas=7"],
    more(["memory.latency=0", "memory.bytes_per_cycle=4", "cpu.cache_lines=4096"]),
    more(["memory.bytes_per_cycle=2", "node.cpus=3"]),
    more(["nic.attachment=memory_bus", "cpu.clock_mhz=450"]),
    more(["node.cpus=2", "cpu.line_bytes=128", "cpu.cas=9", "memory.upgrade=7",
          "memory.intervention=31"]),
    more(["node.cpus=8", "memory.latency=3", "cpu.cache_lines=32"]),
    more(["cpu.cache_lines=4"]),
    more(["cpu.cache_lines=4", "cpu.l2_lines=64", "cpu.l2_hit=5"]),
    more(["cpu.l2_lines=2048", "cpu.copy_by=block", "cpu.line_bytes=64"]),
    more(["cpu.cas_place=cache", "cpu.cas=9", "memory.bytes_per_cycle=7/3"]),
    more(["cpu.copy_by=block", "memory.latency=3", "memory.bytes_per_cycle=7/3",
          "cpu.clock_mhz=450"]),
    more(["cpu.copy_by=block", "memory.latency=0", "cpu.copy_line=0",
          "memory.bytes_per_cycle=1/2"]),
    more(["cpu.copy_by=block", "node.cpus=3", "cpu.line_bytes=64", "memory.bytes_per_cycle=5"]),
    more(["memory.width=32", "memory.bytes_per_cycle=132/5", "cpu.line_bytes=256"]),
    more(["node.cpus=2", "memory.width=16", "memory.bytes_per_cycle=11", "cpu.line_bytes=64"]),
    more(["cpu.copy_by=block", "memory.width=32", "memory.bytes_per_cycle=31"]),
    more(["cpu.copy_by=block", "node.cpus=4", "memory.width=16", "memory.bytes_per_cycle=3",
          "cpu.line_bytes=128"]),
])
def test_every_check_holds_off_the_defaults(overrides):
    assert not failed(measured(describe("default", *overrides)))


def test_a_longer_latency_moves_misses_by_exactly_that(one):
    far = measured(describe("default", "memory.latency=28"))
    moved = {name: cycles - one["results"]["accesses"][name]
             for name, cycles in far["results"]["accesses"].items()}
    assert moved["load hit"] == moved["store hit"] == moved["NIC read"] == 0
    assert moved["load miss"] == moved["store miss"] == moved["load miss, dirty victim"] == 20


def test_tables_and_plot_show_all_of_it(four, capsys):
    document = json.loads(files.text(four))
    out = console()
    for item in MODULE.tables(document):
        out.print(item)
    shown = capsys.readouterr().out
    for text in ("dirty in another cache", "one word to another CPU", "spin lock", "queue lock",
                 "the NIC reads memory at"):
        assert text in shown
    figure = plots.render(MODULE.draw, document)
    assert figure[".png"].startswith(b"\x89PNG") and b"</svg>" in figure[".svg"]
    assert all(one.value is not None for one in MODULE.headline(document))
    assert [x for x, _ in MODULE.series(document).points] == [1, 2, 3, 4]


def test_one_cpu_has_the_rows_that_need_no_other(one):
    assert "load dirty elsewhere" not in one["results"]["accesses"]
    assert one["results"]["ping_pong"] is None and list(one["results"]["copy"]) == ["1"]


@pytest.mark.full
def test_two_levels_have_a_row_more(one):
    levels = {"load second level"}
    assert levels.isdisjoint(one["results"]["accesses"])
    document = measured(describe("default", "node.cpus=2", "cpu.cache_lines=64",
                                 "cpu.l2_lines=1024", "cpu.l2_hit=12"))
    assert not failed(document)
    accesses = document["results"]["accesses"]
    assert accesses["load second level"] == 12
    assert accesses["load hit"] == accesses["store hit"] == 1
    # What needs the memory or another cache takes what it takes with one level.
    alone = measured(describe("default", "node.cpus=2", "cpu.cache_lines=1024"))
    assert {**alone["results"]["accesses"], "load second level": 12} == accesses
    shown = console()
    with shown.capture() as capture:
        for item in MODULE.tables(json.loads(files.text(document))):
            shown.print(item)
    assert "caches of 2 and 32 KB" in capture.get()
    assert "in the second level of the cache alone" in capture.get()


def test_times_that_are_not_the_contract_s_fail_their_checks():
    """Those of the model target, which has no cache."""
    description = describe("default", "node.cpus=2")
    outcome = asyncio.run(benches.run(ModelLab(description), "memory", "am",
                                      MODULE.parameters(description)))
    wrong = [check["check"] for check in outcome["checks"] if not check["ok"]]
    assert "load miss: as the contract says" in wrong
    assert "one CPU copies as fast as its accesses add up to" in wrong
    assert "spin lock: one CPU at a time" not in wrong


def test_a_memory_without_room_is_refused():
    with pytest.raises(UserError, match=r"memory needs 557056 bytes of host memory for caches of "
                                        r"16384 bytes \(cpu.cache_lines\): memory.bytes = 262144"):
        MODULE.parameters(describe("default", "node.cpus=8", "memory.bytes=262144"))
    with pytest.raises(UserError, match=r"caches of 65536 bytes \(cpu.l2_lines\)"):
        MODULE.parameters(describe("default", "cpu.l2_lines=2048", "memory.bytes=262144"))


@pytest.mark.full
@pytest.mark.parametrize("name", ["e5000", "ultra170"])
def test_a_machine_s_figures_are_those_published(name):
    document = measured(describe(name))
    assert not failed(document)
    figures = document["results"]["published"]["figures"]
    off = {one["name"] for one in figures if abs(one["ours"] / one["published"] - 1) > 0.02}
    assert not off
    shown = console()
    with shown.capture() as capture:
        for item in MODULE.tables(json.loads(files.text(document))):
            shown.print(item)
    assert f"Published figures of {name}" in capture.get()


LITTLE = MemoryResults(accesses={}, ping_pong=None, copy={"1": 1.0}, cas={}, locks={}, barrier={},
                       dma=None, cache_bytes=1024, line_bytes=32)


def test_a_description_with_another_memory_is_no_machine():
    for name in MACHINES:
        machine = compared(describe(name, "link.latency=9"), LITTLE)
        assert machine is not None and machine.machine == name
        assert compared(describe(name, "memory.latency=77"), LITTLE) is None


def test_a_machine_with_a_first_level_before_its_cache_is_that_machine():
    for name in MACHINES:
        lines = describe(name).cpu.cache_lines
        machine = compared(describe(name, "cpu.cache_lines=256", f"cpu.l2_lines={lines}"), LITTLE)
        assert machine is not None and machine.machine == name
        assert compared(describe(name, "cpu.cache_lines=256"), LITTLE) is None
