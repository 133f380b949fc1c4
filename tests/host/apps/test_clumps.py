"""The programs of the study of clumps: answers, where their messages go, blocks and layouts."""

import asyncio

import numpy as np
import pytest
from nicbed import Testbed, UserError
from nicbed.host.apps import con, em3d, fft
from nicbed.host.apps.blocks import Blocks
from nicbed.host.apps.lattice import Lattice
from nicbed.host.apps.streaming import Streaming
from nicbed.host.port.memory import RESERVED
from nicbed.layouts.doors import LAYERS
from nicbed.testbench import apps
from nicbed.testbench.apps import measurement
from nicbed.testbench.apps.layout import LAYOUTS
from nicbed.testbench.apps.measurement import evaluate
from nicbed.testbench.backends.session import run_job
from nicbed.testbench.testbed.options import Options

from tests.models.toy_messages import ToyMessages
from tests.programs import apps as programs
from tests.programs.am import describe
from tests.programs.apps import run_app


def good(found):
    assert all(one["ok"] for one in found.outcome["checks"]), found.outcome["checks"]
    return found


@pytest.mark.parametrize(("nodes", "points"), [(2, 1), (2, 8), (3, 7), (8, 16), (8, 5)])
def test_fft(nodes, points):
    good(run_app("fft", nodes, {"points": points, "seed": points}))


@pytest.mark.parametrize(("nodes", "variant", "side", "seed"), [
    (2, "comm", 1, 1), (2, "comm", 5, 2), (3, "comm", 4, 3), (8, "comm", 6, 4), (2, "comp", 9, 5),
    (3, "comp", 7, 6), (8, "comp", 13, 7)])
def test_con(nodes, variant, side, seed):
    good(run_app("con", nodes, {"variant": variant, "side": side, "seed": seed}))


@pytest.mark.parametrize(("nodes", "given"), [
    (2, {"vertices": 2, "degree": 1, "remote": 100}), (2, {"vertices": 31, "steps": 2}),
    (3, {"vertices": 17, "degree": 7, "remote": 33}), (3, {"vertices": 9, "remote": 0}),
    (8, {"vertices": 20, "mapping": "good", "seed": 9})])
def test_em3d(nodes, given):
    good(run_app("em3d", nodes, given))


# Several processes on a node: Split-C over messages of CPUs

CLUMP = {"node.cpus": 4, "am2.processes": "all"}


@pytest.mark.parametrize(("name", "given"), [
    ("fft", {"points": 9}), ("con", {"side": 4}), ("con", {"variant": "comp", "side": 8}),
    ("em3d", {"vertices": 15, "steps": 2})])
@pytest.mark.parametrize("processes", ["all", "cpus"])
def test_processes_that_share_a_node(name, given, processes):
    """Each has its own part of spread arrays, its own phases, and its own messages; all together
    take no more memory than they ask for."""
    found = good(run_app(name, 2, given, {**CLUMP, "am2.processes": processes}, layer="am2",
                         messages=ToyMessages))
    results = found.outcome["results"]
    count = 8 if processes == "all" else 4
    assert len(results["processes"]) == len(results["traffic"]) == count
    for me, (one, told) in enumerate(zip(results["traffic"], found.module.traffic(
            found.inputs, found.parameters, count), strict=True)):
        assert one["within"] == sum(n for other, n in told.items() if other // 4 == me // 4)
        assert one["off"] == sum(n for other, n in told.items() if other // 4 != me // 4)
    assert all(phase["cycles"][3] for phase in results["phases"])
    description = found.description
    asked = RESERVED + 4096 + 4 * (
        found.module.needed(found.parameters, count) + Streaming.room(description))
    assert description.memory.bytes - found.runtime.nodes[0].host.allocator.free <= asked


SMALL = [("fft", {"points": 8}), ("con", {"side": 4}), ("con", {"variant": "comp", "side": 9}),
         ("em3d", {"vertices": 6})]


@pytest.mark.parametrize(("name", "given"), SMALL)
def test_over_the_shared_memory_of_a_node(name, given):
    found = good(run_app(name, 2, given, {"node.cpus": 4, "am2.protocol": "shared"}, layer="am2"))
    assert all(one["within"] and not one["off"] for one in found.outcome["results"]["traffic"])


@pytest.mark.full
@pytest.mark.parametrize(("name", "given"), SMALL)
def test_over_shared_memory_and_the_network(name, given):
    """Two CPUs with a NIC each on each of two nodes; the firmware is the real image."""
    both = {"node.cpus": 2, "node.nics": 2, "am2.processes": "all", "nic.processor": "picorv32",
            "processor.memory": 1 << 18}
    found = good(run_app(name, 2, given, both, layer="am2"))
    traffic = found.outcome["results"]["traffic"]
    assert any(one["within"] for one in traffic) and any(one["off"] for one in traffic)


# Memory


def test_cpus_that_compute_from_one_memory_slow_each_other_down():
    """500 points of 16 bytes are 250 lines, read and written: 16,000 cycles at a byte a cycle. At
    8 bytes and 1,100 CPU cycles a point the memory has time for all."""
    def cycles(settings):
        return run_job(describe({"node.cpus": 4}), "verilator",
                       function=f"{programs.__name__}:computed",
                       arguments={"cpus": [1, 4], "settings": settings})

    one, four = cycles({"memory.bytes_per_cycle": 1, "apps.fft_point": 0})
    assert 16_000 < one < 1.3 * 16_000
    assert 3.5 < four / one < 4
    one, four = cycles({"apps.fft_point": 1100})
    assert 1 <= four / one < 1.05


# Wrong answers, and messages that go elsewhere


@pytest.mark.parametrize(("name", "given", "change", "text"), [
    ("fft", {"points": 6}, lambda parts: parts[1].__setitem__((0, 0, 0), 1e-3j),
     "1 of 216 points differ from numpy's transform"),
    ("con", {"side": 3}, lambda parts: parts[0].__setitem__(5, 4),
     "1 of 54 nodes are in another component than the union-find's"),
    ("em3d", {"vertices": 10}, lambda parts: parts[1][1].__setitem__(
        2, np.nextafter(parts[1][1][2], 2)), "1 of 20 values differ from the serial run's")])
def test_a_wrong_value_is_found(name, given, change, text):
    found = run_app(name, 2, given)
    answers = [[one.copy() for one in told.answer] if name == "em3d" else told.answer.copy()
               for told in found.run.results]
    check = found.module.check
    assert check(answers, found.inputs, found.parameters)[0]
    change(answers)
    assert check(answers, found.inputs, found.parameters) == (False, text)
    assert not check(answers[:1], found.inputs, found.parameters)[0]


def test_a_message_that_goes_elsewhere_is_found():
    found = run_app("em3d", 3, {"vertices": 8})
    to = found.run.results[1].to
    to[0], to[2] = to[0] + 1, to[2] - 1
    where = [(node, 0) for node in range(3)]
    checks = evaluate(found.module, found.run, found.inputs, found.parameters, where)["checks"]
    assert [one["check"] for one in checks if not one["ok"]] == [
        "messages go where the algorithm sends them"]


# What the study counts


def shares(traffic):
    """Messages of a process, in the mean, off its node of eight and within it."""
    procs = len(traffic)
    within = sum(count for me, one in enumerate(traffic) for other, count in one.items()
                 if me // 8 == other // 8) / procs
    return sum(sum(one.values()) for one in traffic) / procs - within, within


def test_the_study_s_blocks_of_the_transform():
    """64 blocks of 4 KB to each of 31 others, twice."""
    parameters = fft.defaults({"points": 256})
    traffic = fft.traffic(None, parameters, 32)
    assert traffic[5] == {other: 128 for other in range(32) if other != 5}
    assert shares(traffic) == (3072, 896)


@pytest.mark.parametrize(("mapping", "percent"), [("naive", 62.5), ("good", 77.5)])
def test_the_study_s_share_of_messages_on_a_node_in_em3d(mapping, percent):
    """Naive: 608,817 messages off and 1,013,094 within a node. 20,000 edges are remote."""
    parameters = em3d.defaults({"vertices": 2500, "mapping": mapping})
    off, within = shares(em3d.traffic(em3d.inputs(parameters, 32), parameters, 32))
    assert off + within == 20_000
    assert 100 * within / (off + within) == pytest.approx(percent, abs=1)


def test_the_study_s_share_of_messages_on_a_node_in_con():
    """67,236 off and 50,138 within: 42.7 %."""
    parameters = con.defaults({"side": 24})
    off, within = shares(con.traffic(con.inputs(parameters, 32), parameters, 32))
    assert 100 * within / (off + within) == pytest.approx(42.7, abs=3)


def test_in_con_edges_stay_and_whoever_has_the_root_walks_along_them():
    """Of an edge that leads out of a block the other end is fetched when the search ends, and its
    component before and after the hooks of a round; of one elsewhere its place is read, too."""
    lattice = con.inputs(con.defaults({"side": 12}), 8)
    sent = con.messages(lattice, {}, 8)
    for mine, (edges, _) in zip(sent, lattice.outer, strict=True):
        assert mine["get"] >= 3 * len(edges)
    assert sum(mine.get("read", 0) for mine in sent) > 8


# Blocks


@pytest.mark.parametrize(("mapping", "shape"), [
    ("naive", (4, 2, 1)), ("good", (2, 2, 2)), ("rows", (8, 1, 1)), ("plane", (8, 1, 1))])
@pytest.mark.parametrize("procs", [16, 32, 64])
def test_eight_processes_of_a_node_have_blocks_beside_each_other(mapping, shape, procs):
    blocks = Blocks(procs, mapping)
    x, y, z = blocks.shape
    assert sorted(blocks.places) == sorted((a, b, c) for a in range(x) for b in range(y)
                                           for c in range(z))
    for first in range(0, procs, 8):
        own = blocks.places[first:first + 8]
        extent = tuple(max(axis) - min(axis) + 1 for axis in zip(*own, strict=True))
        assert extent == shape


@pytest.mark.parametrize("procs", [1, 2, 3, 4, 7, 8, 32])
@pytest.mark.parametrize("mapping", ["naive", "good", "rows", "plane"])
def test_blocks_beside_a_block(procs, mapping):
    blocks = Blocks(procs, mapping)
    for me, mine in enumerate(blocks.places):
        assert sorted(blocks.neighbours(me)) == [
            other for other, its in enumerate(blocks.places)
            if sum(abs(one - two) for one, two in zip(mine, its, strict=True)) == 1]


def test_a_lattice_has_its_share_of_edges_each_told_to_both_ends():
    lattice = Lattice(12, 3, 25, 8, "naive", 3)
    out = [set(zip(*(end.tolist() for end in ends), strict=True)) for ends in lattice.outer]
    for me, edges in enumerate(out):
        assert edges
        for one, two in edges:
            assert one // lattice.count == me and (two, one) in out[two // lattice.count]
    inner = sum(len(one) for one, _ in lattice.inner)
    assert inner == pytest.approx(8 * 0.25 * 3 * 11 * 12 * 12, rel=0.05)
    assert sum(map(len, out)) == pytest.approx(2 * 0.25 * 12 * 12 * 12, rel=0.15)


# What a user gets wrong


@pytest.mark.parametrize(("name", "given", "text"), [
    ("fft", {"points": 257}, "--points 257: must be 1 to 256"),
    ("con", {"variant": "sm"}, "--variant sm: must be comm or comp"),
    ("em3d", {"vertices": 1}, "--vertices 1: must be 2 to 1048576"),
    ("em3d", {"mapping": "best"}, "--mapping best: must be naive or good"),
    ("em3d", {"layout": "9x9"}, "--layout 9x9: must be now-8, smp, now-32, 4x8"),
    ("em3d", {"layout": "smp", "layer": "am"},
     "--layout smp: a process is a CPU, and over am it is a node; --layer am2 has it"),
    ("mm", {"layout": "smp"}, "--layout smp: mm has no layouts"),
    ("mm", {"layer": "am2"}, "--layer am2: mm runs over am"),
    ("fft", {"layer": "via"}, "--layer via: fft runs over am or am2")])
def test_what_is_wrong_is_told_in_one_line(name, given, text):
    with pytest.raises(UserError) as told:
        Testbed(store=None).program(name, **given)
    assert str(told.value).startswith(text) and "\n" not in str(told.value)


@pytest.mark.parametrize(("overrides", "nodes", "text"), [
    (["node.cpus=2"], None, "--layout now-8: has node.cpus = 1, not 2"),
    ([], 4, "--layout now-8: has fabric.nodes = 8, not 4")])
def test_a_layout_is_not_contradicted(overrides, nodes, text):
    with pytest.raises(UserError) as told:
        Testbed(nodes=nodes, options=Options(overrides), store=None).program(
            "em3d", layout="now-8", layer="am")
    assert str(told.value) == text


@pytest.mark.parametrize(("layout", "nodes", "topology"), [("now-8", 8, "chain"),
                                                           ("now-32", 32, "fat_tree")])
def test_layouts_of_workstations(layout, nodes, topology):
    wanted = Testbed(store=None).program("fft", layout=layout, layer="am", points=64)
    description = wanted.description
    assert (description.fabric.nodes, description.node.cpus) == (nodes, 1)
    assert description.fabric.topology == topology
    assert description.nic.processor == "none"
    other = Testbed(options=Options(["fabric.topology=mesh"]), store=None)
    assert other.program("fft", layout=layout, layer="am").description.fabric.topology == "mesh"


def test_memory_grows_with_the_data():
    """A quarter of 128^3 points twice, of 16 bytes."""
    bed = Testbed(nodes=4, store=None)
    assert bed.program("fft").description.memory.bytes == 8 << 20
    assert bed.program("fft", points=128).description.memory.bytes == 32 << 20
    fixed = Testbed(nodes=4, options=Options(["memory.bytes=16777216"]), store=None)
    with pytest.raises(UserError, match="try --set memory.bytes=33554432, or less data"):
        fixed.program("fft", points=128)
    with pytest.raises(UserError, match="a node has at most 134217728; try less data"):
        Testbed(nodes=2, store=None).program("fft", points=256)


def test_a_layout_counts_its_processes():
    over = LAYERS.get("am2")
    counts = {name: over.places(describe(layout.knobs, layout.usual))
              for name, layout in LAYOUTS.items()}
    assert counts["smp"] == [(0, cpu) for cpu in range(8)]
    assert counts["4x8"] == [(node, cpu) for node in range(4) for cpu in range(8)]
    assert counts["now-32"] == [(node, 0) for node in range(32)]


@pytest.mark.parametrize(("layout", "counts"), [
    ("now-8", (8, 1, 1)), ("smp", (2, 8, 1)), ("now-32", (32, 1, 1)), ("4x8", (4, 8, 3))])
def test_layouts_over_am2(layout, counts):
    wanted = Testbed(store=None).program("con", layout=layout)
    description = wanted.description
    assert wanted.layer == "am2" and wanted.arguments["layer"] == "am2"
    assert (description.fabric.nodes, description.node.cpus, description.node.nics) == counts
    assert description.am2.protocol == ("shared" if layout == "smp" else "both")
    assert description.nic.processor == "picorv32"


@pytest.mark.parametrize(("layout", "overrides", "text"), [
    ("now-8", ["am2.protocol=shared"],
     "--layout now-8: am2.protocol = shared: must be network or both"),
    ("4x8", ["node.nics=2"], "--layout 4x8: has node.nics = 3, not 2"),
    ("smp", ["am2.processes=all"], "--layout smp: has am2.processes = cpus, not all"),
    ("smp", ["memory.bytes=1048576"], "fft needs ")])
def test_what_contradicts_a_layout_over_am2(layout, overrides, text):
    with pytest.raises(UserError) as told:
        Testbed(options=Options(overrides), store=None).program("fft", layout=layout)
    assert str(told.value).startswith(text) and "\n" not in str(told.value)


def test_what_is_set_stays_in_a_layout():
    overrides = ["nic.processor=vexriscv", "am2.protocol=both", "memory.bytes=33554432"]
    description = Testbed(options=Options(overrides), store=None).program(
        "fft", layout="smp").description
    assert (description.nic.processor, description.am2.protocol) == ("vexriscv", "both")
    assert description.memory.bytes == 32 << 20


def test_progress_is_told_by_phases():
    """Of process 0, with the number of phases where it is known."""
    told = []
    for name, given in (("em3d", {"vertices": 4, "steps": 2}), ("con", {"side": 2})):
        lab = programs.ModelLab(describe({"fabric.nodes": 2}))
        lab.progress = lambda *one: told.append(one)
        asyncio.run(measurement.run(lab, name, apps.parameters(apps.get(name), given,
                                                               lab.description)))
    assert told[0] == ("em3d", 0, 0)
    assert [one[1:] for one in told[1:13]] == [(done, 12) for done in range(12)]
    assert [one[0] for one in told[1:5]] == [
        "em3d: fetch H", "em3d: update E", "em3d: barrier", "em3d: fetch E"]
    assert told[13] == ("con", 0, 0) and told[14] == ("con: search", 0, 0)
