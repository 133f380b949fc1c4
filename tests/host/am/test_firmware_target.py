"""Active Messages over firmware on the real target: scenarios, faults, nonsense, on all cores."""

import shutil
from typing import Any

import pytest
from nicbed.layouts.trace import TICKS
from nicbed.testbench.backends.session import RunError, run_job
from nicbed.testbench.benches.am.logp import measure_curve
from nicbed.testbench.truth.budget import budget, sends
from nicbed.testbench.truth.spans import spans

from tests.labs.rows import more
from tests.programs import am as scenarios
from tests.programs import flush_jobs, junk_slots
from tests.programs.am import FAULTY, describe

RATES = {
    "drop": {"faults.drop": 0.05}, "corrupt": {"faults.corrupt": 0.05},
    "duplicate": {"faults.duplicate": 0.1},
    "all": {"faults.drop": 0.03, "faults.corrupt": 0.03, "faults.duplicate": 0.05,
            "faults.delay": 0.02},
}
PLAIN: list[tuple[str, dict[str, Any]]] = [
    ("echo_words", {}),
    ("misuse", {}),
    ("itself", {}),
    ("in_order", {"count": 300}),
    ("in_order", {"count": 100, "words": 4, "window": 2}),
    ("bulk", {}),
    ("mixed", {"rounds": 20}),
    ("peer_gone", {"call": "request", "timeout": 250_000}),
]
FAULTS: list[tuple[str, dict[str, Any]]] = [
    *(("in_order", {"count": 100, "settings": {**FAULTY, **rate}}) for rate in RATES.values()),
    ("bulk", {"settings": {**FAULTY, **RATES["all"]}}),
]
MORE_FAULTS: list[tuple[str, dict[str, Any]]] = [
    *(("in_order", {"count": 300, "settings": {**FAULTY, **rate}}) for rate in RATES.values()),
    *(("bulk", {"settings": {**FAULTY, **rate}}) for rate in RATES.values()),
    ("mixed", {"rounds": 15, "settings": {**FAULTY, **RATES["all"]}}),
]
SMOKE: list[tuple[str, dict[str, Any]]] = [
    ("echo_words", {}), ("in_order", {"count": 60}), ("bulk", {"sizes": (0, 1, 1027, 3000)}),
    ("mixed", {"rounds": 5}), ("in_order", {"count": 40, "settings": {**FAULTY, **RATES["all"]}}),
]


NEEDS: dict[str, dict[str, Any]] = {"elan": {"processor.host_access": "uncached"},
                                    "tb2": {"am.bulk": "copy"}}
"""What a firmware needs; with an access of elan's the simulator is another one."""


def run(jobs: list[tuple[str, dict[str, Any]]], firmware: str = "am",
        bus: dict[str, Any] | None = None, **structure: Any) -> list[int]:
    description = describe({"am.firmware": firmware}, NEEDS.get(firmware, {}), bus or {},
                           {f"nic.{name}": value for name, value in structure.items()})
    found = run_job(description, "verilator", function=f"{scenarios.__name__}:run_many",
                    arguments={"jobs": jobs, "limit": 500_000_000})
    assert all(isinstance(cycles, int) for cycles in found), "\n".join(map(str, found))
    return found


@pytest.mark.parametrize("firmware", ["am", more("lanai"), more("elan"), more("tb2")])
def test_scenarios(firmware):
    run(PLAIN, firmware, processor="picorv32")


@pytest.mark.parametrize("firmware", ["am", more("lanai"), more("elan"), more("tb2")])
def test_nothing_is_lost(firmware):
    run(FAULTS, firmware, processor="picorv32")


@pytest.mark.full
@pytest.mark.parametrize("firmware", ["am", "lanai", "elan", "tb2"])
def test_nothing_is_lost_for_long(firmware):
    run(MORE_FAULTS, firmware, processor="picorv32")


def test_doorbell_words():
    run([(name, {**parameters, "settings": {"processor.doorbells": "words"}})
         for name, parameters in (("in_order", {"count": 100}), ("bulk", {}))],
        processor="picorv32")


@pytest.mark.parametrize("bus", [
    {"bus.coherent": False}, more({}), more({"bus.coherent": False, "cpu.line_bytes": 128}),
    more({"bus.coherent": False, "memory.width": 32, "cpu.line_bytes": 256})])
def test_entries_and_lengths(bus):
    """Over a bus that is not coherent, too, where a forgotten flush would end the run."""
    run([("in_order", {"count": 60, "settings": {**FAULTY, **RATES["all"]}}), ("bulk", {})], "tb2",
        bus, processor="picorv32")


@pytest.mark.parametrize("what, told", [
    ("entry", r"0x[0-9a-f]+, .*: the NIC read it while it was dirty in the CPU's cache"),
    ("slot", r"0x[0-9a-f]+, .*: the CPU found it in its cache after the NIC had written to it"),
    ("report", r"0x[0-9a-f]+, .*: the CPU found it in its cache after the NIC had written to it"),
])
def test_who_forgets_to_flush_is_told(what, told):
    description = describe({"am.firmware": "tb2", "am.bulk": "copy", "bus.coherent": False,
                            "nic.processor": "picorv32"})
    with pytest.raises(RunError, match=r"node [01]: the line of address " + told) as ended:
        run_job(description, "verilator", function=f"{flush_jobs.__name__}:forgets",
                arguments={"what": what})
    assert "raised by the program of node" in str(ended.value)


@pytest.mark.full
def test_coherent_queue():
    run(SMOKE, processor="picorv32", attachment="memory_bus")


@pytest.mark.full
@pytest.mark.parametrize("core", ["vexriscv", "serv"])
def test_other_cores(core):
    run(SMOKE, processor=core)


@pytest.mark.full
@pytest.mark.skipif(not shutil.which("iverilog"), reason="no Icarus: apt install iverilog")
@pytest.mark.parametrize("core, attachment, firmware", [
    ("picorv32", "io_bus", "am"), ("picorv32", "memory_bus", "am"), ("vexriscv", "io_bus", "am"),
    ("vexriscv", "memory_bus", "elan"), ("vexriscv", "io_bus", "lanai"),
    ("vexriscv", "io_bus", "tb2")])
def test_same_events_on_icarus(core, attachment, firmware):
    """Loading and start are in it. tb2's 128 entries are those of the SP-2: of longer packets they
    would not fit the memory. (SERV takes ten times as long: of it,
    rtl/processor/core/test_core_icarus
    alone.)"""
    description = describe({"nic.processor": core, "nic.attachment": attachment,
                            "memory.bytes": 1 << 16, "nic.receive_ring": 16,
                            "processor.memory": 1 << 15, "am.firmware": firmware},
                           NEEDS.get(firmware, {}), {"nic.mtu": 224} if firmware == "tb2" else {})
    one, other = (run_job(description, sim, function="tests.programs.target_jobs:exchanges",
                          arguments={"requests": 4, "trace": True,
                                     "settings": {**FAULTY, **RATES["all"]}})
                  for sim in ("verilator", "icarus"))
    assert len(one[0]["events"]) > 100 and one == other


async def stream_budget(lab: Any) -> tuple[float, float]:
    """In the simulator's process: ticks an issue with the queue full, and those of no mark."""
    marks = spans((await measure_curve(lab, "am", 120, 0))["marks"])
    found = budget(marks, 0, len(sends(marks, 0)) - 80, len(sends(marks, 0)) - 1)
    return float(found.interval), float(found.rest)


def test_all_of_a_stream_is_marked():
    """What the layer does while the queue is full, too: it looks for room, and sends later."""
    interval, rest = run_job(describe({"nic.processor": "picorv32"}), "verilator",
                             function=f"{__name__}:stream_budget")
    assert interval > 100 * TICKS and rest == 0


def test_nonsense_is_counted_and_dropped():
    """Drawn slots and doorbells, by the kernel and by a process that owns nothing."""
    jobs = [("am", 500, 1), ("am", 500, 2), ("fm", 500, 3), ("lanai", 500, 4), ("tb2", 500, 7)]
    nonsense({}, jobs)


@pytest.mark.full
def test_nonsense_of_elan_is_counted_and_dropped():
    nonsense(NEEDS["elan"], [("elan", 500, 5), ("elan", 500, 6)])


def nonsense(needs: dict[str, Any], jobs: list[tuple[str, int, int]]) -> None:
    found = run_job(describe({"nic.processor": "picorv32"}, needs), "verilator",
                    function=f"{junk_slots.__name__}:run_inside", arguments={"jobs": jobs})
    assert not any(found), found
