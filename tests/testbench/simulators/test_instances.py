"""The target as instances of classes against the target as one design: the same of everything.

Cycles, answers, memories (by what programs read), marks and every event. The two share the
netlists of the blocks, and nothing of what joins and clocks them: one is elaborated, the other is
machine.cpp.
"""

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from nicbed.layouts.description import Description
from nicbed.layouts.trace import Block, Event, Kind
from nicbed.rtl.instances.crossbar import Crossbar
from nicbed.testbench.backends.session import run_job
from nicbed.testbench.simulators import instances, simulator
from nicbed.testbench.simulators.verilator import Compilation

from tests.labs.rows import more
from tests.programs.vipl import SMALL as VIA_SMALL

SMALL = {"nic.mtu": 64, "nic.send_fifo": 128, "nic.receive_fifo": 128, "nic.send_ring": 4,
         "nic.receive_ring": 4, "link.buffer": 64, "bus.posted_writes": 2, "cpu.cache_lines": 4}
FAULTS = {"faults.drop": 0.05, "faults.corrupt": 0.05, "faults.duplicate": 0.1,
          "faults.delay": 0.1, "faults.delay_cycles": 333, "am.retry_timeout": 3000}
TWO_LEVELS = {"cpu.cache_lines": 4, "cpu.l2_lines": 32, "cpu.l2_hit": 5}
CROWDED = {"fabric.nodes": 4, "fabric.switches": 2, "switch.ports": 4, **SMALL}
"""Four nodes on two switches, with hardly any room."""
SLOW = {"link.latency": 300, "switch.latency": 17, "link.bytes_per_cycle": "1/3",
        "memory.latency": 40, "bus.pio_read": 90}


def describe(knobs: dict[str, Any]) -> Description:
    table: dict[str, dict[str, Any]] = {}
    for name, value in knobs.items():
        section, key = name.split(".")
        table.setdefault(section, {})[key] = value
    return Description.model_validate(table)


def both(knobs: dict[str, Any], job: str, **arguments: Any) -> list[Any]:
    return [run_job(describe(knobs), sim, function=job, arguments=arguments)
            for sim in ("verilator", "one-design")]


@pytest.mark.parametrize("knobs", [
    more({**CROWDED, **FAULTS}),
    more({"fabric.nodes": 2, **SLOW}),
    more({"fabric.nodes": 16, **FAULTS}),
    more({"fabric.nodes": 10, "fabric.topology": "fat_tree", "switch.ports": 6,
          "fabric.uplinks": 3}),
    more({"fabric.nodes": 6, "fabric.topology": "mesh", "fabric.columns": 3, **SMALL}),
    more({"fabric.nodes": 14, "fabric.topology": "mesh", "fabric.columns": 7, **SMALL, **FAULTS}),
    more({"fabric.nodes": 4, "fabric.switches": 4, "switch.ports": 3, **SLOW, **FAULTS}),
    more({"nic.attachment": "memory_bus", "fabric.nodes": 4}),
    more({"nic.attachment": "local_bus", **FAULTS}),
    more({"via.design": "engine", "fabric.nodes": 4, **FAULTS}),
    more({"nic.processor": "picorv32", "fabric.nodes": 4, **FAULTS}),
    more({"nic.processor": "vexriscv", "processor.clock_divider": 3}),
    more({"nic.processor": "serv", "nic.attachment": "memory_bus"}),
    more({"nic.processor": "picorv32", "am.firmware": "tb2", "am.bulk": "copy",
          "bus.coherent": False, **FAULTS}),
    more({"fabric.nodes": 4, **TWO_LEVELS}),
    more({"nic.attachment": "memory_bus", **TWO_LEVELS, **FAULTS}),
    more({"nic.processor": "picorv32", "am.firmware": "tb2", "am.bulk": "copy",
          "bus.coherent": False, **TWO_LEVELS}),
])
def test_the_same_as_one_design(knobs: dict[str, Any]) -> None:
    instances, one = both(knobs, "tests.programs.target_jobs:exchanges", requests=12, step=700,
                          trace=True, runs=2)
    assert instances == one
    # In runs between which the switches changed, in ways that let time pass unseen or not.
    plain = run_job(describe(knobs), function="tests.programs.target_jobs:exchanges",
                    arguments={"requests": 12, "step": 700})
    assert plain == [{**one[0], "events": []}]


@pytest.mark.parametrize("knobs", [
    more({"via.design": "engine"}),
    more({"via.design": "engine", "fabric.nodes": 3}),
    more({"via.design": "engine", "via.send_slots": 4, "via.window": 2, **SLOW}),
    more({"nic.processor": "picorv32", "via.design": "firmware"}),
    more({"via.design": "kernel", "fabric.nodes": 4}),
])
def test_the_same_of_via(knobs: dict[str, Any]) -> None:
    instances, one = both(knobs, "tests.programs.target_jobs:pairs_over_via")
    assert instances == one


@pytest.mark.parametrize("knobs", [
    more({"node.cpus": 2, "memory.bytes": 1 << 16}),
    more({"node.cpus": 3, "fabric.nodes": 2, **SMALL}),
    more({"node.cpus": 8}),
    more({"node.cpus": 2, "fabric.nodes": 4, **SLOW}),
    more({"node.cpus": 4, "cpu.line_bytes": 128, **SMALL}),
    more({"node.cpus": 4, **SMALL, **TWO_LEVELS}),
])
def test_the_same_of_several_cpus(knobs: dict[str, Any]) -> None:
    """Whose stations are built with more host ports than there are. (backends/test_cpus has the
    same structure.)"""
    drive = "tests.programs.raw_ports:drive"
    several, one = both(knobs, drive)
    assert several == one
    assert several == run_job(describe(knobs), function=drive, arguments={"skip": False})
    memory = [event.kind for event in map(Event._make, several["events"])
              if event.block == Block.MEMORY and event.node == 0]
    assert len(memory) > 100
    assert all(kind == (Kind.BEGIN, Kind.END)[n % 2] for n, kind in enumerate(memory))


@pytest.mark.parametrize("knobs", [
    more({"node.nics": 2, "node.cpus": 2, "fabric.nodes": 2}),
    more({"node.nics": 4, "node.cpus": 2, "fabric.nodes": 2, **SMALL}),
    more({"node.nics": 2, "node.cpus": 3, "fabric.nodes": 3, "fabric.switches": 2,
          "switch.ports": 5, **FAULTS}),
    more({"node.nics": 2, "fabric.nodes": 4, "fabric.topology": "fat_tree", "switch.ports": 4,
          "fabric.uplinks": 2, **SLOW}),
    more({"node.nics": 3, "node.cpus": 4, "bus.pio_width": 4, "fabric.topology": "mesh",
          "fabric.columns": 3}),
])
def test_the_same_of_several_nics(knobs: dict[str, Any]) -> None:
    """With a layer on each, random programs on all of them at once."""
    job, arguments = "tests.programs.nics_jobs:random_nics", {"seeds": [1, 2], "trace": True}
    several, one = both(knobs, job, **arguments)
    assert several == one
    plain = run_job(describe(knobs), function=job, arguments={**arguments, "skip": False})
    assert plain == several
    addresses = set(range(knobs.get("fabric.nodes", 2) * knobs["node.nics"]))
    for block in (Block.BUS, Block.SEND_LINK, Block.RECEIVE_LINK):
        assert {event.node for event in map(Event._make, several[0]["events"])
                if event.block == block} == addresses
    ports = "tests.programs.raw_ports:drive"
    several, one = both(knobs, ports)
    assert several == one


PICO, VEX = ({"nic.processor": core, "node.nics": 2} for core in ("picorv32", "vexriscv"))


@pytest.mark.full
@pytest.mark.parametrize(("knobs", "layer"), [
    (PICO, "fm"),
    ({**PICO, "node.cpus": 2}, "gm"),
    ({**PICO, "via.design": "firmware"}, "via"),
    ({"node.nics": 2, "via.design": "engine"}, "via"),
    ({"node.nics": 3, "node.cpus": 2, "via.design": "engine", **FAULTS}, "via"),
])
def test_the_same_of_layers_on_several_nics(knobs: dict[str, Any], layer: str) -> None:
    """Each NIC with a processor or a VI engine of its own."""
    job = "tests.programs.nics_layers:layers"
    several, one = both({**VIA_SMALL, **knobs}, job, layer=layer, trace=True)
    assert several == one
    kind = Block.VI_RECEIVE if knobs.get("via.design") == "engine" else Block.PROCESSOR
    assert ({event.node for event in map(Event._make, several["events"]) if event.block == kind}
            == set(range(2 * knobs["node.nics"])))


@pytest.mark.full
@pytest.mark.parametrize("knobs", [
    {**PICO, "node.cpus": 2, "processor.clock_divider": 3},
    {**VEX, **FAULTS},
    {**VEX, "am.firmware": "lanai"},
    {**PICO, "am.firmware": "elan", "processor.host_access": "uncached"},
    {**PICO, "am.firmware": "tb2", "am.bulk": "copy"},
    {**PICO, "node.cpus": 2, "nic.attachment": "memory_bus"},
    {"node.nics": 2, "node.cpus": 2, "nic.attachment": "memory_bus", **FAULTS},
])
def test_the_same_of_active_messages_on_several_nics(knobs: dict[str, Any]) -> None:
    """Over every firmware, and with NICs on the memory bus."""
    several, one = both(knobs, "tests.programs.nics_jobs:random_nics", seeds=[1], count=6,
                        trace=True)
    assert several == one


POSTS = "tests.programs.memory_bus_jobs:posts"
POSTED_BY_SEVERAL: list[dict[str, Any]] = [
    {"node.cpus": 2}, {"node.cpus": 4}, {"node.cpus": 8, "bus.dma_setup": 1},
    {"node.cpus": 4, "node.nics": 2, "link.bytes_per_cycle": 8},
    {"node.cpus": 2, "nic.processor": "picorv32"}, {"node.cpus": 2, **TWO_LEVELS},
]


@pytest.mark.parametrize("knobs", [POSTED_BY_SEVERAL[0], *map(more, POSTED_BY_SEVERAL[1:])])
def test_a_nic_on_the_memory_bus_misses_no_post_of_several_cpus(knobs: dict[str, Any]) -> None:
    """All CPUs post to the rings of all NICs: a wake-up that is lost leaves a packet behind, and
    the run ends at its limit."""
    description = describe({"nic.attachment": "memory_bus", **SMALL, **knobs})
    traced = run_job(description, function=POSTS, arguments={
        "seeds": [1], "count": 8, "trace": True, "limit": 200_000})
    watched = {event.node for event in map(Event._make, traced[0]["events"])
               if event.block == Block.WATCH}
    assert watched == set(range(knobs.get("node.nics", 1)))
    run_job(description, function=POSTS, arguments={
        "seeds": list(range(2, 30)), "count": 16, "limit": 400_000})


@pytest.mark.full
@pytest.mark.parametrize("knobs", POSTED_BY_SEVERAL)
def test_the_same_of_a_nic_on_the_memory_bus_of_several_cpus(knobs: dict[str, Any]) -> None:
    several, one = both({"nic.attachment": "memory_bus", **SMALL, **knobs}, POSTS, seeds=[1],
                        count=8, trace=True, limit=200_000)
    assert several == one


@pytest.mark.full
def test_a_profile_and_a_crash_are_of_a_nic() -> None:
    description = describe({**VIA_SMALL, **PICO})
    profiles = run_job(description, function="tests.programs.nics_layers:profiles")
    # Firmware runs on NICs 1 of both nodes alone.
    assert [bool(one) for one in profiles] == [False, True, False, True]
    assert run_job(description, function="tests.programs.nics_layers:crash",
                   arguments={"node": 1, "nic": 0}) == (1, 0, "crashes")


@pytest.mark.full
def test_a_crash_is_the_same() -> None:
    """Of the node, the reason and the cycle."""
    found = both({"nic.processor": "picorv32"},
                 "tests.programs.firmware:crashed", ways=[0])
    assert found[0] == found[1]


def test_a_crash_is_forgotten_in_the_next_run() -> None:
    found = run_job(describe({"nic.processor": "picorv32"}),
                    function="tests.programs.firmware:crashed_then_stuck")
    assert found == ["FirmwareCrash", "Stuck"]


@pytest.mark.full
def test_a_waveform_has_every_instance_and_changes_nothing(tmp_path: Path) -> None:
    """With it nothing sleeps, and falling edges are evaluated."""
    file = tmp_path / "waves"
    job, arguments = "tests.programs.target_jobs:exchanges", {"requests": 3, "trace": True}
    plain = run_job(Description(), function=job, arguments=arguments)
    assert run_job(Description(), function=job, arguments=arguments, wave=file) == plain
    content = file.read_bytes()
    if b"$enddefinitions" in content[:1 << 20]:  # FST is compressed
        for name in (b"node_0", b"node_1", b"switch_0"):
            assert name in content[:1 << 20]
    assert len(content) > 20_000


@pytest.mark.parametrize("options", [
    ["--switches", "1", "--nodes", "0.0,0.0"],
    ["--switches", "1", "--nodes", "0.0,0.16"],
    ["--switches", "1", "--nodes", "0.0,1.0"],
    ["--switches", "2", "--nodes", "0.0,1.0", "--trunks", "0.0-1.1"],
    ["--switches", "1", "--nodes", "0.0,x"],
    ["--switches", "1", "--nodes", ""],
    ["--switches", "1", "--nodes", "0.0,0.1", "--cpus", "2"],
    ["--switches", "1", "--nodes", "0.0,0.1", "--routing", "circles"],
])
def test_a_wrong_topology_is_refused_in_one_line(options: list[str]) -> None:
    bare = simulator.build(Description(), bare=True)
    done = subprocess.run([bare.command[0], "/nowhere", "8", "0", *options], capture_output=True,
                          text=True, timeout=60)
    assert done.returncode == 2
    assert done.stderr.startswith("nicbed: the topology is wrong at '")
    assert done.stderr.count("\n") == 1


def test_names_that_another_verilator_might_not_have_are_looked_for(tmp_path: Path) -> None:
    root, model = tmp_path / "Vstation___024root.h", tmp_path / "Vstation.cpp"
    known = "".join(f"CData __Vtrigprevexpr___TOP__{clock}__0;\n" for clock in ("clk", "clk_rest"))
    evaluation = "void Vstation___024root___eval(Vstation___024root* vlSelf);"

    def shortcuts(header: str, source: str, wave: bool = False, **nic: str) -> tuple[bool, bool]:
        root.write_text(header)
        model.write_text(source)
        found = instances._shortcuts(Description.model_validate({"nic": nic}), tmp_path, wave,
                                     False)
        return found["STATION_FALLS"], found["STATION_FRAME"]

    assert shortcuts(known, evaluation) == (False, False)
    assert shortcuts(known.replace("rest__0", "rest__1"), evaluation) == (True, False)
    assert shortcuts(known, "void eval();") == (False, True)
    assert shortcuts(known, evaluation, wave=True) == (True, False)
    assert shortcuts(known, evaluation, processor="serv") == (True, False)


def test_a_class_is_compiled_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """For all simulators that have it; another netlist, or a waveform, is another class."""
    monkeypatch.setenv("NICBED_CACHE", str(tmp_path))
    compiled: list[str | None] = []

    def compile_objects(job: Compilation, _: Any) -> list[Path]:
        compiled.append(job.wave)
        return []

    monkeypatch.setattr(instances, "compile_objects", compile_objects)

    def model(ports: int, wave: str | None = None) -> Path:
        core, around = instances._converted(Crossbar(ports=ports), "switch",
                                            lambda port: port == "joined")
        return instances._model("switch", core, around, wave, lambda *_: None)

    first = model(2)
    assert (first / "Vswitch.h").exists() and model(2) == first
    assert len({first, model(3), model(2, "vcd")}) == 3
    assert compiled == [None, None, "vcd"]


@pytest.mark.full
def test_what_a_build_takes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
                            capsys: pytest.CaptureFixture[str]) -> None:
    """Printed, for docs/explanation/performance.md: CPU time of another structure of a node,
    and its share of the tools, where switches and all that models share is built."""
    monkeypatch.setenv("NICBED_CACHE", str(tmp_path))
    simulator.build(Description())
    before = os.times()
    simulator.build(describe({"nic.mtu": 512}))
    after = os.times()
    own, tools = (sum(after[at:at + 2]) - sum(before[at:at + 2]) for at in (0, 2))
    with capsys.disabled():
        print(f"\nanother structure: {own + tools:.1f} s of CPU, {tools:.1f} s of them tools")
