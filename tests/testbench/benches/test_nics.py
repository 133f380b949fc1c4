"""Benchmarks on nodes with several NICs: those of one NIC on NIC 0 of each node, and bandwidth by
number of NICs."""

import asyncio
import json
from types import SimpleNamespace
from typing import Any

import pytest
from nicbed.host.port.position import Position
from nicbed.layouts.doors import LAYERS
from nicbed.layouts.trace import Block, Event, Kind
from nicbed.testbench import benches
from nicbed.testbench.backends.session import run_job
from nicbed.testbench.benches.common.one_nic import OneNic
from nicbed.testbench.descriptions import load as descriptions
from nicbed.testbench.errors import UserError
from nicbed.testbench.lab import Run
from nicbed.testbench.results import document as files
from nicbed.testbench.results import plots
from nicbed.testbench.results.tables import console
from nicbed.testbench.testbed.bed import Testbed
from nicbed.testbench.testbed.options import Options
from nicbed.testbench.testbed.result import Result

from tests.labs.model import ModelLab
from tests.labs.rows import more

PICO = "nic.processor=picorv32"
OF_ONE = {
    "am": {
        "rtt": {"words": [1, 4]},
        "bare": {"trips": 4},
        "overhead": {"words": [0, 1, 4], "waiting": [0, 1, 4]},
        "logp": {"issues": 256, "delays": ["0", "1/8", "1", "2"]},
        "prtt": {"sizes": [64, 256, 1024]},
        "bulk": {"sizes": [4, 61, 64, 67, 1024, 4096, 16384], "stream_sizes": [4, 1024, 4096]},
        "pipelined": {"total": 16384, "sizes": [64, 1024, 16384], "most": 64},
        "exchange": {"sizes": [64, 4096], "bytes": 8192},
        "pairs": {"issues": 192},
        "one-to-many": {"issues": 192, "receivers": [1, 3]},
        "many-to-one": {"issues": 192, "senders": [1, 3]},
        "incast": {"senders": [1, 3], "sizes": [16, 256], "bytes": 4096, "loss": [0.0]},
        "alltoall": {"nodes": [2, 4], "sizes": [16, 256], "bytes": 8192},
        "latency": {"sizes": [4, 16, 64, 4096], "trips": 3},
        "bandwidth": {"sizes": [4, 64, 1024, 16384], "bytes": 65536},
    },
    "via": {
        "latency": {"sizes": [4, 64], "trips": 4},
        "bandwidth": {"sizes": [4, 1024, 4096], "bytes": 16384},
        "logp": {"sizes": [4, 1024, 4096], "bytes": 1 << 16, "delays": ["0", "1"],
                 "interrupts": 8},
        "buffers": {"sizes": [4, 4096], "pages": [1, 4]},
        "connections": {"vis": [1, 4]},
        "blocking": {"sizes": [4, 1024]},
        "gather": {"totals": [256], "segments": [1, 8]},
        "cq": {"queues": [1, 8]},
        "incast": {"senders": [1, 3], "sizes": [16, 256], "bytes": 4096, "loss": [0.0]},
        "alltoall": {"nodes": [2, 3], "sizes": [16, 1024], "bytes": 32768},
        "vis": {"vis": [1, 4], "sizes": [4, 1024], "bytes": 16384},
    },
    "gm": {"logp": {"messages": 32}, "latency": {"sizes": [4, 64], "trips": 3},
           "bandwidth": {"sizes": [4, 1024], "bytes": 16384},
           "alltoall": {"nodes": [2, 3], "sizes": [16], "bytes": 1024}},
    "fm": {"logp": {"messages": 32}, "latency": {"sizes": [4, 64], "trips": 3},
           "bandwidth": {"sizes": [4, 1024], "bytes": 16384},
           "incast": {"senders": [1, 3], "sizes": [16], "bytes": 4096}},
    "mpl": {"logp": {"messages": 32}, "latency": {"sizes": [4, 64], "trips": 3},
            "bandwidth": {"sizes": [4, 1024], "bytes": 16384}},
    "vmmc": {"logp": {"messages": 32}, "latency": {"sizes": [4, 64], "trips": 3},
             "bandwidth": {"sizes": [4, 1024], "bytes": 16384},
             "alltoall": {"nodes": [2, 3], "sizes": [16], "bytes": 1024}},
    "rpc": {"logp": {"issues": 64, "delays": ["0", "1/8", "1"]}},
}
"""Small parameters of the benchmarks that are of one NIC, by layer."""
ALWAYS = {("am", "logp"), ("via", "latency"), ("mpl", "latency"), ("rpc", "logp")}


def describe(layer: str, *overrides: str, nodes: int = 2) -> Any:
    needs = [PICO] if layer in ("gm", "fm", "vmmc") else []
    return descriptions.for_layer(descriptions.load(overrides=[*needs, *overrides], nodes=nodes),
                                  layer)


def outcome(name: str, layer: str, *overrides: str, times: int = 1, **changes: Any
            ) -> dict[str, Any]:
    """The document of a benchmark on the model, with so many times the nodes that it needs."""
    bench = benches.get(name)
    description = describe(layer, *overrides, nodes=times * bench.nodes)
    parameters = {**bench.module(layer).parameters(description), **changes}
    found = asyncio.run(benches.run(ModelLab(description), name, layer, parameters))
    return files.build(name, layer, "model", description, parameters, found)


def test_no_benchmark_is_left_out() -> None:
    """Of those of one NIC. Memory is measured on the target; MPI and TCP need nodes with one; AM-II
    counts processes; U-Net has tests of its own."""
    for layer, rows in OF_ONE.items():
        assert layer in ("gm", "fm", "vmmc") or {*rows, "nics", "memory"} >= {
            name for name in benches.BENCHES.names() if layer in benches.get(name).layers}
    assert {*OF_ONE, "am2", "unet", "mpi", "tcp", "raw"} == set(LAYERS.names())


@pytest.mark.parametrize(("layer", "name"), [
    (layer, name) if (layer, name) in ALWAYS else more(layer, name)
    for layer, rows in OF_ONE.items() for name in rows])
def test_on_nic_0_it_is_as_on_nodes_with_one(layer: str, name: str,
                                             capsys: pytest.CaptureFixture[str]) -> None:
    """All figures, of nodes with 3 NICs on 2 CPUs, and all checks (the model fails some of them in
    any case); the tables say which NIC it was. Fast Messages share places out among all wire
    addresses, so they are compared with 3 times as many nodes."""
    small = OF_ONE[layer][name]
    one = outcome(name, layer, times=3 if layer == "fm" else 1, **small)
    several = outcome(name, layer, "node.nics=3", "node.cpus=2", **small)
    assert several["checks"] == one["checks"]
    assert several["nic"] == 0 and "nic" not in one
    assert several["results"] == one["results"]
    assert several["points"] == one["points"]
    out = console()
    for item in Result(several, benches.get(name).module(layer)).tables():
        out.print(item)
    assert "measured on NIC 0 of each node (node.nics = 3)" in capsys.readouterr().out


def test_events_are_those_of_nodes_with_that_nic() -> None:
    """Of switches and of memories they have no wire address."""
    given = [Event(cycle, node, block, Kind.BEGIN, 0, 0) for cycle, (node, block) in enumerate((
        (5, Block.BUS), (4, Block.BUS), (1, Block.SWITCH), (1, Block.MEMORY)))]
    seen: list[Any] = []

    class Lab:
        description = describe("am", "node.nics=3")

        async def run(self, programs: Any, **options: Any) -> Run:
            assert options == {"trace": True} and programs[2] is None
            for number, program in enumerate(programs[:2]):
                node = SimpleNamespace(
                    nic=lambda nic, peers, number=number: (number, nic, tuple(peers)))
                seen.append(program(node) if callable(program)
                            else [one and one(node) for one in program])
            return Run(9, [], given)

    run = asyncio.run(OneNic(Lab(), 2).run([lambda node: node, [lambda node: node, None], None],
                                           trace=True))
    assert seen == [(0, 2, (2, 5)), [(1, 2, (2, 5)), None]]
    assert run.cycles == 9 and run.events == [given[0]._replace(node=1), *given[2:]]


def test_a_peer_is_the_same_nic_of_another_node() -> None:
    nic = Position(1, 3, [6], nic=2, nics=4)
    assert (nic.home, nic.number, nic.nodes) == (1, 6, 12)
    assert [nic.address_on(one) for one in range(3)] == [2, 6, 10]
    assert [nic.node_of(address) for address in (2, 6, 10, 11)] == [0, 1, 2, 2]
    plain = Position(1, 3, range(3))
    assert plain.home == plain.number == 1 and plain.address_on(2) == plain.node_of(2) == 2


@pytest.mark.parametrize(("layer", "overrides"), [
    more("am", ("node.nics=3", "node.cpus=2")),
    ("am", ("node.nics=2",)),
    more("am", ()),
    more("am", ("node.nics=4", "node.cpus=4")),
    more("via", ("node.nics=2", "node.cpus=2")),
    more("via", ("node.nics=3",)),
    more("via", ("node.nics=2", "via.design=kernel")),
    more("gm", ("node.nics=2", "node.cpus=2")),
    more("gm", ("node.nics=2",)),
    more("fm", ("node.nics=2", "node.cpus=2")),
    more("fm", ("node.nics=2",)),
])
def test_bandwidth_by_number_of_nics(layer: str, overrides: tuple[str, ...],
                                     capsys: pytest.CaptureFixture[str]) -> None:
    document = outcome("nics", layer, *overrides, sizes=[16, 1024], bytes=8192)
    assert not [check for check in document["checks"] if not check["ok"]]
    node = document["config"]["node"]
    read = json.loads(files.text(document))
    for by_nics in read["results"]["nics"].values():
        assert list(by_nics) == [str(nics) for nics in range(1, node["nics"] + 1)]
        assert by_nics["1"]["ratio"] == 1
        for nics, found in by_nics.items():
            # The model has no buses and no memory that NICs would wait for.
            assert found["ratio"] > (0.9 if node["cpus"] < node["nics"] else 0.9 * int(nics))
            assert set(found["each"]) == {str(nic) for nic in range(int(nics))}
    module = benches.get("nics").module(layer)
    out = console()
    for item in Result(read, module).tables():
        out.print(item)
    said = capsys.readouterr().out
    assert "measured on NIC 0" not in said
    assert ("nodes with one NIC" if node["nics"] == 1 else "on one CPU, in turn"
            if node["cpus"] == 1 else f"NIC k on CPU k modulo {node['cpus']}") in said
    assert plots.render(module.draw, read)[".png"].startswith(b"\x89PNG")
    assert len(module.headline(read)) == 4 and len(module.series(read).points) == node["nics"]


@pytest.mark.parametrize(("call", "told"), [
    (lambda bed: bed.benchmark("latency", layer="mpi"),
     "node.nics = 2: latency on layer mpi, whose ranks are nodes, needs nodes with one NIC; "
     "programs of your own"),
    (lambda bed: bed.program("radix-sort"),
     "node.nics = 2: radix-sort, whose processes are nodes, needs nodes with one NIC; programs"),
    (lambda bed: bed.benchmark("latency", layer="tcp"),
     "node.nics = 2: layer tcp drives nodes with one NIC"),
])
def test_what_needs_nodes_with_one_nic_says_why(call: Any, told: str) -> None:
    with Testbed(options=Options(["node.nics=2"])) as bed, pytest.raises(UserError) as error:
        call(bed)
    assert str(error.value).startswith(told) and "\n" not in str(error.value)


JOB = "nicbed.testbench.benches:run"
SMALLEST = {"nic.mtu": 64, "nic.send_fifo": 128, "nic.receive_fifo": 128, "nic.send_ring": 4,
            "nic.receive_ring": 4, "link.buffer": 64, "bus.posted_writes": 2,
            "cpu.cache_lines": 64}


def on_target(name: str, layer: str, overrides: dict[str, Any], sim: str = "verilator",
              **changes: Any) -> str:
    """The text of a result file, of the target."""
    bench = benches.get(name)
    description = describe(layer, *(f"{knob}={value}" for knob, value in overrides.items()))
    parameters = {**bench.module(layer).parameters(description), **changes}
    found = run_job(description, sim, limit=20_000_000, function=JOB, arguments={
        "name": name, "layer": layer, "parameters": parameters})
    assert not [check for check in found["checks"] if not check["ok"]]
    return files.text(files.build(name, layer, "-", description, parameters, found))


@pytest.mark.full
def test_icarus_gives_the_same_bytes(icarus: None) -> None:
    knobs = {"node.nics": 2, "node.cpus": 2, **SMALLEST}
    for name, changes in (("rtt", {"words": [1]}), ("nics", {"sizes": [16], "bytes": 512})):
        one, other = (on_target(name, "am", knobs, sim, **changes)
                      for sim in ("verilator", "icarus"))
        assert one == other


@pytest.mark.full
@pytest.mark.parametrize(("layer", "knobs"), [
    ("am", {"node.nics": 2}),
    ("am", {"node.nics": 3, "node.cpus": 4, "fabric.topology": "fat_tree", "switch.ports": 4,
            "fabric.uplinks": 2, "link.latency": 40, "cpu.line_bytes": 64}),
    ("am", {"node.nics": 2, "node.cpus": 2, "nic.attachment": "memory_bus"}),
    ("via", {"node.nics": 2, "node.cpus": 2, "link.bytes_per_cycle": "1/2"}),
    ("gm", {"node.nics": 2, "node.cpus": 2}),
    ("fm", {"node.nics": 2}),
])
def test_on_the_target(layer: str, knobs: dict[str, Any]) -> None:
    """Off the defaults: a benchmark of one NIC, and bandwidth by number of NICs."""
    on_target("latency", layer, knobs, sizes=[4, 64])
    on_target("nics", layer, knobs, sizes=[16, 1024], bytes=4096)


def test_a_step_counts_its_nics(monkeypatch: pytest.MonkeyPatch) -> None:
    from nicbed.testbench.benches.load import nics

    async def none(*_: Any) -> dict[str, Any]:
        return {}

    monkeypatch.setattr(nics, "measure_nics", none)
    told: list[str] = []
    asyncio.run(benches.get("nics").module("am").measure(
        None, "am", {"nics": [1, 2], "sizes": [16], "bytes": 64},
        lambda what, *_: told.append(what)))
    assert told == ["1 NIC, 16 bytes", "2 NICs, 16 bytes"]
