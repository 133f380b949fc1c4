"""Benchmarks of MPI on the functional model."""

import asyncio
from collections import Counter

import pytest
from nicbed.host.mpi import Mpi
from nicbed.layouts.trace import TICKS
from nicbed.testbench.benches import get, run
from nicbed.testbench.benches.mpi.patterns import pattern
from nicbed.testbench.descriptions import load as descriptions
from nicbed.testbench.errors import UserError

from tests.labs.model import ModelLab
from tests.labs.rows import more

GM = ["mpi.channel=gm", "nic.processor=picorv32", "processor.memory=131072"]
TCP = ["mpi.channel=tcp", "nic.mtu=1500"]


def measured(name, overrides=(), nodes=None, **parameters):
    description = descriptions.for_layer(descriptions.load("default", overrides, nodes), "mpi")
    module = get(name).module("mpi")
    usual = module.parameters(description)
    outcome = asyncio.run(run(ModelLab(description), name, "mpi", {**usual, **parameters}))
    assert not [check for check in outcome["checks"] if not check["ok"]]
    document = {**outcome, "parameters": {**usual, **parameters}, "clock_mhz": 66, "notes": []}
    assert module.tables(document) and module.headline(document) and module.series(document)
    return outcome["results"]


@pytest.mark.parametrize("overrides, below", [([], "VIA"), (GM, "GM")], ids=["via", "gm"])
def test_latency_beside_the_layer_below(overrides, below):
    found = measured("latency", overrides, sizes=[4, 256, 8192], trips=4)
    assert list(found["half"]) == [below, "MPI"]
    assert all(value > 0 for value in found["extra"]["MPI"].values())
    parts = found["parts"]
    assert parts["4"]["registration"] == 0 < parts["8192"]["registration"]
    assert parts["256"]["copies"] > parts["4"]["copies"] > parts["8192"]["copies"] == 0
    assert parts["8192"]["protocol"] > parts["4"]["protocol"]


def test_latency_over_tcp_has_select_and_a_copy_less():
    """Nothing is registered, and data go from the socket right to where they belong."""
    found = measured("latency", TCP, sizes=[4, 256, 8192], trips=4)
    assert list(found["half"]) == ["TCP", "MPI"]
    assert all(value > 0 for value in found["extra"]["MPI"].values())
    parts = found["parts"]
    assert all(parts[size]["registration"] == parts[size]["copies"] == 0 for size in parts)
    assert parts["8192"]["protocol"] > parts["4"]["protocol"]


def test_the_layers_own_work_is_on_the_path():
    one, three = (measured("latency", [f"mpi.path_scale={scale}"], sizes=[4])
                  for scale in (1, 3))
    own = {name: one["parts"]["4"][name] for name in ("calls", "matching", "protocol")}
    for name, value in own.items():
        assert three["parts"]["4"][name] == pytest.approx(3 * value, rel=0.05), name
    assert three["half"]["VIA"] == one["half"]["VIA"]
    more = three["half"]["MPI"]["4"] - one["half"]["MPI"]["4"]
    assert 0.5 * sum(own.values()) < more < 2.2 * sum(own.values())


@pytest.mark.parametrize("overrides", [[], GM, TCP], ids=["via", "gm", "tcp"])
def test_bandwidth_beside_the_layer_below(overrides):
    results = measured("bandwidth", overrides, sizes=[64, 4096, 32768], bytes=1 << 16)
    below, mpi = results["bandwidth"].values()
    for size, (sender, receiver) in results["parts"].items():
        # The clock stops at rank 0, which sends; both are in these parts all the time.
        assert sum(sender.values()) == pytest.approx(int(size) / mpi[size], rel=1e-3)
        assert sum(receiver.values()) <= 1.01 * sum(sender.values())
        if not overrides:  # eager ones are copied
            assert (min(sender["copies"], receiver["copies"]) > 0) == (size == "64")
    assert all(mpi[size] < 1.02 * below[size] for size in mpi)
    assert list(mpi.values()) == sorted(mpi.values())


def check_sums(found):
    """Of each variant and x the parts are the difference of both round trips."""
    assert found["beyond"].keys() == found["half"].keys() - found["below"].keys()
    for variant, by_x in found["beyond"].items():
        below = found["below"][found["twins"][variant]]
        for x, parts in by_x.items():
            twin = below[x] if x in below else below[min(below, key=int)]
            more = 2 * (found["half"][variant][x] - twin)
            assert sum(parts.values()) == pytest.approx(more, abs=0.02), (variant, x)
            assert abs(parts["rest"]) <= 2 and parts["calls"] > 0 < parts["matching"]


def test_fresh_buffers_cost_registration_and_so_does_no_cache():
    results = measured("buffers", sizes=[4, 16384])
    check_sums(results)
    found, parts = results["extra"], results["beyond"]
    assert found["no cache"]["4"] == 0 < found["no cache"]["16384"]
    assert found["fresh buffers"]["16384"] > 0
    same, none, fresh = (parts[way]["16384"]["registration"]
                         for way in ("same buffers", "no cache", "fresh buffers"))
    assert 0 < same < none and same < fresh
    assert results["twins"]["fresh buffers"] == "VIA, fresh buffers" != results["twins"]["no cache"]


def test_segments_are_cheaper_than_copies_of_long_messages():
    results = measured("gather", totals=[256, 32768], blocks=[1, 4])
    check_sums(results)
    parts = results["beyond"]
    assert parts["32 KB, pack"]["4"]["copies"] > parts["32 KB, segments"]["4"]["copies"] > 0
    assert parts["32 KB, pack"]["4"]["protocol"] > parts["32 KB, pack"]["1"]["protocol"]
    half = results["half"]
    assert half["256 B, pack"] == half["256 B, segments"]  # short ones are always copied
    assert half["32 KB, segments"]["4"] < half["32 KB, pack"]["4"]
    assert half["32 KB, segments"]["1"] == half["32 KB, pack"]["1"]


@pytest.mark.parametrize("overrides", [[], more(GM), more(TCP)], ids=["via", "gm", "tcp"])
def test_wildcards_cost_nothing(overrides):
    found = measured("wildcard", overrides, sizes=[4, 4096])
    check_sums(found)
    assert set(found["extra"]["any rank and tag"].values()) == {0}


@pytest.mark.parametrize("cycles, ok", [(0, True), (1, True), (3, False), (-3, False)])
def test_time_in_no_part_is_found(cycles, ok):
    """Round trips that are longer than what happens in them."""
    lab = ModelLab(descriptions.for_layer(descriptions.load(), "mpi"))
    module = get("wildcard").module("mpi")
    parameters = {**module.parameters(lab.description), "sizes": [4]}
    raw = asyncio.run(module.measure(lab, "mpi", parameters, lambda *_: None))
    run = raw["runs"]["any rank and tag"][4]
    run["trips"] = [trip + cycles * TICKS for trip in run["trips"]]
    found = module.evaluate(raw, lab.description, parameters)["checks"][-1]
    assert found["check"].startswith("the parts are all") and found["ok"] == ok
    assert found["detail"] == ("any rank and tag, 4 B: but for 3.00 cycles" if not ok
                               else f"but for at most {cycles}.00 cycles")


@pytest.mark.full
@pytest.mark.parametrize("overrides", [GM, TCP], ids=["gm", "tcp"])
@pytest.mark.parametrize("name, parameters", [
    ("buffers", {"sizes": [4, 16384]}), ("gather", {"totals": [256, 32768], "blocks": [1, 4]})])
def test_the_other_layers_below_have_one_twin(overrides, name, parameters):
    found = measured(name, overrides, **parameters)
    check_sums(found)
    assert all(twin.startswith(("GM", "TCP")) and "fresh" not in twin
               for twin in found["twins"].values())


@pytest.mark.parametrize("overrides, below", [([], "VIA, as many VIs"), (GM, "GM, no connections")],
                         ids=["via", "gm"])
def test_partners(overrides, below):
    results = measured("connections", overrides, nodes=4)
    check_sums(results)
    found = results["half"]
    assert list(found) == [below, "MPI"] and list(found["MPI"]) == ["1", "2", "3"]
    assert all(found["MPI"][count] > found[below][count] for count in found["MPI"])
    # Each partner's VI has more receives posted from its first message on; no message waits for it.
    assert max(found["MPI"].values()) < 1.1 * min(found["MPI"].values())
    assert get("connections").nodes_on("mpi") == 8 and get("connections").nodes_on("via") == 2


def test_reads_hide_and_writes_wait():
    hidden = measured("overlap", sizes=[65536])["hidden"]
    assert hidden["write"]["65536"] < 0.4 < hidden["read"]["65536"]


@pytest.mark.parametrize("nodes", [3, 4])
def test_collectives(nodes):
    found = measured("collectives", nodes=nodes, sizes=[8, 4096])
    for call, by_size in found["measured"].items():
        for size, cycles in by_size.items():
            assert 0.8 * found["predicted"][call][size] < cycles, (call, size)
            assert cycles < 3.5 * found["predicted"][call][size], (call, size)
    loggp = found["loggp"]
    assert loggp["g"] > loggp["o_s"] > 0 < loggp["L"] and loggp["o_r"] > 0
    assert loggp["per_byte"] > loggp["per_byte_long"] > 0  # copies at both ends, or none


@pytest.mark.parametrize("ranks", [2, 3, 4, 6])
@pytest.mark.parametrize("call", ["barrier", "bcast", "allreduce", "alltoall"])
def test_patterns_are_those_of_the_library(call, ranks):
    """Each rank sends as many messages to each other as the library does."""
    async def program(node):
        async with Mpi(node) as mpi:
            comm, before = mpi.COMM_WORLD, mpi.calls.sent.copy()
            out, into = mpi.empty(ranks), mpi.empty(ranks)
            await {"barrier": lambda: comm.Barrier(), "bcast": lambda: comm.Bcast(out),
                   "allreduce": lambda: comm.Allreduce(out, into),
                   "alltoall": lambda: comm.Alltoall(out, into)}[call]()
            sent = Counter()
            for one, count in (mpi.calls.sent - before).items():
                sent[one.rank] += count
            return sent

    nodes = max(2, ranks)
    found = asyncio.run(ModelLab(descriptions.for_layer(
        descriptions.load("default", [], nodes), "mpi")).run([program] * nodes)).results
    steps = pattern(call, ranks)
    assert found == [Counter(step.to for step in each if step.to is not None) for each in steps]
    # ... and receives what is sent to it.
    for rank, each in enumerate(steps):
        assert Counter(step.source for step in each if step.source is not None) == Counter(
            sender for sender, others in enumerate(steps) for step in others if step.to == rank)


def test_channels_need_what_they_stand_on():
    with pytest.raises(UserError, match=r"nic.processor = none: layer mpi over gm \(mpi.channel\)"):
        descriptions.for_layer(descriptions.load("default", ["mpi.channel=gm"]), "mpi")
    assert descriptions.for_layer(descriptions.load(), "mpi").via.design == "engine"
